// The start/stop contract of every service in this package, hammered: any number of calls at any moment, and at the
// end it is either at rest or at work, as asked.

import { tmpdir } from 'node:os'
import { type Clock, DEFAULT_POOL, type Engine, type OutsideQueue, type Service, seededRandom } from '@reprise/core'
import {
  createAlerts,
  createAudit,
  createClockWatch,
  createDeadLetterRetention,
  createDispatch,
  createHealthWatch,
  createLaunch,
  createOrchestrator,
  createProbe,
  createQueueOutbox,
  createReconcile,
  createReminders,
  createRunbooks,
  createSetbackWatch,
  createSweep,
  LaunchLedger,
  type RunbookHands,
} from '@reprise/orchestrator'
import { expect, test } from 'vitest'
import { FakeLauncher } from './fake-launcher.ts'
import { openStore } from './fixture.ts'

interface Subject {
  readonly create: (engine: Engine, clock: Clock) => Service
  /** The verb of the engine with which each of its rounds begins. */
  readonly looksBy: 'expired' | 'claim' | 'launches' | 'workers' | 'now' | 'setbacks'
}

const around = (engine: Engine, clock: Clock) => ({ engine, clock, random: seededRandom(1) })
const launching = (engine: Engine, clock: Clock) => ({
  ...around(engine, clock),
  launcher: new FakeLauncher(clock),
  ledger: new LaunchLedger(DEFAULT_POOL, 5),
})

/** No run is under way: nothing is done. */
const HANDS: RunbookHands = {
  operation: async () => null,
  onlyLooks: () => true,
  takesReason: () => false,
  check: () => null,
  http: async () => ({ status: 200, body: '' }),
  script: async () => ({ exitCode: 0, output: '' }),
}

const services: Record<string, Subject> = {
  sweep: { looksBy: 'expired', create: (engine, clock) => createSweep(around(engine, clock)) },
  dispatch: {
    looksBy: 'claim',
    create: (engine, clock) => createDispatch({ ...around(engine, clock), pools: [DEFAULT_POOL] }),
  },
  launch: { looksBy: 'claim', create: (engine, clock) => createLaunch(launching(engine, clock)) },
  reconcile: { looksBy: 'launches', create: (engine, clock) => createReconcile(launching(engine, clock)) },
  probe: {
    looksBy: 'workers',
    create: (engine, clock) => createProbe({ ...around(engine, clock), intervalMs: 1_000 }),
  },
  'queue outbox': {
    looksBy: 'now',
    create: (engine, clock) => createQueueOutbox({ ...around(engine, clock), queue: { name: 'work' } as OutsideQueue }),
  },
  'retention of dead letters': {
    looksBy: 'now',
    create: (engine, clock) =>
      createDeadLetterRetention({ ...around(engine, clock), after: '90d', exportTo: tmpdir(), intervalMs: 1_000 }),
  },
  'setback watch': {
    looksBy: 'setbacks',
    create: (engine, clock) => createSetbackWatch({ ...around(engine, clock), intervalMs: 1_000 }),
  },
  'clock watch': {
    looksBy: 'workers',
    create: (engine, clock) => createClockWatch({ ...around(engine, clock), intervalMs: 1_000 }),
  },
  'health watch': {
    looksBy: 'workers',
    create: (engine, clock) => createHealthWatch({ ...around(engine, clock), intervalMs: 1_000 }),
  },
  reminders: {
    looksBy: 'now',
    create: (engine, clock) => createReminders({ ...around(engine, clock), intervalMs: 1_000 }),
  },
  alerts: { looksBy: 'now', create: (engine, clock) => createAlerts({ ...around(engine, clock), intervalMs: 1_000 }) },
  audit: {
    looksBy: 'now',
    create: (engine, clock) => createAudit({ ...around(engine, clock), intervalMs: 1_000 }),
  },
  runbooks: {
    looksBy: 'now',
    create: (engine, clock) => createRunbooks({ ...around(engine, clock), hands: HANDS, intervalMs: 1_000 }),
  },
  orchestrator: {
    looksBy: 'expired',
    create(engine, clock) {
      const { random, launcher } = launching(engine, clock)
      const launchPools = [{ pool: 'ephemeral', launcher, slots: 2 }]
      const directedPools = ['directed']
      return createOrchestrator({ engine, clock, random, launchPools, directedPools, probes: true, runbooks: HANDS })
    },
  },
}

test.each(Object.keys(services))('%s survives 100 rounds of starts and stops at once', async (name) => {
  const { engine, clock } = await openStore()
  const subject = services[name]
  if (subject === undefined) throw new Error('unknown')
  let looks = 0
  let looksAtOnce = 0
  let maxLooksAtOnce = 0
  const look = engine[subject.looksBy] as (...input: never[]) => Promise<never>
  const watched: Engine = {
    ...engine,
    async [subject.looksBy](...input: never[]) {
      looks++
      maxLooksAtOnce = Math.max(maxLooksAtOnce, ++looksAtOnce)
      try {
        return await look(...input)
      } finally {
        looksAtOnce--
      }
    },
  }
  const service = subject.create(watched, clock)
  const random = seededRandom(7)
  for (let round = 0; round < 100; round++) {
    const calls = Array.from({ length: 8 }, () => (random.next() < 0.5 ? service.start() : service.stop()))
    if (random.next() < 0.2) await clock.advance(1_000)
    await Promise.all(calls)
  }
  await service.stop()
  expect(maxLooksAtOnce).toBe(1)
  const looksAtRest = looks
  await clock.advance(10_000)
  expect(looks).toBe(looksAtRest)
  await service.start()
  await clock.advance(10_000)
  expect(looks).toBeGreaterThan(looksAtRest + 5)
  await service.stop()
  expect(clock.nextAt()).toBeNull()
})
