// Tasks for tests of this package, with ordinary values for all that a test does not care about.

import { actionName, DEFAULT_POOL, DEFAULT_TENANT, encodeJson, retryToken, type TaskSpec, taskId } from '@reprise/core'

export function spec(id: string): TaskSpec {
  return {
    id: taskId(id),
    action: actionName('render'),
    pool: DEFAULT_POOL,
    tenant: DEFAULT_TENANT,
    payload: encodeJson({ of: id }, 'payload'),
    labels: {},
    priority: 5,
    settings: {
      timeoutMs: 60_000,
      maxRetries: 3,
      maxLosses: 3,
      queueTtlMs: null,
      backoff: { kind: 'fixed', delayMs: 1_000, jitter: 0 },
      retryUnknown: false,
    },
    retryToken: retryToken(`retry-${id}`),
    dedupeKey: null,
    delayMs: 0,
    dueAt: null,
    deadlineAt: null,
    deadlineMs: null,
  }
}
