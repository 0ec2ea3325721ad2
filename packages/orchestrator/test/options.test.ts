// Options that make no sense are refused in words before anything starts, and errors that nobody asked for are told once.

import { type Engine, StoreBusyError, VirtualClock } from '@reprise/core'
import {
  createDispatch,
  createLaunch,
  createOrchestrator,
  createProbe,
  createReconcile,
  createSweep,
  LaunchLedger,
  scalingSignals,
} from '@reprise/orchestrator'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { FakeLauncher } from './fake-launcher.ts'
import { openStore } from './fixture.ts'

const clock = new VirtualClock()
const launcher = new FakeLauncher(clock)
const launchPool = { pool: 'a', launcher, slots: 1 }

describe('an orchestrator refuses', () => {
  test.each<[string, object, string]>([
    ['an option that nobody knows', { pools: [] }, "no orchestrator option 'pools'"],
    [
      'a text for a list',
      { directedPools: 'gpu' },
      "'directedPools' must be a list, such as ['default'], not the text 'gpu'",
    ],
    ['a pool without a name', { directedPools: [''] }, 'must not be empty'],
    ['a pool that is no text', { directedPools: [5] }, 'pool'],
    ['one launch pool for a list', { launchPools: launchPool }, "'launchPools' must be a list"],
    ['a launch pool that is none', { launchPools: ['gpu'] }, 'Expected an object of launch pool options, not string'],
    ['a launch pool twice', { launchPools: [launchPool, launchPool] }, 'named twice'],
    ['a launch pool without a launcher', { launchPools: [{ pool: 'a', slots: 1 }] }, "'launcher' is missing"],
    [
      'a launcher that is none',
      { launchPools: [{ ...launchPool, launcher: {} }] },
      "'launcher' must be an object with launch() and look()",
    ],
    ['no slots', { launchPools: [{ ...launchPool, slots: 0 }] }, "'slots' must be a whole number from 1, not 0"],
    ['slots left out', { launchPools: [{ pool: 'a', launcher }] }, "'slots' is missing"],
    ['a launch pool without a pool', { launchPools: [{ launcher, slots: 1 }] }, "'pool' is missing"],
    ['a stray option of a launch pool', { launchPools: [{ ...launchPool, size: 3 }] }, "no launch pool option 'size'"],
    [
      'a pool that is directed and launched',
      { directedPools: ['a'], launchPools: [launchPool] },
      "Pool 'a' is named in directedPools and in launchPools",
    ],
    ['a stray option of dispatch', { dispatch: { leaseMS: 5 } }, "no dispatch option 'leaseMS'"],
    ['dispatch as a flag', { dispatch: true }, "'dispatch' must be an object"],
    [
      'too few dispatch retries',
      { dispatch: { maxDispatchRetries: -1 } },
      "'maxDispatchRetries' must be a whole number from 0 to 100, not -1",
    ],
    [
      'a lease without end',
      { dispatch: { leaseMs: Number.POSITIVE_INFINITY } },
      "'leaseMs' must be a number of milliseconds above 0, not Infinity",
    ],
    [
      'a lease as text',
      { launch: { leaseMs: '15s' } },
      "'leaseMs' must be a number of milliseconds above 0, not the text '15s'",
    ],
    ['a backoff that is none', { launch: { backoff: { kind: 'odd' } } }, 'backoff'],
    ['a stray option of launch', { launch: { slots: 5 } }, "no launch option 'slots'"],
    ['probes as a number', { probes: 5 }, "'probes' must be true, false or an object"],
    ['a stray option of probes', { probes: { every: 5 } }, "no probe option 'every'"],
    [
      'an interval of nothing',
      { probes: { intervalMs: 0 } },
      "'intervalMs' must be a number of milliseconds above 0, not 0",
    ],
    ['a sweep that is no flag', { sweep: 'yes' }, "'sweep' must be true or false"],
    ['policies that are no source', { policies: { policies: [] } }, "'policies' must be an object with current()"],
    [
      'retention by another name',
      { retention: { succeededMs: 5 } },
      "no retention rule 'succeededMs'. Did you mean 'succeeded'? Known are: succeeded, cancelled, discarded, journal, series",
    ],
    [
      'retention that is no duration',
      { retention: { journal: 'long' } },
      "retention of journal 'long' is not understood",
    ],
    ['retention, also without a sweep', { sweep: false, retention: { tasks: 5 } }, "no retention rule 'tasks'"],
    ['a log that is none', { log: console.log }, "'log' must be an object with debug()"],
    ['an onError that is none', { onError: {} }, "'onError' must be a function"],
  ])('%s', async (_, options, message) => {
    const { engine } = await openStore()
    expect(() => createOrchestrator({ engine, ...options })).toThrow(message)
  })

  test('retention is spelt as at a worker', async () => {
    const { engine } = await openStore()
    const retain = vi.fn<Engine['retain']>(async () => ({ tasksRemoved: 0, entriesRemoved: 0, next: null }))
    const time = new VirtualClock()
    const retention = { succeeded: '7d', journal: 1_000 }
    const orchestrator = createOrchestrator({ engine: { ...engine, retain }, clock: time, retention })
    onTestFinished(() => orchestrator.stop())
    await orchestrator.start()
    await time.advance(10_000)
    expect(retain).toHaveBeenCalledWith({ succeededMs: 604_800_000, journalMs: 1_000 }, expect.anything())
  })
})

