// What a random sequence may be about. Most are about anything, with weights that favour the ordinary life of a task, so that
// interesting states (retries, dead letters, stale callers, held lanes) are common within forty commands. Some are about an
// outage: breakers, limits, stages and superseded settlements come together in one batch, which chance alone seldom does.

import { KEY_FOREVER_MS, type Priority } from '@reprise/core'
import fc from 'fast-check'
import type { ClaimDraft, Command, SettleDraft, TaskDraft } from './command.ts'
import { OUTAGES } from './draft.ts'
import { PASTS } from './draft-past.ts'
import { bit, failure, id, lease, leaseMs, outdated, seldom, worker } from './drawn.ts'
import { OUTAGE_SCENES, SCENES, type Scene } from './scenes.ts'

/** Every command that stands for itself. */
export type Verb = Exclude<Command['do'], 'together'>

export interface Theme {
  readonly task: fc.Arbitrary<TaskDraft>
  readonly claim: fc.Arbitrary<ClaimDraft>
  readonly settlements: fc.Arbitrary<SettleDraft[]>
  /** What a sequence begins with. */
  readonly opening: fc.Arbitrary<Scene>
  /** How often each command comes, next to the others. */
  readonly weights: Readonly<Record<Verb, number>>
}

const anyTask: fc.Arbitrary<TaskDraft> = fc.record({
  id,
  pool: seldom(bit, 3),
  action: seldom(bit, 3),
  tenant: seldom(bit, 3),
  priority: seldom(fc.constantFrom<Priority[]>(0, 9), 2),
  delayMs: seldom(fc.constantFrom(1_000, 30_000)),
  dueInMs: seldom(fc.constantFrom(-1_000, 2_000)),
  queueTtlMs: seldom(fc.constantFrom(1_000, 5_000, 60_000)),
  deadlineMs: seldom(fc.constantFrom(1, 5_000, 60_000)),
  dedupe: seldom(bit, 3),
  dedupeMs: seldom(fc.constantFrom(1, 5_000, 60_000, KEY_FOREVER_MS), 2),
  isOther: seldom(fc.constant(true)),
  maxRetries: seldom(fc.constantFrom(0, 1, 3, 3), 15),
  maxLosses: seldom(fc.constantFrom(0, 1), 2),
  timeoutMs: seldom(fc.constantFrom(500, 3_000), 2),
  notify: seldom(fc.constant(true), 3),
  past: seldom(fc.nat(PASTS - 1)),
})

export const ANYTHING: Theme = {
  task: anyTask,
  claim: fc.record({
    worker,
    limit: fc.integer({ min: 1, max: 6 }),
    leaseMs,
    pool: seldom(bit),
    action: seldom(bit),
    outdated,
    stage: seldom(fc.constantFrom('dispatch', 'dispatch', 'dispatch', 'launch'), 2),
    regardless: seldom(fc.constant(true)),
  }),
  settlements: batches(
    4,
    fc.record({
      lease,
      kind: fc.constantFrom('succeeded', 'succeeded', 'failed', 'failed', 'failed', 'failed', 'lost', 'released'),
      failure,
      outage: seldom(fc.nat(OUTAGES - 1), 3),
      quota: seldom(bit, 5),
      deferMs: seldom(fc.constantFrom(0, 3_000), 3),
    }),
  ),
  opening: fc.tuple(someOf(anyTask), fc.constantFrom(...SCENES)).map(([first, scene]) => [first, ...scene]),
  weights: {
    submit: 12,
    claim: 20,
    settle: 18,
    settleAndClaim: 6,
    renew: 4,
    vouch: 2,
    sweep: 8,
    assign: 5,
    reconcile: 1,
    resetBreaker: 1,
    expire: 2,
    bulk: 7,
    retry: 3,
    reserve: 5,
    pause: 3,
    resume: 4,
    limit: 3,
    register: 3,
    deregister: 1,
    probed: 1,
    beat: 3,
    advance: 14,
    retain: 2,
    look: 2,
  },
}

/** Of three actions alike. */
const failingTask: fc.Arbitrary<TaskDraft> = fc.record({
  id,
  pool: seldom(bit),
  action: fc.nat(2),
  tenant: fc.constantFrom(0, 0, 1),
  maxRetries: fc.constantFrom(0, 1, 3, 3),
  queueTtlMs: seldom(fc.constantFrom(1_000, 5_000)),
  timeoutMs: seldom(fc.constantFrom(500, 500, 3_000), 2),
})

export const OUTAGE: Theme = {
  task: failingTask,
  claim: fc.record({
    worker,
    limit: fc.integer({ min: 1, max: 6 }),
    leaseMs: fc.constantFrom(1_000, 20_000, 20_000),
    action: seldom(bit, 3),
    stage: seldom(fc.constantFrom('dispatch', 'launch'), 3),
  }),
  settlements: batches(
    6,
    fc.record({
      lease: fc.record({ back: fc.nat(5), held: fc.constantFrom(true, true, false) }),
      kind: fc.constantFrom('succeeded', 'succeeded', 'failed', 'failed', 'failed', 'lost', 'released'),
      failure: bit,
      outage: fc.oneof({ weight: 3, arbitrary: fc.nat(OUTAGES - 1) }, { weight: 2, arbitrary: fc.constant(undefined) }),
      quota: seldom(bit),
      deferMs: seldom(fc.constantFrom(0, 3_000), 3),
    }),
  ),
  opening: fc.tuple(fc.constantFrom(...OUTAGE_SCENES), someOf(failingTask)).map(([scene, more]) => [...scene, more]),
  weights: {
    submit: 14,
    claim: 20,
    settle: 20,
    settleAndClaim: 8,
    renew: 1,
    vouch: 0,
    sweep: 4,
    assign: 5,
    reconcile: 2,
    resetBreaker: 1,
    expire: 1,
    bulk: 6,
    retry: 1,
    reserve: 4,
    pause: 1,
    resume: 2,
    limit: 5,
    register: 1,
    deregister: 0,
    probed: 0,
    beat: 0,
    advance: 12,
    retain: 0,
    look: 5,
  },
}

function batches(most: number, settlement: fc.Arbitrary<SettleDraft>): fc.Arbitrary<SettleDraft[]> {
  return fc.array(settlement, { minLength: 1, maxLength: most })
}

function someOf(task: fc.Arbitrary<TaskDraft>): fc.Arbitrary<Command> {
  return fc.array(task, { minLength: 3, maxLength: 5 }).map((tasks) => ({ do: 'submit', tasks }))
}
