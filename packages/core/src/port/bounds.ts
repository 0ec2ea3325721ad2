// Bounds that the verbs of every engine have in common: how many things a call may name or ask for, how long a lease
// may last, and what a settlement may say of delays, breakers and quotas.

import { DURATION_MS_MAX } from '../model/duration.ts'
import { InvalidError } from '../model/errors.ts'
import { checkedText, NAME_LENGTH_MAX } from '../model/ids.ts'
import type { Guards, Settlement } from '../model/settlement.ts'
import { PRIORITY_MAX, type Priority } from '../model/task.ts'
import { type BreakerRef, checkedBreaker } from '../policy/breaker.ts'
import type { Decision } from '../policy/decide.ts'
import { checkedQuota, type RetryQuota } from '../policy/quota.ts'
import type { ChangeRequest } from './changes.ts'
import type { ReserveRequest } from './leases.ts'

/** The most one call takes or changes. Larger work is done in several calls. */
export const BATCH_MAX = 1_000
/** A claim gives the oldest entry of a lane once in this number of picks, whatever its priority: nothing starves. */
export const PICKS_PER_OLDEST = 8
/**
 * What one claim promotes from the delay queue, at the most. A pool of which more is due then rests so long before the next
 * promotion, if the lanes that it was promoted into have this many claimable entries together: when very many tasks come due at
 * once, most of a store's time stays for the work that is there. Where there is little to claim, nothing rests.
 */
export const PROMOTE_MAX = 50
export const PROMOTE_REST_MS = 6
export const PROMOTE_REST_READY = 500
/** What one claim retires of entries past their time, at the most. */
export const RETIRE_MAX = 1_000
/** How long a retry waits, once it is queued, for a worker other than the one that failed it. */
export const AVOID_MS = 2_000
/** After its timeout an attempt gets this long to be settled by its own worker before the sweep does it. */
export const TIMEOUT_GRACE_MS = 5_000
/** A worker that was not heard of for this long is forgotten by retention. */
export const WORKER_SILENT_MS = 86_400_000
/** So long a worker that left can be looked up. */
export const DEPARTED_MS = 86_400_000

/**
 * Lanes that a caller limited to tenants can make for one of them by submitting: each pool and action that a tenant ever used is
 * a lane, and stays. A caller who is not limited can make more.
 */
export const LANES_PER_TENANT_MAX = 1_000
export const LANES_PER_TENANT_OF_ALL_MAX = 10_000
/** Different settings that submissions for one tenant bring along, in one server and a day. Those of actions are not counted. */
export const OWN_SETTINGS_PER_TENANT_MAX = 200

/**
 * What a page of tasks carries of payloads, results and failures, in bytes. It ends early, with `next`, behind the task that
 * goes beyond that.
 */
export const PAGE_BYTES_MAX = 4_194_304
/** A light look leaves out payloads and results that are longer, in bytes. */
export const LIGHT_BYTES_MAX = 1_024

// Bounds that an engine may apply, so that one call stays short in a very large store: see docs/engine-port.md.

/** Breakers that cover one action. A failure does not count for a further one. */
export const COVERING_MAX = 100
/** Workers that a claim looks at, by id, to see whether an unhealthy worker has help. */
export const HELP_LOOK_MAX = 1_000
/** Workers that a claim looks at, by id, to see whether a retry has a better one. */
export const FLEET_LOOK_MAX = 100
/** Retries that one claim leaves to other workers. Then it takes what comes. */
export const AVOIDED_MAX = 1_000
/** Workers that left and are kept for a look. With more, those that left first are forgotten. */
export const DEPARTED_MAX = 10_000

/** The place of a priority in claim order: smaller first. */
export const claimOrder = (priority: Priority): number => PRIORITY_MAX - priority

export const LEASE_MS_MAX = 86_400_000

export function checkBatch(size: number): void {
  if (size > BATCH_MAX) {
    throw new InvalidError(`One call takes at most ${BATCH_MAX} items, not ${size}. Send them in several calls.`)
  }
}

/** What a change names: a bounded number of ids, each with its generation if there are any; a revert always names ids. */
export function checkChange({ kind, select }: ChangeRequest): void {
  if (!('ids' in select)) {
    if (kind === 'revert') throw new InvalidError('A revert names its tasks by their ids.')
    return
  }
  checkBatch(select.ids.length)
  const { ids, generations } = select
  if (generations !== undefined && generations.length !== ids.length) {
    throw new InvalidError(`There are ${generations.length} generations for ${ids.length} ids: give one for each.`)
  }
}

/** How many a call wants at the most. */
export function checkLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > BATCH_MAX) {
    throw new InvalidError(`A limit is a whole number from 1 to ${BATCH_MAX}, not ${limit}.`)
  }
}

export function checkLeaseMs(leaseMs: number): void {
  if (!Number.isInteger(leaseMs) || leaseMs < 1 || leaseMs > LEASE_MS_MAX) {
    throw new InvalidError(`A lease lasts between 1 ms and a day, not ${leaseMs} ms.`)
  }
}

export function checkReserve({ leaseMs, attempt, task }: Pick<ReserveRequest, 'leaseMs' | 'attempt' | 'task'>): void {
  checkLeaseMs(leaseMs)
  if (task.past !== undefined) throw new InvalidError('A message can not bring the past of a task: import it.')
  if (!Number.isSafeInteger(attempt) || attempt < 1) {
    throw new InvalidError(`An attempt is a whole number from 1, not ${attempt}.`)
  }
}

/** The name of a breaker says its kind before the name of what it is for. */
const BREAKER_NAME_LENGTH_MAX = NAME_LENGTH_MAX + 20

/** Throws before anything is written if a settlement says what no store could keep or keep to. */
export function checkSettlements(settlements: readonly Settlement[]): void {
  for (const settlement of settlements) {
    switch (settlement.kind) {
      case 'succeeded':
        break
      case 'released':
        if (settlement.deferral !== undefined) checkDelayMs(settlement.deferral.delayMs)
        break
      case 'failed':
      case 'lost':
      case 'expired':
        checkEnd(settlement.decision, settlement)
    }
  }
}

function checkEnd(decision: Decision, { outage, quota }: Guards): void {
  if (decision.kind === 'retry') checkDelayMs(decision.delayMs)
  if (quota !== undefined) checkQuota(quota)
  for (const ref of outage?.breakers ?? []) checkBreakerRef(ref)
}

function checkDelayMs(delayMs: number): void {
  if (!(Number.isInteger(delayMs) && delayMs >= 0 && delayMs <= DURATION_MS_MAX)) {
    throw new InvalidError(`A delay is a whole number of ms from 0 to ${DURATION_MS_MAX}, not ${delayMs}.`)
  }
}

function checkQuota(quota: RetryQuota): void {
  checkedText('name of a retry quota', quota.name, NAME_LENGTH_MAX)
  checkedQuota(quota)
}

function checkBreakerRef({ name, settings }: BreakerRef): void {
  checkedText('name of a breaker', name, BREAKER_NAME_LENGTH_MAX)
  checkedBreaker(settings)
}
