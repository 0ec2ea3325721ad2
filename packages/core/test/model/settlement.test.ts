// Settlements are built by constructors named after their transitions; each carries what its transition needs.

import {
  type Decision,
  encodeJson,
  expired,
  failed,
  leaseToken,
  lost,
  released,
  succeeded,
  taskId,
} from '@reprise/core'
import { expect, test } from 'vitest'
import { failureWith } from '../fixture.ts'

const ref = { taskId: taskId('t1'), attempt: 2, token: leaseToken('17') }
const failure = failureWith()
const decision: Decision = { kind: 'dead', reason: 'not_retriable', rule: 'unknown', sentence: 'It is over.' }

test('A4: succeeded, with a result or none', () => {
  const result = encodeJson({ pages: 3 }, 'result')
  expect(succeeded(ref, result)).toEqual({ kind: 'succeeded', ref, result: '{"pages":3}' })
  expect(succeeded(ref, null)).toEqual({ kind: 'succeeded', ref, result: null })
})

test('A4: failed and lost, with the failure and what is to follow', () => {
  expect(failed(ref, failure, decision)).toEqual({ kind: 'failed', ref, failure, decision })
  expect(lost(ref, failure, decision)).toEqual({ kind: 'lost', ref, failure, decision })
})

test('A3: released, with the reason', () => {
  expect(released(ref, 'the launch failed')).toEqual({ kind: 'released', ref, reason: 'the launch failed' })
})

test('C7: expired, of a queue entry that has no token yet', () => {
  const entry = { taskId: taskId('t1'), attempt: 1 }
  expect(expired(entry, failure, decision)).toEqual({ kind: 'expired', ref: entry, failure, decision })
})
