// How random commands are drawn, and sequences of them. What they are about is a theme: see themes.ts.

import fc from 'fast-check'
import type { AssignDraft, BeatDraft, Command, SelectDraft } from './command.ts'
import { bit, failure, id, lease, leaseMs, outdated, rank, scope, seldom, worker } from './drawn.ts'
import { ANYTHING, OUTAGE, type Theme, type Verb } from './themes.ts'

const COMMANDS_MAX = 40

const assignment: fc.Arbitrary<AssignDraft> = fc.record({
  lease,
  worker,
  ttlMs: fc.constantFrom(1_000, 5_000, 40_000),
  regardless: seldom(fc.constant(true)),
})

const beat: fc.Arbitrary<BeatDraft> = fc.record({
  worker,
  queueDepth: fc.constantFrom(0, 0, 0, 0, 60, 200),
  inFlight: seldom(fc.constantFrom(0, 2), 4),
  loopLagMs: seldom(fc.constantFrom(3_000, 20_000)),
  maxQuietMs: seldom(fc.constantFrom(1_000, 10_000), 2),
  outlook: seldom(fc.constant(true)),
  draining: seldom(fc.constant(true)),
  policyVersion: seldom(fc.constantFrom(0, 7), 2),
  outdated,
})

const select: fc.Arbitrary<SelectDraft> = fc.oneof(
  fc.record({ ids: fc.array(id, { minLength: 1, maxLength: 3 }), generation: seldom(fc.constantFrom(1, 2), 2) }),
  fc.record({ scope }),
  fc.record({ failure, action: bit }),
)

const bulk = fc.record({
  verb: fc.constantFrom('redrive', 'redrive', 'discard', 'cancel', 'promote', 'revert'),
  select,
  limit: fc.integer({ min: 1, max: 4 }),
})

const advance = fc.constantFrom(1, 100, 100, 1_000, 1_000, 1_000, 3_000, 5_000, 8_000, 20_000, 60_000, 3_600_000)

/** Every command by its name, as the theme draws it. */
function commandsOf({ task, settlements, claim }: Theme): Readonly<Record<Verb, fc.Arbitrary<Command>>> {
  return {
    submit: fc.array(task, { minLength: 1, maxLength: 4 }).map((tasks) => ({ do: 'submit', tasks })),
    claim: claim.map((draft) => ({ do: 'claim', claim: draft })),
    settle: settlements.map((drafts) => ({ do: 'settle', settlements: drafts })),
    settleAndClaim: fc.record({ do: fc.constant('settleAndClaim'), settlements, claim }),
    renew: fc.record({
      do: fc.constant('renew'),
      leases: fc.array(lease, { minLength: 1, maxLength: 3 }),
      leaseMs,
      percent: fc.constantFrom(null, 25, 100),
      handle: seldom(bit, 2),
      lines: seldom(bit, 2),
    }),
    sweep: fc.record({
      do: fc.constant('sweep'),
      maxSettle: fc.constantFrom(0, 1, 10, 10),
      timeoutsAs: fc.constantFrom('failed', 'lost'),
      quota: seldom(bit, 3),
    }),
    assign: fc.array(assignment, { minLength: 1, maxLength: 2 }).map((assignments) => ({ do: 'assign', assignments })),
    reconcile: fc.record({ do: fc.constant('reconcile'), pool: bit, gone: fc.constantFrom(false, false, true) }),
    resetBreaker: fc.record({
      do: fc.constant('resetBreaker'),
      breaker: bit,
      of: fc.constantFrom('everyone', 'everyone', 'n0', 'all tenants'),
    }),
    expire: fc.record({ do: fc.constant('expire'), back: fc.nat(3) }),
    bulk: bulk.map((draft) => ({ do: 'bulk', ...draft })),
    retry: fc.record({
      do: fc.constant('retry'),
      id,
      maxRetries: fc.nat(2),
      named: seldom(fc.constantFrom('patient', 'strict')),
    }),
    reserve: fc.record({
      do: fc.constant('reserve'),
      task,
      attempt: fc.integer({ min: 1, max: 4 }),
      maxRetries: fc.nat(3),
      worker,
      stage: seldom(fc.constant('launch'), 2),
    }),
    pause: fc.record({ do: fc.constant('pause'), scope, rank }),
    resume: fc.record({ do: fc.constant('resume'), scope, rank }),
    limit: fc.record({ do: fc.constant('limit'), scope, concurrency: fc.constantFrom(null, null, 1, 2), rank }),
    register: fc.record(
      { do: fc.constant('register'), worker, pool: bit, host: bit, version: bit },
      { requiredKeys: ['do', 'worker'] },
    ),
    deregister: fc.record({ do: fc.constant('deregister'), worker, outdated }, { requiredKeys: ['do', 'worker'] }),
    vouch: fc.record({ do: fc.constant('vouch'), worker, leaseMs, outlook: seldom(fc.constant(true)), outdated }),
    probed: fc.record({ do: fc.constant('probed'), worker, ok: fc.constantFrom(false, false, true), outdated }),
    beat: beat.map((draft) => ({ do: 'beat', ...draft })),
    advance: advance.map((ms) => ({ do: 'advance', ms })),
    retain: fc.record({ do: fc.constant('retain'), afterMs: fc.constantFrom(0, 60_000), journal: fc.boolean() }),
    look: fc.constant({ do: 'look' }),
  }
}

const VERBS = Object.keys(ANYTHING.weights) as Verb[]

// Each of these is one call: what takes several, or moves time, would not be the same moment.
const AT_ONCE: ReadonlySet<Command['do']> = new Set(['submit', 'claim', 'assign', 'settle', 'renew', 'vouch', 'beat'])

// Interesting states come late, so no sequence is short, and many begin in the midst of something (see scenes.ts). One
// that fails is cut down afterwards (see shorten.ts).
function sequencesOf(theme: Theme): fc.Arbitrary<Command[]> {
  const commands = commandsOf(theme)
  const single = fc.oneof(...VERBS.map((verb) => ({ weight: theme.weights[verb], arbitrary: commands[verb] })))
  const together = fc
    .array(
      single.filter((one) => AT_ONCE.has(one.do)),
      { minLength: 2, maxLength: 4 },
    )
    .map((items): Command => ({ do: 'together', commands: items }))
  const command = fc.oneof({ weight: 9, arbitrary: single }, { weight: 1, arbitrary: together })
  return fc
    .tuple(theme.opening, fc.array(command, { minLength: 20, maxLength: COMMANDS_MAX - 5, size: 'max' }))
    .map(([opening, rest]) => [...opening, ...rest])
}

export const commandSequence: fc.Arbitrary<Command[]> = fc.oneof(
  { weight: 2, arbitrary: sequencesOf(ANYTHING) },
  { weight: 1, arbitrary: sequencesOf(OUTAGE) },
)
