// Turns the small numbers of a drawn command into the ids, names, failures and requests that they stand for.

import {
  type ActionName,
  actionName,
  type BreakerSettings,
  type By,
  DEFAULT_HEALTH_THRESHOLDS,
  encodeJson,
  type Failure,
  type Guards,
  type HealthThresholds,
  type Outage,
  observedFailure,
  type PoolName,
  poolName,
  present,
  type RetryQuota,
  retryToken,
  type Scope,
  type TaskId,
  type TaskSelector,
  type TaskSpec,
  taskId,
  tenantId,
  type WorkerId,
  workerId,
} from '@reprise/core'
import type { ScopeDraft, SelectDraft, TaskDraft } from './command.ts'

export const TASK_IDS = 8
export const WORKERS = 3
export const POOLS: readonly PoolName[] = [poolName('p0'), poolName('p1')]
export const BY: By = { actor: 'operator:ann', reason: 'by chance' }

/** Low enough to be met within forty commands. */
export const BACKLOG_MAX = 5
export const THRESHOLDS: HealthThresholds = {
  ...DEFAULT_HEALTH_THRESHOLDS,
  failuresDegraded: 2,
  failuresUnhealthy: 3,
  minOutcomes: 4,
  cooldownMs: 10_000,
  probesDegraded: 1,
  probesUnhealthy: 2,
  stuckMs: 2_000,
}

/** So small that a few failures open a breaker, and a few successes close it. */
const BREAKER: BreakerSettings = {
  windowMs: 10_000,
  minFailures: 1,
  failureRate: 0.5,
  openMs: 1_000,
  maxOpenMs: 4_000,
  probes: 1,
  maxRamp: 3,
}
const SLOWER: BreakerSettings = { ...BREAKER, minFailures: 2, probes: 2, maxRamp: 5 }

export const BREAKERS = ['dependency:d0', 'dependency:d1'] as const

/** The first is each tenant's own, the second one for all. */
const QUOTAS: readonly RetryQuota[] = [
  { name: 'q0', windowMs: 20_000, limit: 1, share: null },
  { name: 'q1', windowMs: 5_000, limit: null, share: 0.5, allTenants: true },
]

/** The longest anything is made to wait: delay, lease, backoff, breaker and quota. */
export const LONGEST_WAIT_MS = 30_000 + 20_000 + 8_000 + BREAKER.maxOpenMs + 20_000

export const FAILURES = [
  ['connection', 'The far side refused.'],
  ['timeout', 'It took too long.'],
  ['validation', 'The size is missing.'],
  ['unknown', 'Something odd happened.'],
] as const satisfies readonly (readonly [Failure['reason'], string])[]

export const idOf = (number: number): TaskId => taskId(`t${number}`)
export const workerOf = (number: number): WorkerId => workerId(`w${number}`)
export const poolOf = (number: number): PoolName => poolName(`p${number}`)
export const actionOf = (number: number): ActionName => actionName(`a${number}`)

export function failureOf(number: number, action: ActionName): Failure {
  const [reason, message] = FAILURES[number % FAILURES.length] ?? FAILURES[0]
  return observedFailure(reason, message, action)
}

/** Three outages: of one dependency, of another that is slower to open, and of both at once. */
export const OUTAGES = 3
export function outageOf(number: number): Outage {
  const [first, second] = BREAKERS
  const fast = { name: first, settings: BREAKER }
  const slow = { name: second, settings: SLOWER }
  const sentence = 'It waits until the outage is over.'
  return {
    breakers: [[fast], [slow], [slow, fast]][number % OUTAGES] ?? [fast],
    park: { kind: 'park', reason: 'connection', rule: 'drawn', sentence },
  }
}

export function quotaGuard(number: number | undefined): Pick<Guards, 'quota'> {
  const quota = number === undefined ? undefined : QUOTAS[number % QUOTAS.length]
  return quota === undefined ? {} : { quota }
}

/** What a judge adds to a failure: a time-out that the submission shortened is evidence of nothing. */
export function evidenceOf(failure: Failure, { settings }: Pick<TaskSpec, 'settings'>, outage?: Outage): Guards {
  if (failure.reason === 'timeout' && settings.ownTimeout === true) return { excusesWorker: true }
  return outage === undefined ? {} : { outage }
}

export function specOf(draft: TaskDraft, now: number): TaskSpec {
  return {
    id: idOf(draft.id),
    action: actionOf(draft.action ?? 0),
    pool: poolOf(draft.pool ?? 0),
    tenant: tenantId(`n${draft.tenant ?? 0}`),
    // Tasks with one key ask for one thing, most of them.
    payload: encodeJson({ of: draft.isOther === true ? 'other' : (draft.dedupe ?? `t${draft.id}`) }, 'payload'),
    labels: { drawn: 'yes' },
    priority: draft.priority ?? 5,
    settings: {
      timeoutMs: draft.timeoutMs ?? 60_000,
      maxRetries: draft.maxRetries ?? null,
      maxLosses: draft.maxLosses ?? 3,
      queueTtlMs: draft.queueTtlMs ?? null,
      backoff: { kind: 'exponential', baseMs: 1_000, multiplier: 2, maxMs: 8_000, jitter: 0 },
      retryUnknown: draft.maxRetries === 3,
      // The submission chose so short a time-out.
      ...(draft.timeoutMs === 500 ? { ownTimeout: true } : {}),
      ...(draft.notify === true ? { notify: true } : {}),
    },
    retryToken: retryToken(`r${draft.id}`),
    dedupeKey: draft.dedupe === undefined ? null : `k${draft.dedupe}`,
    ...present({ dedupeMs: draft.dedupeMs }),
    deadlineAt: null,
    deadlineMs: draft.deadlineMs ?? null,
    delayMs: draft.delayMs ?? 0,
    dueAt: draft.dueInMs === undefined ? null : now + draft.dueInMs,
  }
}

export function scopeOf({ pool, action, tenant }: ScopeDraft): Scope {
  return {
    ...(pool === undefined ? {} : { pool: poolOf(pool) }),
    ...(action === undefined ? {} : { action: actionOf(action) }),
    ...(tenant === undefined ? {} : { tenant: tenantId(`n${tenant}`) }),
  }
}

export function selectorOf(draft: SelectDraft): TaskSelector {
  if ('ids' in draft) {
    const { generation } = draft
    return {
      ids: draft.ids.map(idOf),
      ...(generation === undefined ? {} : { generations: draft.ids.map(() => generation) }),
    }
  }
  if ('scope' in draft) return scopeOf(draft.scope)
  return { fingerprint: failureOf(draft.failure, actionOf(draft.action)).fingerprint }
}
