// The claim: promotes what is due, then takes entries lane by lane, fairly, and reserves them under leases. The rules
// stand in docs/engine-port.md; this file follows its numbers.

import { type ClaimRequest, type ClaimResult, type HealthThresholds, InvalidError } from '@reprise/core'
import { checkLeaseMs, checkLimit } from '@reprise/core/engine'
import { Avoidance } from './avoidance.ts'
import { tellTime } from './breakers.ts'
import { Claiming, type Taken } from './claiming.ts'
import { collect } from './dispatch.ts'
import { nextPromotionAt, promoteDue } from './promotion.ts'
import { admit } from './registry.ts'
import type { Transaction } from './transaction.ts'

/** Throws, and changes nothing, if the worker is unknown or was replaced. */
export function claim(transaction: Transaction, request: ClaimRequest, thresholds: HealthThresholds): ClaimResult {
  const { worker, pools } = request
  const admission = admit(transaction, worker, request.epoch, thresholds, request.regardless === true)
  const nextProbeAt = tellTime(transaction)
  const limit = Math.min(request.limit, admission.limit)
  const isToRun = (request.stage ?? 'run') === 'run'
  const collected = isToRun && transaction.hasInboxes && limit > 0 ? collect(transaction, request, limit) : []
  promoteDue(transaction, pools)
  const avoidance = isToRun ? new Avoidance(transaction, worker, thresholds) : null
  const left = limit - collected.length
  const { claimed, avoidedUntil } =
    left === 0 ? NOTHING : new Claiming(transaction, request, admission.row, left, avoidance).run()
  if (collected.length + claimed.length > 0) admission.tookWork()
  return {
    claimed: collected.length === 0 ? claimed : [...collected, ...claimed],
    nextDueAt: earliest(nextPromotionAt(transaction, pools), nextProbeAt, avoidedUntil),
    heldBack: admission.heldBack,
    now: transaction.now,
  }
}

const NOTHING: Taken = { claimed: [], avoidedUntil: null }

export function checkClaim(request: ClaimRequest): void {
  checkLimit(request.limit)
  checkLeaseMs(request.leaseMs)
  if (new Set(request.pools).size !== request.pools.length) throw new InvalidError('A claim names each pool once.')
}

function earliest(...times: (number | null)[]): number | null {
  let first: number | null = null
  for (const time of times) if (time !== null && (first === null || time < first)) first = time
  return first
}