describe('an engine', () => {
  const ledger = () => new LaunchLedger('a' as never, 1)
  const also = (options: unknown, more: object) =>
    (typeof options === 'object' ? { ...options, ...more } : options) as never
  const takers: Record<string, (options: never) => unknown> = {
    createOrchestrator,
    createSweep,
    createDispatch: (options: unknown) => createDispatch(also(options, { pools: ['a'] })),
    createLaunch: (options: unknown) => createLaunch(also(options, { launcher, ledger: ledger() })),
    createReconcile: (options: unknown) => createReconcile(also(options, { launcher, ledger: ledger() })),
    createProbe,
  }
  test.each(Object.entries(takers))('is what %s takes, not an address or nothing', (name, create) => {
    const address = { engine: 'redis://user:secret@host' } as never
    expect(() => create(address)).toThrow(`${name} takes an engine that is open, not its address.`)
    expect(() => create(address)).toThrow('connectEngine of @reprise/connect')
    expect(() => create(address)).not.toThrow('secret')
    expect(() => create({} as never)).toThrow(`${name} needs an engine`)
    expect(() => create({ engine: {} } as never)).toThrow(`${name} needs an engine`)
    expect(() => create({ engine: {}, odd: 1 } as never)).toThrow("option 'odd'")
    expect(() => create('x' as never)).toThrow('Expected an object of')
  })

  test('and scalingSignals takes one as well, with a list and options that make sense', async () => {
    const { engine } = await openStore()
    const target = { targetWaitMs: 1_000 }
    await expect(scalingSignals('sqlite:x' as never, ['a'], target)).rejects.toThrow('connectEngine')
    await expect(scalingSignals(engine, 'a' as never, target)).rejects.toThrow('must be a list')
    await expect(scalingSignals(engine, ['a'], { ...target, minutes: 0 })).rejects.toThrow(
      'a whole number from 1, not 0',
    )
    await expect(scalingSignals(engine, ['a'], { targetWaitMs: -1 })).rejects.toThrow('from 0, not -1')
    await expect(scalingSignals(engine, ['a'], { ...target, slots: 1 } as never)).rejects.toThrow("'slots'")
    await expect(scalingSignals(engine, ['a'], undefined as never)).rejects.toThrow('scaling options')
  })
})

test('single services check theirs too', async () => {
  const { engine } = await openStore()
  expect(() => createSweep({ engine, intervalMs: -1 })).toThrow("'intervalMs' must be a number of milliseconds above 0")
  expect(() => createSweep({ engine, retention: { succeeded: 5 } as never })).toThrow("'succeeded'")
  expect(() => createDispatch({ engine, pools: 'gpu' as never })).toThrow("'pools' must be a list")
  expect(() => createDispatch({ engine } as never)).toThrow("'pools' is missing")
  expect(() => createProbe({ engine, concurrency: 0 })).toThrow("'concurrency' must be a whole number from 1, not 0")
})

test('without log and onError, trouble with the store goes to the warnings of the process, once', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  onTestFinished(() => warned.mockRestore())
  const { engine } = await openStore()
  const time = new VirtualClock()
  const away: Engine = {
    ...engine,
    expired: () => Promise.reject(new StoreBusyError('away')),
    launches: () => Promise.reject(new StoreBusyError('away')),
  }
  const options = {
    engine: away,
    clock: time,
    launchPools: [{ pool: 'a', launcher: new FakeLauncher(time), slots: 1 }],
  }
  const silent = createOrchestrator(options)
  onTestFinished(() => silent.stop())
  await silent.start()
  await time.advance(30_000)
  expect(warned).toHaveBeenCalledTimes(1)
  expect(warned).toHaveBeenCalledWith(
    expect.stringMatching(/^The orchestrator met an error and goes on: .*away/),
    'RepriseWarning',
  )
  await silent.stop()
  const told = createOrchestrator({ ...options, onError: () => {} })
  onTestFinished(() => told.stop())
  await told.start()
  await time.advance(30_000)
  expect(warned).toHaveBeenCalledTimes(1)
})
