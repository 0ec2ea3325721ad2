// Task specs and claim requests, for the tests and for the processes that they start.

import {
  actionName,
  type ClaimRequest,
  DEFAULT_POOL,
  DEFAULT_PRIORITY,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  type Engine,
  encodeJson,
  retryToken,
  type TaskSpec,
  taskId,
  workerId,
} from '@reprise/core'

export function spec(id: string, overrides: Partial<TaskSpec> = {}): TaskSpec {
  return {
    id: taskId(id),
    action: actionName('act'),
    pool: DEFAULT_POOL,
    tenant: DEFAULT_TENANT,
    payload: encodeJson({ id }, 'payload'),
    labels: {},
    priority: DEFAULT_PRIORITY,
    settings: DEFAULT_SETTINGS,
    retryToken: retryToken(id),
    dedupeKey: null,
    delayMs: 0,
    dueAt: null,
    deadlineAt: null,
    deadlineMs: null,
    ...overrides,
  }
}

export function specs(count: number, prefix = 'task'): TaskSpec[] {
  return Array.from({ length: count }, (_, index) => spec(`${prefix}-${index}`))
}

export async function claimer(engine: Engine, name: string, limit = 100): Promise<ClaimRequest> {
  const worker = workerId(name)
  const { epoch } = await engine.register({
    worker,
    pools: [DEFAULT_POOL],
    actions: null,
    host: 'test',
    version: '0',
    runtimes: [],
    endpoint: null,
  })
  return { worker, epoch, pools: [DEFAULT_POOL], actions: null, limit, leaseMs: 15_000 }
}
