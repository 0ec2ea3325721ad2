// Where random sequences may begin: in the midst of an outage, of a dispatch, of a storm of retries. Chance alone gets there
// too seldom to try what comes next.

import type { ClaimDraft, Command, ScopeDraft, SettleDraft } from './command.ts'

export type Scene = readonly Command[]

/** One task for each of these actions. */
export const submit = (...actions: readonly number[]): Command => ({
  do: 'submit',
  tasks: actions.map((action, id) => ({ id, action, maxRetries: 3 })),
})

export const claim = (limit: number, changes: Partial<ClaimDraft> = {}): Command => ({
  do: 'claim',
  claim: { worker: 0, limit, leaseMs: 20_000, ...changes },
})

export const failedTwice = (guards: Pick<SettleDraft, 'outage' | 'quota'>): Command => ({
  do: 'settle',
  settlements: [0, 1].map((back) => ({ lease: { back, held: true }, kind: 'failed', failure: 0, ...guards })),
})

const succeededLast: Command = {
  do: 'settle',
  settlements: [{ lease: { back: 0, held: true }, kind: 'succeeded', failure: 0 }],
}

const advance = (ms: number): Command => ({ do: 'advance', ms })

const limit = (scope: ScopeDraft, concurrency: number): Command => ({ do: 'limit', scope, concurrency })

const toInbox: Command = {
  do: 'assign',
  assignments: [0, 1].map((back) => ({ lease: { back, held: true }, worker: back, ttlMs: 5_000 })),
}

/** After a first submission of any tasks. */
export const SCENES: readonly Scene[] = [
  [],
  [],
  // One breaker is open; it is half open, with an older attempt beside the probe; it is ramping, with older ones; both have
  // seen failures.
  [claim(3), failedTwice({ outage: 0 })],
  [claim(3), failedTwice({ outage: 0 }), advance(1_000), claim(1)],
  [claim(4), failedTwice({ outage: 0 }), advance(1_000), claim(1), succeededLast],
  [claim(4), failedTwice({ outage: 2 }), advance(1_000)],
  // Something is on its way, or lies in two inboxes, or was launched.
  [claim(2, { stage: 'dispatch' })],
  [claim(3, { stage: 'dispatch' }), toInbox],
  [claim(1, { stage: 'launch' })],
  // More retries than a quota has room for; retries that are due again, for another worker if it can be.
  [claim(4), failedTwice({ quota: 0 })],
  [claim(2), failedTwice({}), advance(1_000)],
]

// The worker of the failures is given little for a while.
const OTHER = { worker: 1 }

/** One task of one action for each of two tenants, and two more of another tenant. */
const ofTenants: Command = {
  do: 'submit',
  tasks: [0, 1, 0, 1, 2].map((tenant, id) => ({ id, action: 0, tenant, maxRetries: 3 })),
}

const opened = (outage: number): Scene => [claim(2, { action: 0 }), failedTwice({ outage }), advance(1_000)]

/**
 * With tasks of their own: the attempts of one action have opened a breaker, and it is half open with the next claim. Those of
 * another run on, from before and since; their failures let it join.
 */
export const OUTAGE_SCENES: readonly Scene[] = [
  [submit(1, 1, 0, 0), claim(1, { action: 1 }), ...opened(0), claim(2, OTHER)],
  [submit(1, 1, 0, 0), claim(1, { action: 1 }), ...opened(2), claim(2, OTHER)],
  [submit(1, 0, 0, 0), claim(1, { action: 1 }), ...opened(0), claim(1, OTHER), succeededLast],
  // Under a limit of operators as well; with attempts that were launched, or are on their way.
  [submit(1, 1, 0, 0), limit({ action: 1 }, 2), claim(1, { action: 1 }), ...opened(0), claim(2, OTHER)],
  [submit(1, 0, 0, 0), limit({ pool: 0, action: 0 }, 2), ...opened(1), claim(1, OTHER)],
  [submit(1, 1, 0, 0), claim(1, { action: 1, stage: 'launch' }), ...opened(0), claim(2, { ...OTHER, stage: 'launch' })],
  [
    submit(1, 1, 0, 0),
    claim(1, { action: 1, stage: 'dispatch' }),
    ...opened(0),
    claim(2, { ...OTHER, stage: 'dispatch' }),
    toInbox,
  ],
  // Two tenants fail: the breakers of both are open, and that of all tenants; then their probes run.
  [ofTenants, ...opened(0)],
  [ofTenants, ...opened(0), claim(2, OTHER)],
  [ofTenants, ...opened(2), claim(3, OTHER), succeededLast],
]
