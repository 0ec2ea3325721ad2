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
import { executionView, explanationView, failureGroupView, preparedFor, taskView } from '@reprise/operations'
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
  lastWorker: { worker: workerId('w1'), version: '2', host: 'h1' },
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
  build: { version: '2', host: 'h1', runtimes: ['node 26'] },
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
  gates: [
    { kind: 'paused', scope: {}, by: { actor: 'token:ci-deploy-2024', reason: LEAK }, since: 1, rank: 'platform' },
  ],
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
  const sight = { ...redactor, isLimited: true }
  expect(explanationView(explanation, sight).workers).toEqual([])
  expect(taskView(taskIn(running), sight).state).toMatchObject({ worker: 'worker', handle: null })
  expect(taskView(taskIn(running), sight).lastWorker).toEqual({ worker: 'worker', version: null, host: null })
  expect(executionView(execution, sight)).toMatchObject({ worker: 'worker', build: null })
  expect(executionView(execution, redactor).build).toEqual({ version: '2', host: 'h1', runtimes: ['node 26'] })
})

test('intruder 7: who is limited to tenants is told that all are held, and neither by whom, nor why, nor how many run', () => {
  const own = { kind: 'paused', scope: { tenant: DEFAULT_TENANT }, rank: 'tenant', since: 1 } as const
  const by = { actor: 'oidc:ann@platform.example', reason: 'the incident at acme' }
  const gates: Explanation['gates'] = [
    { ...own, scope: {}, rank: 'platform', by },
    { kind: 'concurrency', scope: {}, rank: 'platform', running: 41, concurrency: 41 },
    { ...own, by: { actor: 'token:default/ops', reason: 'we look into it' } },
  ]
  const shown = explanationView({ ...explanation, gates }, { ...redactor, isLimited: true })
  expect(shown).toMatchObject({
    summary: 'It is paused, as other tenants may be.',
    gates: [
      { kind: 'paused', scope: {}, rank: 'platform', by: { actor: 'an operator' }, since: 1 },
      { kind: 'concurrency', scope: {}, rank: 'platform' },
      { by: { actor: 'token:default/ops', reason: 'we look into it' } },
    ],
  })
  expect(JSON.stringify(shown)).not.toMatch(/ann@platform|incident|41/)
})

test('the long texts of a failure are looked at in steps, before its view is made', async () => {
  const stack = `${LEAK}\n${'at x '.repeat(4_000)}`
  const dead = taskIn({ status: 'dead', at: 1, failure: { ...failure, stack } } as TaskState)
  const atOnce: number[] = []
  const counted = {
    ...redactor,
    text: (text: string) => {
      atOnce.push(text.length)
      return redactor.text(text)
    },
  }
  const prepared = await preparedFor(dead, counted, { isSpent: false, wait: async () => undefined })
  const view = taskView(dead, prepared)
  expect(view).toEqual(taskView(dead, redactor))
  expect(JSON.stringify(view)).not.toContain(SECRET)
  expect(Math.max(...atOnce)).toBeLessThan(1_000)
})
