// Turns the small numbers of a drawn command into the ids, names, failures and requests that they stand for.

import {
  type ActionName,
  actionName,
  type By,
  DEFAULT_HEALTH_THRESHOLDS,
  encodeJson,
  type Failure,
  type HealthThresholds,
  observedFailure,
  type PoolName,
  poolName,
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
  outcomesMin: 4,
  cooldownMs: 10_000,
}

/** The longest anything is made to wait: delay, lease and backoff. */
export const LONGEST_WAIT_MS = 30_000 + 20_000 + 8_000

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

export function specOf(draft: TaskDraft, now: number): TaskSpec {
  return {
    id: idOf(draft.id),
    action: actionOf(draft.action ?? 0),
    pool: poolOf(draft.pool ?? 0),
    tenant: tenantId(`n${draft.tenant ?? 0}`),
    payload: encodeJson({ of: draft.id }, 'payload'),
    labels: { drawn: 'yes' },
    priority: draft.priority ?? 5,
    settings: {
      timeoutMs: draft.timeoutMs ?? 60_000,
      maxRetries: draft.maxRetries ?? null,
      lossesMax: draft.lossesMax ?? 3,
      queueTtlMs: draft.queueTtlMs ?? null,
      backoff: { kind: 'exponential', baseMs: 1_000, multiplier: 2, maxMs: 8_000, jitter: 0 },
      retryUnknown: draft.maxRetries === 3,
    },
    retryToken: retryToken(`r${draft.id}`),
    dedupeKey: draft.dedupe === undefined ? null : `k${draft.dedupe}`,
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
  if ('ids' in draft) return { ids: draft.ids.map(idOf) }
  if ('scope' in draft) return scopeOf(draft.scope)
  return { fingerprint: failureOf(draft.failure, actionOf(draft.action)).fingerprint }
}
