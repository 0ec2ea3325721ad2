// Notes on tasks and failure groups: shown with their subject, for those who may see it, on both engines.

import { addNote, decideFailed, describeFailure, failed, removeNote, tenantId, type WorkerId } from '@reprise/core'
import { onTheClock } from '@reprise/orchestrator'
import { afterAll, expect, test } from 'vitest'
import { type Caller, localCaller } from '../src/access/caller.ts'
import { notesOnTask } from '../src/notes.ts'
import { perform } from '../src/run.ts'
import { ALL_OPERATIONS, type OperationName } from '../src/table.ts'
import { contextOn, openStore, SkippingClock, STORES, spec, stopRedis } from './events/fixture.ts'

afterAll(stopRedis)

const ANN = localCaller('operator:ann')
const ACME: Caller = { ...ANN, kind: 'token', actor: 'token:acme', tenants: [tenantId('acme')] }

async function storeWithCaller(kind: (typeof STORES)[number]) {
  const engine = await openStore(kind)
  const context = await contextOn(engine)
  const call = (caller: Caller, name: OperationName, input: object): Promise<never> =>
    perform(context, caller, [name, ALL_OPERATIONS[name]], input, new AbortController().signal) as Promise<never>
  return { engine, call }
}

test.each(STORES)('a note on a task is shown wherever the task is, and is in the journal (%s)', async (kind) => {
  const { engine, call } = await storeWithCaller(kind)
  await engine.submit([spec('t1'), spec('t2')])
  const note = await call(ANN, 'addNote', { task: 't1', text: 'asked billing' })
  expect(note).toMatchObject({ text: 'asked billing', by: 'operator:ann' })
  expect(await call(ANN, 'getTask', { id: 't1' })).toMatchObject({ notes: [note] })
  expect(await call(ANN, 'explainTask', { id: 't1' })).toMatchObject({ task: { notes: [note] } })
  expect(await call(ANN, 'getTask', { id: 't2' })).toMatchObject({ notes: [] })
  const { id } = note as { readonly id: string }
  const { entries } = await engine.journal.read({})
  // Entries of two partitions may be of the same millisecond: which comes first is open.
  expect(entries.toSorted((one, other) => one.type.localeCompare(other.type))).toMatchObject([
    { type: 'note', taskId: 't1', actor: 'operator:ann', reason: 'asked billing', data: { note: id } },
    { type: 'operation.performed', taskId: null, actor: 'operator:ann', data: { operation: 'addNote' } },
  ])
  expect(await call(ANN, 'removeNote', { id })).toBeNull()
  expect(await call(ANN, 'getTask', { id: 't1' })).toMatchObject({ notes: [] })
  await expect(call(ANN, 'removeNote', { id })).rejects.toMatchObject({ code: 'REPRISE_NOT_FOUND' })
})

test.each(STORES)('a note on a failure group is shown in the list of groups (%s)', async (kind) => {
  const { engine, call } = await storeWithCaller(kind)
  const worker = 'w1' as WorkerId
  const { pool } = spec('t1')
  await engine.submit([spec('t1')])
  const registration = { worker, pools: [pool], actions: null, host: 'h', version: '1', runtimes: [], endpoint: null }
  const { epoch } = await engine.register(registration)
  const { claimed } = await engine.claim({ worker, epoch, pools: [pool], actions: null, limit: 1, leaseMs: 15_000 })
  const [one] = claimed
  if (one === undefined) throw new Error('Nothing was claimed.')
  const failure = describeFailure(new TypeError('no such invoice'), one.snapshot.action)
  const { settings } = one.snapshot
  const decision = decideFailed({ settings, spent: one, deadlineAt: null, failure, now: 0, roll: 0 })
  await engine.settle([failed(one, failure, decision)])

  const { fingerprint } = failure
  const note = await call(ANN, 'addNote', { fingerprint, text: 'fixed in 2.3' })
  expect(await call(ANN, 'listFailureGroups', {})).toMatchObject({ items: [{ fingerprint, notes: [note] }] })
  await expect(call(ANN, 'addNote', { fingerprint: 'nonsense', text: 'x' })).rejects.toMatchObject({
    code: 'REPRISE_NOT_FOUND',
  })
})

