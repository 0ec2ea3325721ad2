// Which run an attempt may call its own: by the exact form of a handle, by the token, and only while the runs can be seen.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type LaunchOrder, type LaunchRef, launchKey, taskId } from '@reprise/core'
import { expect, test } from 'vitest'
import { anOrder, ended, never, refOf, sighting, sightingOnce } from './fixture.ts'
import { aLauncher, fileOnce, script } from './process-fixture.ts'

/** Says which run it is, and waits for a file before it ends. */
const counted = script('echo ran >> ran; n=$(wc -l < ran); while [ ! -e go ]; do sleep 0.02; done; echo "\\"run $n\\""')

const withToken = (order: LaunchOrder): LaunchRef => ({ ...refOf(order), token: order.token })

test.each(['pid-1-../../victim', 'pid-1-..', '../victim', 'pid-1-', 'pid-1-0123456789ABCDEF01234567', ''])(
  'the handle %j is none of ours: unknown, and nothing is touched',
  async (handle) => {
    const { launcher, folder } = aLauncher(['/bin/true'])
    const order = anOrder()
    await launcher.launch(order, never)
    await ended(launcher, order)
    mkdirSync(join(folder, 'victim'))
    writeFileSync(join(folder, 'victim', 'precious'), 'x')
    await launcher.forget(refOf(order, handle))
    await launcher.end(refOf(order, handle), 0)
    expect(existsSync(join(folder, 'victim', 'precious'))).toBe(true)
    expect(existsSync(join(folder, 'victim', 'gate'))).toBe(false)
    expect(await sighting(launcher, refOf(order, handle))).toEqual({ status: 'unknown' })
    expect(await sighting(launcher, refOf(order))).toMatchObject({ status: 'ended' })
  },
)

test('sweepDirectories() leaves what is no run alone', async () => {
  const { launcher, runs } = aLauncher(['/bin/true'])
  mkdirSync(join(runs, 'somebody', 'elses'), { recursive: true })
  writeFileSync(join(runs, 'somebody', 'elses', 'file'), 'x')
  expect(await launcher.sweepDirectories(-3_600_000)).toBe(0)
  expect(existsSync(join(runs, 'somebody', 'elses', 'file'))).toBe(true)
})

test('A2: a task that was deleted and submitted again has launches of its own', async () => {
  const of = (acceptedAt: number): string => launchKey({ taskId: taskId('invoice'), acceptedAt, attempt: 1 })
  expect(of(1_000)).toBe('invoice:1000:1')
  const { launcher, folder } = aLauncher(counted)
  writeFileSync(join(folder, 'go'), '')
  const first = anOrder({ id: 'invoice', key: of(1_000) })
  await launcher.launch(first, never)
  await sightingOnce(launcher, refOf(first), 'ended')
  // Nobody forgot it.
  const second = anOrder({ id: 'invoice', key: of(2_000) })
  expect(await sighting(launcher, refOf(second))).toEqual({ status: 'never' })
  await launcher.launch(second, never)
  expect(await sightingOnce(launcher, refOf(second), 'ended')).toMatchObject({ outcome: { result: '"run 2"' } })
})

test('A2: an attempt that was released while its worker ran is launched again after that, with an outcome of its own', async () => {
  const { launcher, folder } = aLauncher(counted)
  const [old, fresh] = [anOrder(), anOrder()]
  const { handle } = await launcher.launch(old, never)
  await fileOnce(join(folder, 'ran'))
  // The worker gave its attempt back, and has not ended: two at once must not be.
  await expect(launcher.launch(fresh, never)).rejects.toMatchObject({ code: 'REPRISE_DUPLICATE_EXECUTION' })
  expect(await sighting(launcher, withToken(fresh))).toEqual({ status: 'unknown' })
  expect(await sighting(launcher, withToken(old))).toEqual({ status: 'running', handle })
  writeFileSync(join(folder, 'go'), '')
  await sightingOnce(launcher, withToken(old), 'ended')
  expect(await sighting(launcher, withToken(fresh))).toEqual({ status: 'never' })

  const again = await launcher.launch(fresh, never)
  const seen = await sightingOnce(launcher, withToken(fresh), 'ended')
  expect(seen).toEqual({ status: 'ended', handle: again.handle, outcome: { ok: true, result: '"run 2"' } })
  expect(await sighting(launcher, refOf(old, handle))).toEqual({ status: 'vanished' })
  // The same order once more is a duplicate, although it ended.
  await expect(launcher.launch(fresh, never)).rejects.toMatchObject({ code: 'REPRISE_DUPLICATE_EXECUTION' })
  expect(readFileSync(join(folder, 'ran'), 'utf8')).toBe('ran\nran\n')
})

test('the end of a run that stands in the way is told to whoever looked', async () => {
  const { launcher, folder } = aLauncher(counted)
  const [old, fresh] = [anOrder(), anOrder()]
  const { handle } = await launcher.launch(old, never)
  const other = aLauncher(['/bin/true'], { directory: join(folder, 'runs') }).launcher
  expect(await sighting(other, withToken(fresh))).toEqual({ status: 'unknown' })
  writeFileSync(join(folder, 'go'), '')
  await ended(other, fresh)
  expect(await sighting(launcher, refOf(old, handle))).toMatchObject({ status: 'ended' })
})

test('A15: while the runs are away, nothing is said of them, and no end is claimed', async () => {
  const { launcher, folder, runs } = aLauncher(counted)
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  await fileOnce(join(folder, 'ran'))
  const refs = [refOf(order), refOf(order, handle), withToken(order), refOf(anOrder({ id: 'another' }))]
  const unknown = refs.map(() => ({ status: 'unknown' }))
  const away = join(folder, 'away')
  renameSync(runs, away)
  expect(await launcher.look(refs)).toEqual(unknown)
  await expect(launcher.end(refOf(order, handle), 0)).rejects.toMatchObject({
    code: 'RUNS_MISSING',
    name: 'TransientError',
  })
  await launcher.forget(refOf(order, handle))
  expect(existsSync(runs)).toBe(false)
  writeFileSync(runs, 'no directory')
  expect(await launcher.look(refs)).toEqual(unknown)
  rmSync(runs)
  // Where a disk was mounted.
  mkdirSync(runs)
  expect(await launcher.look(refs)).toEqual(unknown)
  rmSync(runs, { recursive: true })
  renameSync(away, runs)
  expect(await launcher.look(refs)).toMatchObject([
    { status: 'running', handle },
    { status: 'running', handle },
    { status: 'running', handle },
    { status: 'never' },
  ])
  await launcher.end(refOf(order, handle), 0)
})

test('a directory that was deleted is made again by the next launch; what was in it has vanished', async () => {
  const { launcher, folder, runs } = aLauncher(counted)
  writeFileSync(join(folder, 'go'), '')
  const first = anOrder({ id: 'first' })
  const { handle } = await launcher.launch(first, never)
  await sightingOnce(launcher, refOf(first), 'ended')
  rmSync(runs, { recursive: true })
  const second = anOrder({ id: 'second' })
  await launcher.launch(second, never)
  expect(await sightingOnce(launcher, refOf(second), 'ended')).toMatchObject({ outcome: { result: '"run 2"' } })
  expect(await sighting(launcher, refOf(first, handle))).toEqual({ status: 'vanished' })
})
