// The registry of errors and the classes made from it.

import * as core from '@reprise/core'
import { ERRORS, type ErrorCode, InvalidError, isRepriseError, NotFoundError, RepriseError } from '@reprise/core'
import { StoreMissingError } from '@reprise/core/engine'
import { describe, expect, test, vi } from 'vitest'

const made: readonly [RepriseError, ErrorCode, number, string][] = [
  [new core.InvalidError('bad'), 'REPRISE_INVALID', 400, 'bad'],
  [new core.TooLargeError('payload', 11, 10), 'REPRISE_TOO_LARGE', 413, 'The payload takes 11 bytes; at most 10'],
  [new core.NotFoundError('task', 't1'), 'REPRISE_NOT_FOUND', 404, "There is no task 't1'."],
  [new core.PayloadExpiredError('too late'), 'REPRISE_PAYLOAD_EXPIRED', 410, 'too late'],
  [new core.ConflictError('taken'), 'REPRISE_CONFLICT', 409, 'taken'],
  [new core.DuplicateExecutionError('t1', 2), 'REPRISE_DUPLICATE_EXECUTION', 409, "Attempt 2 of task 't1' is already"],
  [new core.BudgetExhaustedError('t1', 5, 4), 'REPRISE_BUDGET_EXHAUSTED', 409, 'above its ceiling of 4'],
  [new core.SupersededError('t1', 2, 'lost'), 'REPRISE_SUPERSEDED', 409, 'is no longer yours (lost)'],
  [new core.WorkerFencedError('w1', 3), 'REPRISE_WORKER_FENCED', 409, "Worker 'w1' of epoch 3 was replaced"],
  [new core.NoAvailableSlotError("pool 'gpu'", 4), 'REPRISE_NO_AVAILABLE_SLOT', 503, "All 4 slots of pool 'gpu'"],
  [new core.BacklogFullError(9, 2, 10), 'REPRISE_BACKLOG_FULL', 503, "holds 9 tasks and can't take 2 more (limit 10)"],
  [new core.StoreBusyError('busy'), 'REPRISE_STORE_BUSY', 503, 'busy'],
  [new core.StoreFullError(), 'REPRISE_STORE_FULL', 503, 'The store has no room left.'],
  [
    new core.OutrankedError('hold', "tenant 'acme'"),
    'REPRISE_OUTRANKED',
    403,
    "The platform put the hold on tenant 'acme'",
  ],
  [
    new core.TenantBacklogError('acme', 5, 5),
    'REPRISE_TENANT_BACKLOG_FULL',
    409,
    "Tenant 'acme' has 5 tasks that have not ended; its limit is 5",
  ],
  [
    new core.TenantBytesError('acme', 90, 20, 100),
    'REPRISE_TENANT_BYTES_FULL',
    507,
    'takes 90 bytes, and there is no room for 20 more; its limit is 100',
  ],
  [new core.StoreFailedError('broken'), 'REPRISE_STORE_FAILED', 500, 'broken'],
  [new core.StoreDamagedError('It burns.'), 'REPRISE_STORE_DAMAGED', 500, 'It burns. Nothing more is acknowledged.'],
  [new core.StoreClosedError(), 'REPRISE_STORE_CLOSED', 503, 'The engine is closed.'],
  [
    new StoreMissingError("'/x/order.db'", '/x/orders.db'),
    'REPRISE_STORE_MISSING',
    404,
    "There is no store at '/x/order.db'. Did you mean '/x/orders.db'?",
  ],
  [new core.SchemaTooNewError(9, 2), 'REPRISE_SCHEMA_TOO_NEW', 500, 'has schema 9; this version of Reprise knows 2'],
  [new core.UnknownEngineError('what?'), 'REPRISE_UNKNOWN_ENGINE', 400, 'what?'],
  [new core.TaskFailedError('t1', 'dead', 'no paper'), 'REPRISE_TASK_FAILED', 409, "Task 't1' ended as dead: no paper"],
  [
    new core.ChunkFailedError('c1', 3, 'no disk'),
    'REPRISE_CHUNK_FAILED',
    409,
    'Chunk c1 failed with exit code 3: no disk',
  ],
  [
    new core.JobFailedError('j1', 'stopped', 'Too bad.'),
    'REPRISE_JOB_FAILED',
    409,
    "The job 'j1' is stopped: Too bad.",
  ],
  [new core.RequestError('REPRISE_UNAUTHENTICATED', 'no'), 'REPRISE_UNAUTHENTICATED', 401, 'no'],
  [new core.RequestError('REPRISE_FORBIDDEN', 'no'), 'REPRISE_FORBIDDEN', 403, 'no'],
  [new core.RequestError('REPRISE_METHOD_NOT_ALLOWED', 'no'), 'REPRISE_METHOD_NOT_ALLOWED', 405, 'no'],
  [new core.RequestError('REPRISE_UNSUPPORTED_MEDIA', 'no'), 'REPRISE_UNSUPPORTED_MEDIA', 415, 'no'],
  [new core.RequestError('REPRISE_RATE_LIMITED', 'no'), 'REPRISE_RATE_LIMITED', 429, 'no'],
  [new core.RequestError('REPRISE_NOT_RETRYABLE', 'no'), 'REPRISE_NOT_RETRYABLE', 409, 'no'],
  [new core.RequestError('REPRISE_FEATURE_OFF', 'no'), 'REPRISE_FEATURE_OFF', 403, 'no'],
  [new core.RequestError('REPRISE_STORE_UNREACHABLE', 'no'), 'REPRISE_STORE_UNREACHABLE', 502, 'no'],
  [new core.RequestError('REPRISE_QUEUE_FAILED', 'no'), 'REPRISE_QUEUE_FAILED', 502, 'no'],
  [new core.RequestError('REPRISE_INTERNAL', 'no'), 'REPRISE_INTERNAL', 500, 'no'],
  [new core.RequestError('REPRISE_UNREACHABLE', 'no'), 'REPRISE_UNREACHABLE', 503, 'no'],
  [new core.TimedOutError('too long'), 'REPRISE_TIMED_OUT', 504, 'too long'],
]

