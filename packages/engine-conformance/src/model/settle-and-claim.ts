// A worker's happy path in one step: its settlements stand even when the claim that comes with them is refused.

import { type ClaimRequest, type ClaimResult, isRepriseError, type Settlement, type SettleResult } from '@reprise/core'
import { checkBatch, checkLeaseMs, checkLimit } from './checks.ts'
import { claim } from './claim.ts'
import { settle } from './settle.ts'
import type { State } from './state.ts'

export function settleAndClaim(
  state: State,
  settlements: readonly Settlement[],
  request: ClaimRequest,
): { readonly settled: readonly SettleResult[] } & ClaimResult {
  // An input that is not valid refuses the whole call, so it is looked for before anything is settled.
  checkBatch(settlements, 'settlements')
  checkLimit(request.limit)
  checkLeaseMs(request.leaseMs)
  const settled = settle(state, settlements)
  try {
    return { settled, ...claim(state, request) }
  } catch (error) {
    if (!isRepriseError(error, 'REPRISE_WORKER_FENCED') && !isRepriseError(error, 'REPRISE_NOT_FOUND')) throw error
    return { settled, claimed: [], nextDueAt: null, heldBack: null, now: state.now }
  }
}
