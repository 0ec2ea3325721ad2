// Running commands: one for each key, ended on time and as a whole, and noticed soon.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRepriseError, observedFailure, systemClock, timeoutMessage } from '@reprise/core'
import { expect, test, vi } from 'vitest'
import { createProcessLauncher } from '../src/index.ts'
import { anOrder, ended, never, refOf, sighting, sightingOnce } from './fixture.ts'
import { aLaunchChild } from './launch-child.ts'
import { aLauncher, failureIn, fileOnce, isRunning, script } from './process-fixture.ts'

const forever = script('echo $$ > pid; while :; do sleep 0.05; done')

test('A2: of many launches of one key, in several processes, one starts a worker', async () => {
  for (let round = 0; round < 3; round++) {
    const { runs, folder, launcher } = aLauncher(['/bin/true'])
    const order = anOrder({ id: `task ${round} ü/😀:*` })
    const argv = script(`echo ran >> ${join(folder, 'ran')}; sleep 0.3`)
    const children = await Promise.all(Array.from({ length: 4 }, () => aLaunchChild(runs, argv)))
    for (const child of children) child.go(order)
    const answers = await Promise.all(children.map(({ answer }) => answer))
    expect(answers.filter((answer) => answer?.handle !== undefined)).toHaveLength(1)
    expect(answers.filter((answer) => answer?.code === 'REPRISE_DUPLICATE_EXECUTION')).toHaveLength(3)
    await sightingOnce(launcher, refOf(order), 'ended')
    expect(readFileSync(join(folder, 'ran'), 'utf8')).toBe('ran\n')
    for (const { child } of children) child.kill('SIGKILL')
  }
})

test('A2: of launches of one key with different tokens, at most one starts a worker', async () => {
  const { launcher, folder } = aLauncher(script('echo ran >> ran; while :; do sleep 0.05; done'))
  const orders = Array.from({ length: 8 }, () => anOrder())
  const answers = await Promise.allSettled(orders.map((order) => launcher.launch(order, never)))
  const started = answers.filter(({ status }) => status === 'fulfilled')
  expect(started.length).toBeLessThanOrEqual(1)
  const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []))
  expect(refusals.every((reason) => isRepriseError(reason, 'REPRISE_DUPLICATE_EXECUTION'))).toBe(true)
  if (started.length === 0) await launcher.launch(anOrder(), never)
  expect(await fileOnce(join(folder, 'ran'))).toBe('ran\n')
  await launcher.end(refOf(anOrder()), 0)
})

test('fault 21: a command that ignores SIGTERM is killed after the grace time, with all it started', async () => {
  const code = `trap '' TERM; (trap '' TERM; echo $$ > child; while :; do sleep 0.05; done) & echo $! > grandchild; while :; do sleep 0.05; done`
  const { launcher, folder } = aLauncher(script(code), { killGrace: 300 })
  const order = anOrder({ timeoutMs: 700 })
  await launcher.launch(order, never)
  const pids = [await fileOnce(join(folder, 'child')), await fileOnce(join(folder, 'grandchild'))].map(Number)
  expect(pids.map(isRunning)).toEqual([true, true])
  const failure = failureIn(await ended(launcher, order))
  expect(failure).toMatchObject({ code: 'timeout', reason: 'timeout', retriable: true })
  // In one group with what the reconciliation would have found.
  const found = observedFailure('timeout', timeoutMessage(700), order.action)
  expect(failure).toMatchObject({ message: found.message, fingerprint: found.fingerprint })
  expect(pids.map(isRunning)).toEqual([false, false])
})

test('a command that honours SIGTERM ends within the grace time, also when what it waits for is a child', async () => {
  const inner = `trap 'echo cleaned > cleaned; exit 0' TERM; echo $$ > pid; while :; do sleep 0.05; done`
  const { launcher, folder } = aLauncher(script(`/bin/sh -c "${inner.replaceAll('$', '\\$')}" & exec sleep 60`), {
    killGrace: '30s',
  })
  const order = anOrder({ timeoutMs: 1_500 })
  await launcher.launch(order, never)
  await fileOnce(join(folder, 'pid'))
  expect(failureIn(await ended(launcher, order))).toMatchObject({ code: 'timeout' })
  expect(readFileSync(join(folder, 'cleaned'), 'utf8')).toBe('cleaned\n')
})

test('the time is kept when the orchestrator is dead', async () => {
  const { launcher, runs, folder } = aLauncher(forever)
  const order = anOrder({ timeoutMs: 1_000 })
  const child = await aLaunchChild(runs, script(`cd ${folder}; ${forever[2]}`))
  child.go(order)
  await child.answer
  child.child.kill('SIGKILL')
  const pid = Number(await fileOnce(join(folder, 'pid')))
  expect(await sighting(launcher, refOf(order))).toMatchObject({ status: 'running' })
  expect(failureIn(await ended(launcher, order))).toMatchObject({ code: 'timeout' })
  expect(isRunning(pid)).toBe(false)
})

