// The retry chain of an execution (C1), traceable from either end.

import { DEFAULT_SETTINGS, type Execution, leaseToken, retryChain, taskId, workerId } from '@reprise/core'
import { expect, test } from 'vitest'
import { NOW, snapshotWith } from '../fixture.ts'

const runningAttempt = (
  attempt: number,
  over: Partial<Pick<Execution, 'retryReason' | 'taskSnapshot'>> = {},
): Execution => ({
  taskId: taskId('task-1'),
  attempt,
  generation: 1,
  worker: workerId('w1'),
  build: null,
  token: leaseToken('17'),
  dispatchedAt: NOW,
  retryReason: null,
  taskSnapshot: snapshotWith(),
  status: 'running',
  resolvedAt: null,
  errorCode: null,
  errorMessage: null,
  failure: null,
  decision: null,
  ...over,
})

test('C1: the original has count 0, no reason, and is its own origin', () => {
  expect(retryChain(runningAttempt(1))).toEqual({
    retryCount: 0,
    maxRetries: 0,
    retryReason: null,
    originalExecution: { taskId: 'task-1', attempt: 1 },
  })
})

test('C1: a retry tells its count, its budget, its reason and where the chain starts', () => {
  const taskSnapshot = snapshotWith({ settings: { ...DEFAULT_SETTINGS, maxRetries: 5 } })
  expect(retryChain(runningAttempt(4, { retryReason: 'timeout', taskSnapshot }))).toEqual({
    retryCount: 3,
    maxRetries: 5,
    retryReason: 'timeout',
    originalExecution: { taskId: 'task-1', attempt: 1 },
  })
})

test('C1: a retry that an operator asked for says so', () => {
  expect(retryChain(runningAttempt(2, { retryReason: 'manual' })).retryReason).toBe('manual')
})
