// The death of everybody involved, at every point in between, by a real kill -9: no launch runs twice, and none is stuck.

import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LaunchOrder } from '@reprise/core'
import { afterEach, expect, test, vi } from 'vitest'
import { monotonicMs } from '../src/monotonic.ts'
import { anOrder, ended, never, refOf, sighting, sightingOnce } from './fixture.ts'
import { aLaunchChild, processesIn } from './launch-child.ts'
import { aLauncher, fileOnce, isRunning, script } from './process-fixture.ts'

afterEach(() => {
  delete process.env.REPRISE_FAILPOINT
})

/** Notes each run in a file; ends when it is told to, by another file. */
function countedRuns() {
  const counted = script('echo $$ >> ran; while [ ! -e go ]; do sleep 0.02; done; echo \'"done"\'')
  const place = aLauncher(counted)
  const ran = (): string[] => {
    const path = join(place.folder, 'ran')
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
  }
  return { ...place, argv: ['/bin/sh', '-c', `cd ${place.folder} && ${counted[2]}`], ran }
}

function letGo(folder: string): void {
  writeFileSync(join(folder, 'go'), '')
}

/** The process that a failpoint stopped. */
function stoppedIn(runs: string): Promise<number> {
  return vi.waitFor(
    () => {
      const isStopped = (pid: number): boolean => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
      const [pid] = processesIn(runs).filter(isStopped)
      expect(pid).toBeDefined()
      return pid ?? 0
    },
    { timeout: 10_000, interval: 10 },
  )
}

const shortlyVoid = (changes = {}): LaunchOrder => anOrder({ voidAt: monotonicMs() + 3_000, ...changes })

test.each(['launcher:prepared', 'launcher:placed', 'launcher:started'])(
  'A15, fault 3: an orchestrator that dies at %s started nothing, and the attempt can be launched again once it is void',
  async (failpoint) => {
    const { launcher, runs, argv, folder, ran } = countedRuns()
    const child = await aLaunchChild(runs, argv, failpoint)
    const order = shortlyVoid()
    child.go(order)
    expect(await child.exited).toBe('SIGKILL')
    expect(await child.answer).toBeNull()

    await sightingOnce(launcher, refOf(order), 'never')
    expect(ran()).toEqual([])
    expect(failpoint === 'launcher:prepared' || monotonicMs() >= order.voidAt).toBe(true)

    const again = anOrder()
    await launcher.launch(again, never)
    letGo(folder)
    expect(await ended(launcher, again)).toMatchObject({ status: 'ended', outcome: { ok: true, result: '"done"' } })
    expect(ran()).toHaveLength(1)
  },
)

test('before it is void, a launch that has not begun is unknown, and taken', async () => {
  const { launcher, runs, argv } = countedRuns()
  const child = await aLaunchChild(runs, argv, 'launcher:placed')
  const order = anOrder()
  child.go(order)
  await child.exited
  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'unknown' })
  await expect(launcher.launch(anOrder(), never)).rejects.toMatchObject({ code: 'REPRISE_DUPLICATE_EXECUTION' })
  await launcher.forget(refOf(order))
  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'unknown' })
  await launcher.end(refOf(order), 0)
  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'never' })
})

test('fault 4: an orchestrator that dies after the launch, before it noted the handle: found by its key, one run', async () => {
  const { launcher, runs, argv, folder, ran } = countedRuns()
  const child = await aLaunchChild(runs, argv)
  const order = anOrder()
  child.go(order)
  const answer = await child.answer
  child.child.kill('SIGKILL')
  await child.exited

  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'running', handle: answer?.handle })
  await expect(launcher.launch(anOrder(), never)).rejects.toMatchObject({ code: 'REPRISE_DUPLICATE_EXECUTION' })
  letGo(folder)
  const seen = await sightingOnce(launcher, refOf(order), 'ended')
  expect(seen).toMatchObject({ handle: answer?.handle, outcome: { ok: true, result: '"done"' } })
  expect(ran()).toHaveLength(1)
})

test('a supervisor that dies before the gate fails the launch, which leaves nothing behind', async () => {
  const { launcher, ran } = countedRuns()
  process.env.REPRISE_FAILPOINT = 'supervisor:begun'
  const order = anOrder()
  await expect(launcher.launch(order, never)).rejects.toMatchObject({ code: 'LAUNCH_FAILED', name: 'TransientError' })
  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'never' })
  expect(ran()).toEqual([])
})

test('a supervisor that dies past the gate, before it started anything: vanished', async () => {
  const { launcher, ran } = countedRuns()
  process.env.REPRISE_FAILPOINT = 'supervisor:gated'
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  await sightingOnce(launcher, refOf(order), 'vanished')
  expect(await sighting(launcher, refOf(order, handle))).toEqual({ status: 'vanished' })
  expect(ran()).toEqual([])
})

test.each(['supervisor:spawned', 'supervisor:noted'])(
  'a supervisor that dies at %s leaves a command that is found: running while it lives, then vanished',
  async (failpoint) => {
    const { launcher, folder, ran } = countedRuns()
    process.env.REPRISE_FAILPOINT = failpoint
    const order = anOrder()
    const { handle } = await launcher.launch(order, never)
    await fileOnce(join(folder, 'ran'))
    expect(await sighting(launcher, refOf(order))).toEqual({ status: 'running', handle })
    await expect(launcher.launch(anOrder(), never)).rejects.toMatchObject({ code: 'REPRISE_DUPLICATE_EXECUTION' })
    letGo(folder)
    await sightingOnce(launcher, refOf(order), 'vanished')
    expect(ran()).toHaveLength(1)
  },
)

