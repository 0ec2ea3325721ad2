// Where random sequences may begin, after their first submission: in the midst of an outage, of a dispatch, of a storm of
// retries. Chance alone gets there too seldom to try what comes next.

import type { Command, SettleDraft } from './command.ts'

const claim = (limit: number, stage?: 'dispatch' | 'launch'): Command => ({
  do: 'claim',
  claim: { worker: 0, limit, leaseMs: 20_000, ...(stage === undefined ? {} : { stage }) },
})

const failedTwice = (guards: Pick<SettleDraft, 'outage' | 'quota'>): Command => ({
  do: 'settle',
  settlements: [0, 1].map((back) => ({ lease: { back, held: true }, kind: 'failed', failure: 0, ...guards })),
})

const succeededLast: Command = {
  do: 'settle',
  settlements: [{ lease: { back: 0, held: true }, kind: 'succeeded', failure: 0 }],
}

const advance = (ms: number): Command => ({ do: 'advance', ms })

const toInbox: Command = {
  do: 'assign',
  assignments: [0, 1].map((back) => ({ lease: { back, held: true }, worker: back, ttlMs: 5_000 })),
}

export const SCENES: readonly (readonly Command[])[] = [
  [],
  [],
  // One breaker is open; it is half open, with an older attempt beside the probe; it is ramping, with older ones; both have
  // seen failures.
  [claim(3), failedTwice({ outage: 0 })],
  [claim(3), failedTwice({ outage: 0 }), advance(1_000), claim(1)],
  [claim(4), failedTwice({ outage: 0 }), advance(1_000), claim(1), succeededLast],
  [claim(4), failedTwice({ outage: 2 }), advance(1_000)],
  // Something is on its way, or lies in two inboxes, or was launched.
  [claim(2, 'dispatch')],
  [claim(3, 'dispatch'), toInbox],
  [claim(1, 'launch')],
  // More retries than a quota has room for; retries that are due again, for another worker if it can be.
  [claim(4), failedTwice({ quota: 0 })],
  [claim(2), failedTwice({}), advance(1_000)],
]