test('intruder 7: a note is for those who may see its subject', async () => {
  const { engine, call } = await storeWithCaller('sqlite')
  await engine.submit([spec('theirs', { tenant: tenantId('other') }), spec('own', { tenant: tenantId('acme') })])
  const notFound = { code: 'REPRISE_NOT_FOUND' }
  const { id } = (await call(ANN, 'addNote', { task: 'theirs', text: 'secret' })) as { readonly id: string }
  await expect(call(ACME, 'addNote', { task: 'theirs', text: 'x' })).rejects.toMatchObject(notFound)
  await expect(call(ACME, 'removeNote', { id })).rejects.toMatchObject(notFound)
  await expect(call(ACME, 'addNote', { fingerprint: 'any', text: 'x' })).rejects.toMatchObject({
    code: 'REPRISE_FORBIDDEN',
  })
  expect(await call(ACME, 'addNote', { task: 'own', text: 'mine' })).toMatchObject({ by: 'token:acme' })
})

test('notes are bounded in length and number, and name one subject', async () => {
  const { engine, call } = await storeWithCaller('sqlite')
  await engine.submit([spec('t1')])
  const invalid = { code: 'REPRISE_INVALID' }
  await expect(call(ANN, 'addNote', { task: 't1', text: 'x'.repeat(2_001) })).rejects.toMatchObject(invalid)
  await expect(call(ANN, 'addNote', { task: 't1', fingerprint: 'f', text: 'x' })).rejects.toMatchObject(invalid)
  await expect(call(ANN, 'addNote', { text: 'x' })).rejects.toMatchObject(invalid)
  for (let count = 0; count < 50; count++) await call(ANN, 'addNote', { task: 't1', text: `note ${count}` })
  await expect(call(ANN, 'addNote', { task: 't1', text: 'one more' })).rejects.toMatchObject({
    code: 'REPRISE_CONFLICT',
  })
})

test.each(STORES)(
  'a note whose author died before the journal heard of it is shown, and told later (%s)',
  async (kind) => {
    const clock = new SkippingClock()
    const engine = await openStore(kind, clock)
    await engine.submit([spec('t1')])
    const gone = (): Promise<void> => Promise.reject(new Error('The process died.'))
    const cut = { collection: engine.collection.bind(engine), journal: { ...engine.journal, append: gone } }
    const note = { id: 'n1', subject: 'task:t1', text: 'asked billing', by: 'operator:ann', at: await engine.now() }
    await expect(addNote(cut, note)).rejects.toThrow('The process died.')
    const told = async () => (await engine.journal.read({})).entries.map(({ type, reason }) => [type, reason])
    const shown = async () => notesOnTask(await contextOn(engine), { id: 't1', acceptedAt: 0 })
    expect(await shown()).toMatchObject([{ text: 'asked billing' }])
    expect(await told()).toEqual([])
    clock.skip(11_000)
    await onTheClock(engine)
    await onTheClock(engine)
    expect(await told()).toEqual([['note', 'asked billing']])
    // The same for a removal: hidden at once, told later, then gone.
    await expect(removeNote(cut, 'n1', 'operator:bob')).rejects.toThrow('The process died.')
    expect(await shown()).toEqual([])
    clock.skip(11_000)
    await onTheClock(engine)
    expect((await told()).slice(1)).toEqual([['note', 'A note was removed.']])
    expect((await engine.collection({ name: 'notes', indexes: {} }).list()).items).toEqual([])
  },
)

test.each(STORES)("the bytes of notes are their tenant's, until the notes are removed (%s)", async (kind) => {
  const engine = await openStore(kind)
  const clock = new SkippingClock()
  const context = await contextOn(engine, { clock, tenantRules: { acme: { bytes: 5_000 } } })
  const call = (caller: Caller, name: OperationName, input: object): Promise<never> =>
    perform(context, caller, [name, ALL_OPERATIONS[name]], input, new AbortController().signal) as Promise<never>
  await engine.submit([spec('t1', { tenant: tenantId('acme') })])
  const text = 'x'.repeat(2_000)
  const [first] = [await call(ACME, 'addNote', { task: 't1', text }), await call(ACME, 'addNote', { task: 't1', text })]
  const full = { code: 'REPRISE_TENANT_BYTES_FULL' }
  await expect(call(ACME, 'addNote', { task: 't1', text })).rejects.toMatchObject(full)
  // Another server counts what is stored.
  const other = await contextOn(engine, { tenantRules: { acme: { bytes: 5_000 } } })
  const again = perform(
    other,
    ACME,
    ['addNote', ALL_OPERATIONS.addNote],
    { task: 't1', text },
    new AbortController().signal,
  )
  await expect(again).rejects.toMatchObject(full)
  await call(ACME, 'removeNote', { id: (first as { readonly id: string }).id })
  clock.skip(2_000)
  await call(ACME, 'addNote', { task: 't1', text })
})
