// The state machine of a durable job, without a store.

import { describe, expect, test } from 'vitest'
import {
  type ActionName,
  advanced,
  cancelled,
  DEFAULT_POOL,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  type JobDocument,
  measured,
  progressOf,
  resumed,
  retried,
} from '../../src/index.ts'

const NEW: JobDocument = {
  id: 'j1',
  name: 'film',
  tenant: DEFAULT_TENANT,
  action: 'render' as ActionName,
  pool: DEFAULT_POOL,
  settings: DEFAULT_SETTINGS,
  labels: {},
  priority: 5,
  source: { kind: 'range', from: 0, step: 1 },
  total: 100,
  received: 100,
  blocks: [],
  concurrency: null,
  perSecond: null,
  tolerance: { kind: 'count', count: 2 },
  onFailure: 'stop',
  final: null,
  status: 'running',
  because: null,
  startedAt: 0,
  endedAt: null,
  changes: [],
  fed: 0,
  open: '',
  succeeded: 0,
  failed: 0,
  forgiven: 0,
  retry: null,
  speed: { perSecond: 0, at: 0, ended: 0 },
  round: 1,
  owner: null,
  beats: 0,
  beatMs: 0,
}
const FINAL = { action: 'join' as ActionName, pool: DEFAULT_POOL, settings: DEFAULT_SETTINGS }
const BY = { at: 9, actor: 'operator:ann', reason: 'mended' }
const job = (change: Partial<JobDocument>): JobDocument => ({ ...NEW, ...change })
const next = (change: Partial<JobDocument>, final: 'succeeded' | 'failed' | null = null) =>
  advanced(job(change), 5, final).status

describe('E6: a job goes on by itself', () => {
  test('to its end when all chunks have ended, and not before', () => {
    expect(next({ fed: 100, succeeded: 99, open: '7' })).toBe('running')
    expect(next({ fed: 100, succeeded: 98, failed: 2 })).toBe('succeeded')
    expect(next({ fed: 100, succeeded: 98, failed: 2, final: FINAL })).toBe('finishing')
    expect(next({ fed: 60, received: 60, total: null, succeeded: 60, source: { kind: 'given' } })).toBe('running')
  })

  test('a job of no chunks has succeeded', () => {
    expect(next({ total: 0, received: 0 })).toBe('succeeded')
  })

  test('more failures than it tolerates stop it, once what is open has ended', () => {
    expect(next({ fed: 20, failed: 2, succeeded: 18 })).toBe('running')
    expect(next({ fed: 20, failed: 3, succeeded: 16, open: '19' })).toBe('stopping')
    expect(next({ fed: 20, failed: 3, succeeded: 17 })).toBe('stopped')
    expect(next({ fed: 20, failed: 4, succeeded: 16, onFailure: 'continue' })).toBe('running')
    expect(next({ fed: 100, failed: 4, succeeded: 96, onFailure: 'continue' })).toBe('failed')
  })

  test('a share counts of all chunks', () => {
    const tolerance = { kind: 'share', share: 0.05 } as const
    expect(next({ fed: 20, failed: 5, succeeded: 15, tolerance })).toBe('running')
    expect(next({ fed: 20, failed: 6, succeeded: 14, tolerance })).toBe('stopped')
    // Each percentage means what it says: 0.29 * 100 is 28.999999999999996.
    for (let percent = 0; percent <= 100; percent++) {
      const share = { kind: 'share', share: percent / 100 } as const
      expect(next({ fed: 100, failed: percent, succeeded: 100 - percent, tolerance: share })).toBe('succeeded')
    }
  })

  test('the end of the final step is the end of the job', () => {
    const done = { fed: 100, succeeded: 100, final: FINAL, status: 'finishing' } as const
    expect([next(done), next(done, 'succeeded'), next(done, 'failed')]).toEqual(['finishing', 'succeeded', 'failed'])
  })
})

describe('E6: an operator', () => {
  test('resumes: failures so far are accepted', () => {
    const stopped = job({ fed: 20, failed: 3, succeeded: 17, status: 'stopped' })
    const going = resumed(stopped, BY)
    expect(going).toMatchObject({ status: 'running', forgiven: 3, changes: [{ ...BY, what: 'resumed' }] })
    expect(advanced(going ?? stopped, 10, null).status).toBe('running')
    expect(resumed(job({}), BY)).toBeNull()
  })

  test('retries: the failed chunks, in a new round if the job had ended', () => {
    const failed = job({ fed: 100, failed: 9, succeeded: 91, status: 'failed', endedAt: 8 })
    expect(retried(failed, BY)).toMatchObject({ status: 'running', round: 2, retry: { next: 0, redriving: '' } })
    expect(retried(job({ failed: 0 }), BY)).toBeNull()
    expect(retried(job({ failed: 1, status: 'cancelled' }), BY)).toBeNull()
  })

  test('cancels what has not ended', () => {
    expect(cancelled(job({ open: '1' }), BY)).toMatchObject({ status: 'cancelling', because: 'mended' })
    expect(next({ status: 'cancelling', open: '1' })).toBe('cancelling')
    expect(next({ status: 'cancelling' })).toBe('cancelled')
    expect(cancelled(job({ status: 'succeeded' }), BY)).toBeNull()
  })
})

test('E6: progress has an estimate, from the speed of late', () => {
  const first = job({ fed: 50, succeeded: 20, open: '20-49' })
  const then = { ...first, speed: measured(first, 2_000) }
  expect(then.speed).toEqual({ perSecond: 10, at: 2_000, ended: 20 })
  expect(progressOf(then)).toMatchObject({ open: 30, fraction: 0.2, perSecond: 10, leftMs: 8_000 })
  // Ten seconds of nothing halve it.
  expect(measured(then, 12_000).perSecond).toBe(5)
  expect(progressOf({ ...then, total: null })).toMatchObject({ fraction: null, leftMs: null })
})
