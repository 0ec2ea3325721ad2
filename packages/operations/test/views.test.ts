// What the API shows of tasks: every text that somebody else wrote goes through the rules, and who did something stays readable.

import {
  actionName,
  createRedactor,
  DEFAULT_POOL,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  type Execution,
  type Explanation,
  encodeJson,
  type Failure,
  type Fingerprint,
  leaseToken,
  retryToken,
  type Snapshot,
  type Task,
  type TaskState,
  taskId,
  workerId,
} from '@reprise/core'
import { executionView, explanationView, failureGroupView, taskView } from '@reprise/operations'
import { expect, test } from 'vitest'

const SECRET = 'hunter2hunter2'
const LEAK = `password=${SECRET}`
const redactor = createRedactor()

const failure: Failure = {
  code: LEAK,
  name: LEAK,
  message: LEAK,
  stack: LEAK,
  reason: 'unknown',
  retriable: true,
  rule: 'default',
  retryAfterMs: null,
  fingerprint: 'f'.repeat(16) as Fingerprint,
  details: encodeJson({ password: SECRET }, 'details'),
}

const snapshot: Snapshot = {
  id: taskId('t1'),
  action: actionName('render'),
  pool: DEFAULT_POOL,
  tenant: DEFAULT_TENANT,
  payload: encodeJson({ password: SECRET }, 'payload'),
  labels: { password: SECRET },
  priority: 5,
  settings: DEFAULT_SETTINGS,
  retryToken: retryToken('t1'),
  dedupeKey: null,
  deadlineAt: null,
}

const taskIn = (state: TaskState): Task => ({
  ...snapshot,
  acceptedAt: 1,
  generation: 1,
  attempt: 1,
  failures: 0,
  losses: 0,
  parks: 0,
  deferrals: 0,
  state,
})

const running: TaskState = {
  status: 'running',
  attempt: 1,
  token: leaseToken('lease-1'),
  worker: workerId('w1'),
  startedAt: 1,
  leaseUntil: 2,
  timeoutAt: 3,
  progress: { fraction: 0.5, note: LEAK },
  stage: 'run',
  handle: null,
}

const execution: Execution = {
  taskId: snapshot.id,
  attempt: 1,
  generation: 1,
  status: 'failed',
  worker: workerId('w1'),
  dispatchedAt: 1,
  resolvedAt: 2,
  errorCode: LEAK,
  errorMessage: LEAK,
  retryReason: null,
  failure,
  decision: { kind: 'dead', reason: 'not_retriable', rule: 'default', sentence: `${LEAK} can not be retried.` },
  taskSnapshot: snapshot,
  token: leaseToken('lease-1'),
}

const explanation: Explanation = {
  task: taskIn({ status: 'queued', since: 1, expiresAt: null }),
  summary: `All lanes are paused by token:ci-deploy-2024: ${LEAK}`,
  gates: [{ kind: 'paused', scope: {}, by: { actor: 'token:ci-deploy-2024', reason: LEAK }, since: 1 }],
  workers: [{ worker: workerId('w1'), verdict: 'unhealthy', reasons: ['It is late.'] }],
  nextAt: null,
}

test.each([
  ['progress', () => taskView(taskIn(running), redactor)],
  ['a dead letter', () => taskView(taskIn({ status: 'dead', at: 1, reason: 'not_retriable', failure }), redactor)],
  ['an attempt', () => executionView(execution, redactor)],
  [
    'a group of failures',
    () =>
      failureGroupView(
        {
          fingerprint: failure.fingerprint,
          action: snapshot.action,
          count: 1,
          firstAt: 1,
          lastAt: 1,
          lastTask: snapshot.id,
          sample: failure,
        },
        redactor,
      ),
  ],
  ['an explanation', () => explanationView(explanation, redactor)],
])('intruder 6: no text of %s shows a secret', (_, view) => {
  const shown = JSON.stringify(view())
  expect(shown).not.toContain(SECRET)
  expect(shown).toContain('[redacted]')
})

test('intruder 6: who paused it is told as it is', () => {
  const { summary, gates } = explanationView(explanation, redactor)
  expect(summary).toBe('All lanes are paused by token:ci-deploy-2024: password=[redacted]')
  expect(gates).toMatchObject([{ by: { actor: 'token:ci-deploy-2024', reason: 'password=[redacted]' } }])
})

test('intruder 7: workers are left out for those who may not see them', () => {
  expect(explanationView(explanation, redactor).workers).toHaveLength(1)
  expect(explanationView(explanation, redactor, { showWorkers: true }).workers).toHaveLength(1)
  expect(explanationView(explanation, redactor, { showWorkers: false }).workers).toEqual([])
})
