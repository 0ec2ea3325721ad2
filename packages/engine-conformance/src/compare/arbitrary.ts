// How random commands are drawn. Small pools of everything and weights that favour the ordinary life of a task, so that
// interesting states (retries, dead letters, stale callers, held lanes) are common within forty commands.

import type { Priority } from '@reprise/core'
import fc from 'fast-check'
import type {
  AssignDraft,
  BeatDraft,
  ClaimDraft,
  Command,
  LeasePick,
  ScopeDraft,
  SelectDraft,
  SettleDraft,
  TaskDraft,
} from './command.ts'
import { FAILURES, OUTAGES, TASK_IDS, WORKERS } from './draft.ts'
import { SCENES } from './scenes.ts'

const COMMANDS_MAX = 40

const bit = fc.nat(1)
const id = fc.nat(TASK_IDS - 1)
const worker = fc.constantFrom(0, 0, 0, 1, 1, WORKERS - 1)
const leaseMs = fc.constantFrom(1_000, 5_000, 20_000)
// Those that are tried again more often than the others.
const failure = fc.oneof({ weight: 2, arbitrary: bit }, { weight: 1, arbitrary: fc.nat(FAILURES.length - 1) })

/** Left out in most cases: a plain task is what most tasks are. */
const seldom = <T>(value: fc.Arbitrary<T>, weight = 1): fc.Arbitrary<T | undefined> =>
  fc.oneof({ withCrossShrink: true }, { weight: 5, arbitrary: fc.constant(undefined) }, { weight, arbitrary: value })

const task: fc.Arbitrary<TaskDraft> = fc.record({
  id,
  pool: seldom(bit, 3),
  action: seldom(bit, 3),
  tenant: seldom(bit, 3),
  priority: seldom(fc.constantFrom<Priority[]>(0, 9), 2),
  delayMs: seldom(fc.constantFrom(1_000, 30_000)),
  dueInMs: seldom(fc.constantFrom(-1_000, 2_000)),
  queueTtlMs: seldom(fc.constantFrom(1_000, 5_000, 60_000)),
  deadlineMs: seldom(fc.constantFrom(1, 5_000, 60_000)),
  dedupe: seldom(bit),
  maxRetries: seldom(fc.constantFrom(0, 1, 3, 3), 15),
  lossesMax: seldom(fc.constantFrom(0, 1), 2),
  timeoutMs: seldom(fc.constantFrom(500, 3_000), 2),
})

// Few different scopes, so that pauses meet their resumes.
const scope: fc.Arbitrary<ScopeDraft> = fc.constantFrom<ScopeDraft[]>(
  {},
  { pool: 0 },
  { action: 1 },
  { tenant: 0 },
  { pool: 0, action: 0 },
  { pool: 0, action: 0, tenant: 0 },
)

const lease: fc.Arbitrary<LeasePick> = fc.record({
  back: fc.nat(4),
  held: fc.constantFrom(true, true, true, true, true, false),
})

const settlement: fc.Arbitrary<SettleDraft> = fc.record({
  lease,
  kind: fc.constantFrom<SettleDraft['kind'][]>(
    'succeeded',
    'succeeded',
    'failed',
    'failed',
    'failed',
    'failed',
    'lost',
    'released',
  ),
  failure,
  outage: seldom(fc.nat(OUTAGES - 1), 3),
  quota: seldom(bit, 5),
  deferMs: seldom(fc.constantFrom(0, 3_000), 3),
})
const settlements = fc.array(settlement, { minLength: 1, maxLength: 4 })

const outdated = seldom(fc.constant(true))
const claim: fc.Arbitrary<ClaimDraft> = fc.record({
  worker,
  limit: fc.integer({ min: 1, max: 6 }),
  leaseMs,
  pool: seldom(bit),
  action: seldom(bit),
  outdated,
  stage: seldom(fc.constantFrom('dispatch' as const, 'dispatch' as const, 'dispatch' as const, 'launch' as const), 2),
})

const assignment: fc.Arbitrary<AssignDraft> = fc.record({
  lease,
  worker,
  ttlMs: fc.constantFrom(1_000, 5_000, 40_000),
})

const beat: fc.Arbitrary<BeatDraft> = fc.record({
  worker,
  queueDepth: fc.constantFrom(0, 0, 0, 0, 60, 200),
  inFlight: seldom(fc.constantFrom(0, 2), 4),
  loopLagMs: seldom(fc.constantFrom(3_000, 20_000)),
  quietMsMax: seldom(fc.constantFrom(1_000, 10_000), 2),
  outlook: seldom(fc.constant(true)),
  draining: seldom(fc.constant(true)),
  outdated,
})