test('what a command leaves running ends with it', async () => {
  const { launcher, folder } = aLauncher(script('(while :; do sleep 0.05; done) & echo $! > left; echo 1'))
  const order = anOrder()
  await launcher.launch(order, never)
  expect(await ended(launcher, order)).toMatchObject({ status: 'ended', outcome: { ok: true, result: '1' } })
  expect(isRunning(Number(await fileOnce(join(folder, 'left'))))).toBe(false)
})

test('a script that signals its own group does not reach the supervisor', async () => {
  const { launcher } = aLauncher(script(`trap '' TERM; kill 0; echo '"went on"'`))
  const order = anOrder()
  await launcher.launch(order, never)
  expect(await ended(launcher, order)).toMatchObject({ outcome: { ok: true, result: '"went on"' } })
})

test('end() asks, then forces, and comes back when it is gone', async () => {
  const { launcher, folder } = aLauncher(script(`trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done`))
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  const pid = Number(await fileOnce(join(folder, 'pid')))
  await launcher.end(refOf(order, handle), 100)
  expect(isRunning(pid)).toBe(false)
  expect(failureIn(await sighting(launcher, refOf(order)))).toMatchObject({ code: 'SIGNAL_SIGKILL' })
})

test('end() of a command whose supervisor was killed, and of one that left the session', async () => {
  const { launcher, folder } = aLauncher(['setsid', ...forever])
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  const pid = Number(await fileOnce(join(folder, 'pid')))
  process.kill(Number(handle.split('-')[1]), 'SIGKILL')
  expect(await sighting(launcher, refOf(order))).toMatchObject({ status: 'running' })
  await launcher.end(refOf(order, handle), 0)
  expect(isRunning(pid)).toBe(false)
  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'vanished' })
})

test('fault 1: an exit is noticed within 2 s, and that of a killed supervisor too', async () => {
  const { launcher, folder } = aLauncher(script('echo $$ >> pids; sleep 0.4'))
  const told: string[] = []
  const noticed = new Map<string, number>()
  launcher.onEnded((key) => {
    told.push(key)
    noticed.set(key, performance.now())
  })
  const [one, two] = [anOrder({ id: 'one' }), anOrder({ id: 'two' })]
  await launcher.launch(one, never)
  const { handle } = await launcher.launch(two, never)
  await fileOnce(join(folder, 'pids'))
  const killedAt = performance.now()
  process.kill(Number(handle.split('-')[1]), 'SIGKILL')
  await vi.waitFor(() => expect(told.toSorted()).toEqual([one.key, two.key]), { timeout: 5_000, interval: 10 })
  expect((noticed.get(two.key) ?? 0) - killedAt).toBeLessThan(2_000)
  expect((noticed.get(one.key) ?? 0) - killedAt).toBeLessThan(2_000)
})

test('forget() removes the directory; a launch that somebody noted and nobody finds has vanished', async () => {
  const { launcher, runs } = aLauncher(['/bin/true'])
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  await ended(launcher, order)
  await launcher.forget(refOf(order, handle))
  expect(readdirSync(runs).filter((name) => !name.startsWith('.'))).toEqual([])
  expect(readdirSync(join(runs, '.ended'))).toEqual([])
  expect(await launcher.look([refOf(order), refOf(order, handle)])).toEqual([
    { status: 'never' },
    { status: 'vanished' },
  ])
})

test('forget() of an older run, or of one that runs, removes nothing that is needed', async () => {
  const { launcher } = aLauncher(forever)
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  await launcher.forget(refOf(order, 'pid-1-0123456789abcdef01234567'))
  await launcher.forget(refOf(order))
  expect(await sighting(launcher, refOf(order))).toEqual({ status: 'running', handle })
  await launcher.end(refOf(order), 0)
})

test('sweepDirectories() removes what ended long ago and was forgotten by everybody', async () => {
  const { runs, folder, launcher } = aLauncher(forever, {
    commands: { render: { argv: script('while :; do sleep 0.05; done') }, quick: { argv: ['/bin/true'] } },
  })
  const quick = anOrder({ id: 'quick', action: 'quick' as never })
  const slow = anOrder({ id: 'slow' })
  await launcher.launch(quick, never)
  await ended(launcher, quick)
  await launcher.launch(slow, never)
  expect(await launcher.sweepDirectories(60_000)).toBe(0)
  const later = createProcessLauncher({
    directory: runs,
    commands: {},
    clock: { ...systemClock, now: () => Date.now() + 3_600_000 },
  })
  expect(await later.sweepDirectories(60_000)).toBe(1)
  expect(await launcher.look([refOf(quick), refOf(slow)])).toMatchObject([{ status: 'never' }, { status: 'running' }])
  await launcher.end(refOf(slow), 0)
  expect(folder).toContain('reprise-launchers-')
})