test('a command without a supervisor gets no more time than it was given', async () => {
  const { launcher, folder, ran } = countedRuns()
  process.env.REPRISE_FAILPOINT = 'supervisor:noted'
  const order = anOrder({ timeoutMs: 1 })
  await launcher.launch(order, never)
  await fileOnce(join(folder, 'ran'))
  // Timeout, grace time and slack have passed: as if the run had begun long ago.
  const [gate = ''] = globSync('runs/task-*/*/gate', { cwd: folder })
  const content = JSON.parse(readFileSync(join(folder, gate), 'utf8')) as object
  writeFileSync(join(folder, gate), JSON.stringify({ ...content, at: monotonicMs() - 60_000 }))
  await sightingOnce(launcher, refOf(order), 'vanished')
  expect(isRunning(Number(ran()[0]))).toBe(false)
})

test('a supervisor that dies with the outcome unwritten: vanished; with it written: ended', async () => {
  const { launcher, folder } = countedRuns()
  letGo(folder)
  process.env.REPRISE_FAILPOINT = 'supervisor:ended'
  const first = anOrder({ id: 'a' })
  await launcher.launch(first, never)
  await sightingOnce(launcher, refOf(first), 'vanished')
  process.env.REPRISE_FAILPOINT = 'supervisor:written'
  const second = anOrder({ id: 'b' })
  await launcher.launch(second, never)
  const seen = await sightingOnce(launcher, refOf(second), 'ended')
  expect(seen.outcome).toEqual({ ok: true, result: '"done"' })
})

test('a supervisor that stands still past voidAt starts nothing when it goes on', async () => {
  const { launcher, runs, argv, ran } = countedRuns()
  const child = await aLaunchChild(runs, argv, 'supervisor:begun=stop')
  const order = shortlyVoid()
  child.go(order)
  const pid = await stoppedIn(runs)
  child.child.kill('SIGKILL')
  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'unknown' })
  await sightingOnce(launcher, refOf(order), 'never')
  // The number is used again, for a launch in the same place.
  const again = anOrder()
  await launcher.launch(again, never)
  process.kill(pid, 'SIGCONT')
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 10_000 })
  expect(await sighting(launcher, refOf(again))).toMatchObject({ status: 'running' })
  await vi.waitFor(() => expect(ran()).toHaveLength(1), { timeout: 10_000 })
  await launcher.end(refOf(again), 0)
})

test('a supervisor that finds the gate barred starts nothing, also when its order is not void', async () => {
  const { launcher, runs, argv, folder, ran } = countedRuns()
  const child = await aLaunchChild(runs, argv, 'supervisor:begun=stop')
  const order = anOrder()
  child.go(order)
  const pid = await stoppedIn(runs)
  child.child.kill('SIGKILL')
  const [path = ''] = globSync('runs/task-*/*/order', { cwd: folder })
  writeFileSync(join(folder, path, '..', 'gate'), JSON.stringify({ by: 'bar' }))
  process.kill(pid, 'SIGCONT')
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 10_000 })
  expect(ran()).toEqual([])
  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'never' })
})

test('a launch whose supervisor stands still is given up once it is void', async () => {
  const { launcher, runs, ran } = countedRuns()
  process.env.REPRISE_FAILPOINT = 'supervisor:begun=stop'
  const order = anOrder({ voidAt: monotonicMs() + 6_000 })
  const launching = launcher.launch(order, never)
  const [pid] = await Promise.all([stoppedIn(runs), expect(launching).rejects.toMatchObject({ code: 'LAUNCH_VOID' })])
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 10_000 })
  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'never' })
  expect(ran()).toEqual([])
})

test('a supervisor that stands still past voidAt and past the gate counts as running, and then never', async () => {
  const { launcher, runs, ran } = countedRuns()
  process.env.REPRISE_FAILPOINT = 'supervisor:gated=stop'
  const order = shortlyVoid()
  const { handle } = await launcher.launch(order, never)
  expect(monotonicMs()).toBeGreaterThanOrEqual(order.voidAt)
  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'running', handle })
  for (const pid of processesIn(runs)) process.kill(pid, 'SIGCONT')
  await sightingOnce(launcher, refOf(order), 'never')
  expect(ran()).toEqual([])
})

test('an aborted launch starts nothing, or says that it did', async () => {
  const { launcher, ran } = countedRuns()
  process.env.REPRISE_FAILPOINT = 'supervisor:begun=stop'
  const controller = new AbortController()
  const order = anOrder()
  const launching = launcher.launch(order, controller.signal)
  controller.abort()
  await expect(launching).rejects.toMatchObject({ code: 'ABORT_ERR' })
  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'never' })
  expect(ran()).toEqual([])
})

test('after a restart of the machine nothing of before lives', async () => {
  const { launcher, folder } = countedRuns()
  const order = anOrder()
  await launcher.launch(order, never)
  const [path = ''] = globSync('runs/task-*/*/order', { cwd: folder })
  const content = JSON.parse(readFileSync(join(folder, path), 'utf8')) as object
  writeFileSync(join(folder, path), JSON.stringify({ ...content, bootId: 'another' }))
  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'vanished' })
  writeFileSync(join(folder, path), JSON.stringify(content))
  await launcher.end(refOf(order), 0)
})

test('a process id that was given to somebody else is not taken for the run', async () => {
  const { launcher, folder } = countedRuns()
  process.env.REPRISE_FAILPOINT = 'supervisor:gated'
  const order = anOrder()
  await launcher.launch(order, never)
  const [path = ''] = globSync('runs/task-*/*/gate', { cwd: folder })
  const gate = JSON.parse(readFileSync(join(folder, path), 'utf8')) as object
  writeFileSync(join(folder, path), JSON.stringify({ ...gate, pid: process.pid }))
  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'vanished' })
})