const select: fc.Arbitrary<SelectDraft> = fc.oneof(
  fc.record({ ids: fc.array(id, { minLength: 1, maxLength: 3 }) }),
  fc.record({ scope }),
  fc.record({ failure, action: bit }),
)

const bulk = fc.record({
  verb: fc.constantFrom('redrive', 'redrive', 'discard', 'cancel', 'promote'),
  select,
  limit: fc.integer({ min: 1, max: 4 }),
})

const advance = fc.constantFrom(1, 100, 100, 1_000, 1_000, 1_000, 3_000, 5_000, 8_000, 20_000, 60_000, 3_600_000)

const single: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.array(task, { minLength: 1, maxLength: 4 }).map((tasks): Command => ({ do: 'submit', tasks })),
  },
  { weight: 20, arbitrary: claim.map((draft): Command => ({ do: 'claim', claim: draft })) },
  { weight: 18, arbitrary: settlements.map((drafts): Command => ({ do: 'settle', settlements: drafts })) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('settleAndClaim' as const), settlements, claim }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('renew' as const),
      leases: fc.array(lease, { minLength: 1, maxLength: 3 }),
      leaseMs,
      percent: fc.constantFrom(null, 25, 100),
      handle: seldom(bit, 2),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('sweep' as const),
      settleMax: fc.constantFrom(0, 1, 10, 10),
      timeoutsAs: fc.constantFrom('failed' as const, 'lost' as const),
      quota: seldom(bit, 3),
    }),
  },
  {
    weight: 5,
    arbitrary: fc
      .array(assignment, { minLength: 1, maxLength: 2 })
      .map((assignments): Command => ({ do: 'assign', assignments })),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reconcile' as const), pool: bit }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resetBreaker' as const), breaker: bit }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('expire' as const), back: fc.nat(3) }) },
  { weight: 7, arbitrary: bulk.map((draft): Command => ({ do: 'bulk', ...draft })) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('retry' as const), id, maxRetries: fc.nat(2) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('reserve' as const),
      task,
      attempt: fc.integer({ min: 1, max: 4 }),
      maxRetries: fc.nat(3),
      worker,
      stage: seldom(fc.constant('launch' as const), 2),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pause' as const), scope }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('resume' as const), scope }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('limit' as const), scope, concurrency: fc.constantFrom(null, null, 1, 2) }),
  },
  {
    weight: 3,
    arbitrary: fc.record(
      { do: fc.constant('register' as const), worker, pool: bit, host: bit, version: bit },
      { requiredKeys: ['do', 'worker'] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record(
      { do: fc.constant('deregister' as const), worker, outdated },
      { requiredKeys: ['do', 'worker'] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('probed' as const),
      worker,
      ok: fc.constantFrom(false, false, true),
      outdated,
    }),
  },
  { weight: 3, arbitrary: beat.map((draft): Command => ({ do: 'beat', ...draft })) },
  { weight: 14, arbitrary: advance.map((ms): Command => ({ do: 'advance', ms })) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('retain' as const),
      afterMs: fc.constantFrom(0, 60_000),
      journal: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.constant<Command>({ do: 'look' }) },
)

// Each of these is one call: what takes several, or moves time, would not be the same moment.
const AT_ONCE: ReadonlySet<Command['do']> = new Set(['submit', 'claim', 'assign', 'settle', 'renew', 'beat'])

const together = fc
  .array(
    single.filter((one) => AT_ONCE.has(one.do)),
    { minLength: 2, maxLength: 4 },
  )
  .map((commands): Command => ({ do: 'together', commands }))

const command = fc.oneof({ weight: 9, arbitrary: single }, { weight: 1, arbitrary: together })

const opening = fc.array(task, { minLength: 3, maxLength: 5 }).map((tasks): Command => ({ do: 'submit', tasks }))

// Interesting states come late, so no sequence is short, and many begin in the midst of something (see scenes.ts). One
// that fails is cut down afterwards (see shorten.ts).
export const commandSequence: fc.Arbitrary<Command[]> = fc
  .tuple(
    opening,
    fc.constantFrom(...SCENES),
    fc.array(command, { minLength: 20, maxLength: COMMANDS_MAX - 5, size: 'max' }),
  )
  .map(([first, scene, rest]) => [first, ...scene, ...rest])
