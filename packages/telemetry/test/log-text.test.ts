// Log lines at a terminal: short, with what says something, while JSON lines stay complete.

import { VirtualClock } from '@reprise/core'
import { expect, test } from 'vitest'
import { createLog, type LogOptions } from '../src/log.ts'

function keeping(options: LogOptions) {
  const written: string[] = []
  const clock = new VirtualClock(Date.parse('2030-01-01T10:20:30.400Z'))
  return { written, log: createLog({ ...options, clock, write: (line) => void written.push(line) }) }
}

const FAILED = {
  event: 'task.retry.scheduled',
  task_id: '01a1e2cf-f4b2-7846-8eca-e25d57fe6b1d',
  retry_token: '01a1e2cf-f4b2-7846-8eca-e25d57fe6b1d',
  attempt: 1,
  reason: 'rate_limited',
  next_retry_at: '2030-01-01T10:20:33.400Z',
  dlq_flag: false,
  workorder_id: null,
  error_code: 'rate_limited',
}

test('B9: as text a failure is a short line: no nulls, no flags that are false, nothing twice', () => {
  const { log, written } = keeping({ format: 'text', base: { service: 'up' } })
  log.info('An attempt failed. Retry 1 of 3 in 3s, as the failing side asked.', { action: 'email.send', ...FAILED })
  log.info('An attempt failed.', FAILED)
  log.warn('A task is dead.', { ...FAILED, next_retry_at: null, dlq_flag: true, error_code: 'E7' })
  expect(written).toEqual([
    '10:20:30Z INFO  An attempt failed. Retry 1 of 3 in 3s, as the failing side asked. action=email.send task_id=01a1e2cf-f4b2-7846-8eca-e25d57fe6b1d attempt=1 reason=rate_limited\n',
    '10:20:30Z INFO  An attempt failed. task_id=01a1e2cf-f4b2-7846-8eca-e25d57fe6b1d attempt=1 reason=rate_limited next="in 3s"\n',
    '10:20:30Z WARN  A task is dead. task_id=01a1e2cf-f4b2-7846-8eca-e25d57fe6b1d attempt=1 reason=rate_limited error_code=E7\n',
  ])
})

test('B9: as JSON the same line has all its fields', () => {
  const { log, written } = keeping({ format: 'json', base: { service: 'up' } })
  log.info('An attempt failed.', FAILED)
  expect(JSON.parse(written[0] ?? '')).toEqual({
    level: 'info',
    time: '2030-01-01T10:20:30.400Z',
    message: 'An attempt failed.',
    service: 'up',
    ...FAILED,
  })
})

test('as text, requests that were answered well are for debugging; as JSON they are lines as others', () => {
  const request = { event: 'http.request', method: 'GET', path: '/x', status: 200 }
  const text = keeping({ format: 'text' })
  text.log.info('A request was answered.', request)
  text.log.error('A request was answered.', { ...request, status: 500 })
  expect(text.written).toEqual(['10:20:30Z ERROR A request was answered. method=GET path=/x status=500\n'])
  const debugging = keeping({ format: 'text', level: 'debug' })
  debugging.log.info('A request was answered.', request)
  expect(debugging.written).toEqual(['10:20:30Z DEBUG A request was answered. method=GET path=/x status=200\n'])
  const json = keeping({ format: 'json' })
  json.log.info('A request was answered.', request)
  expect(json.written).toHaveLength(1)
})