describe('each class', () => {
  test.each(made)('%s', (error, code, status, message) => {
    expect(error).toBeInstanceOf(RepriseError)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ code, status, name: error.constructor.name })
    expect(error.message).toContain(message)
    expect(isRepriseError(error)).toBe(true)
    expect(isRepriseError(error, code)).toBe(true)
  })

  test('together they cover the registry, each code once', () => {
    expect(made.map(([, code]) => code).sort()).toEqual(Object.keys(ERRORS).sort())
  })

  test('an error that has a cause keeps it', () => {
    const cause = new Error('disk I/O error')
    expect(new core.StoreFailedError('broken', { cause }).cause).toBe(cause)
    expect(new core.StoreFullError({ cause }).cause).toBe(cause)
    expect(new InvalidError('bad', { cause }).cause).toBe(cause)
  })

  test('TaskFailedError tells how the task ended', () => {
    expect(new core.TaskFailedError('t1', 'cancelled', 'by ann').taskStatus).toBe('cancelled')
  })
})

describe('the registry', () => {
  test.each(Object.entries(ERRORS))('%s has a status and a title', (code, { status, title }) => {
    expect(code).toMatch(/^REPRISE_[A-Z_]+$/)
    expect([400, 401, 403, 404, 405, 409, 410, 413, 415, 429, 500, 502, 503, 504, 507]).toContain(status)
    expect(title).toMatch(/^[A-Z].*[^.]$/)
  })
})

describe('isRepriseError', () => {
  test('tells one code from another', () => {
    expect(isRepriseError(new NotFoundError('task', 't1'), 'REPRISE_CONFLICT')).toBe(false)
  })

  test('knows errors of another copy of the package', async () => {
    vi.resetModules()
    const second = await import('../../src/model/errors.ts')
    const error: unknown = new second.NotFoundError('task', 't1')
    expect(error).not.toBeInstanceOf(RepriseError)
    expect(isRepriseError(error, 'REPRISE_NOT_FOUND')).toBe(true)
    expect(second.isRepriseError(new InvalidError('bad'), 'REPRISE_INVALID')).toBe(true)
  })

  const refuse = (): never => {
    throw new Error('no')
  }

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'REPRISE_INVALID'],
    ['another error', Object.assign(new Error('x'), { code: 'REPRISE_INVALID' })],
    ['a function', () => 0],
    ['a proxy that throws', new Proxy({}, { has: refuse, get: refuse })],
  ])('is false for %s', (_, value) => {
    expect(isRepriseError(value)).toBe(false)
    expect(isRepriseError(value, 'REPRISE_INVALID')).toBe(false)
  })
})
