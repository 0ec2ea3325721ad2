// Text that must come back as it went in: NUL, lone surrogates, emoji, right-to-left marks, large numbers as strings.

import { decodeJson, describeFailure, encodeJson, retryToken, taskId, tenantId } from '@reprise/core'
import { expect } from 'vitest'
import { ACTION, BY, pool, retryIn } from './fixture.ts'
import { subject } from './subject.ts'

const NASTY = [
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff tail',
  '👩‍🚀🏽',
  '\u202eabc',
  'Ω≈ç√',
  "'; DROP TABLE tasks; --",
  '$\u007bx}',
  '\\',
  '\r\n\t',
  '\ufeff',
  ' ',
]
const WELL_FORMED = NASTY.filter((text) => text.isWellFormed())

export const text = subject('text', (check) => {
  check('fault 23: payloads round-trip', async (store) => {
    const payload = { NASTY, big: '9223372036854775807', small: '-9223372036854775808', safe: 9_007_199_254_740_991 }
    await store.submit({ id: 'a', payload })
    const lease = await (await store.worker()).claimOne()
    expect(lease.snapshot.payload).toBe(JSON.stringify(payload))
    expect(decodeJson(lease.snapshot.payload)).toEqual(payload)
  })

  check('results round-trip', async (store) => {
    const lease = await store.running({ id: 'a' })
    await store.engine.settle([{ kind: 'succeeded', ref: lease, result: encodeJson(NASTY, 'result') }])
    expect((await store.task('a')).state).toMatchObject({ result: JSON.stringify(NASTY) })
  })

  check('a payload of a megabyte round-trips', async (store) => {
    const payload = 'é'.repeat(500_000)
    await store.submit({ id: 'a', payload })
    expect((await store.task('a')).payload).toBe(`"${payload}"`)
  })

  check('labels, idempotency keys and ids round-trip', async (store) => {
    const labels = Object.fromEntries(WELL_FORMED.map((value, index) => [`label ${index} ✓`, value]))
    await store.submit({
      id: "it's 100% ✓ 👩‍🚀",
      labels: { ...labels, __proto: 'x', constructor: 'y' },
      dedupeKey: 'k\u0000é',
      retryToken: retryToken('r ✓'),
    })
    const task = await store.task("it's 100% ✓ 👩‍🚀")
    expect(task.labels).toEqual({ ...labels, __proto: 'x', constructor: 'y' })
    expect(task).toMatchObject({ dedupeKey: 'k\u0000é', retryToken: 'r ✓' })
    expect(
      await store.submit({ id: 'other', dedupeKey: 'k\u0000è' }, { id: 'same', dedupeKey: 'k\u0000é' }),
    ).toMatchObject([{ outcome: 'accepted' }, { outcome: 'duplicate' }])
  })

  check('names that look alike are kept apart', async (store) => {
    const names = ['a', 'A', 'a:b', 'a%3Ab', 'é', 'e\u0301', '1', '01', 'toString']
    const results = await store.submit(...names.map((id) => ({ id })))
    expect(results.every(({ outcome }) => outcome === 'accepted')).toBe(true)
    expect((await store.engine.counts()).accepted).toBe(9)
  })

  check('lanes whose names could run together are kept apart', async (store) => {
    await store.submit(
      { id: 'x', pool: pool('a:b'), tenant: tenantId('c') },
      { id: 'y', pool: pool('a'), tenant: tenantId('b:c') },
    )
    expect((await store.engine.lanes()).items).toHaveLength(2)
  })

  check('failures round-trip, whatever their message says', async (store) => {
    const lease = await store.running({ id: 'a' })
    const cause = describeFailure(
      Object.assign(new Error(WELL_FORMED.join('|')), { code: 'É\u0000', hint: NASTY }),
      ACTION,
    )
    await store.engine.settle([{ kind: 'failed', ref: lease, failure: cause, decision: retryIn(0) }])
    expect((await store.engine.execution(lease.taskId, 1))?.failure).toEqual(cause)
    expect((await store.journal('a'))[0]?.data.code).toBe('É\u0000')
  })

  check('reasons of operators round-trip', async (store) => {
    await store.submit({ id: 'a' })
    const reason = WELL_FORMED.join('|')
    await store.engine.change({ kind: 'cancel', select: { ids: [taskId('a')] }, by: { ...BY, reason } })
    expect((await store.journal('a'))[0]?.reason).toBe(reason)
  })

  check('documents round-trip', async (store) => {
    const notes = store.engine.collection<{ readonly id: string; readonly lines: readonly string[] }>({
      name: 'notes ✓',
      indexes: { first: ({ lines }) => lines[0] ?? null },
    })
    const lines = ['k\u0000é', ...NASTY]
    await notes.insert({ id: 'n ✓', lines })
    expect((await notes.get('n ✓'))?.document.lines).toEqual(lines)
    expect((await notes.find({ index: 'first', value: 'k\u0000é' })).items).toHaveLength(1)
  })
})
