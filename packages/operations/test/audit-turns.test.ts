// Looks that go over many entries leave others their turn: a store in the same process answers without one. And a caller has only
// so many of them under way, or their memory would have no bound.

import { type JournalEntryInput, openWorkOrder, stepWorkOrder, systemClock, taskId, workOrderId } from '@reprise/core'
import { sealOnce } from '@reprise/orchestrator'
import { expect, test } from 'vitest'
import { ANN, storeWithCaller } from './store-with-caller.ts'

const entry = (reason: string): JournalEntryInput => ({
  type: 'operation.performed',
  taskId: null,
  attempt: null,
  actor: 'ann',
  reason,
  data: { operation: 'x', input: 'i'.repeat(1_000), before: 'b'.repeat(1_000), after: 'a'.repeat(1_000) },
})

test.each([
  ['verifyAudit', {}],
  ['listAudit', { limit: '1000' }],
  ['getIncident', { since: '1h' }],
  ['getReport', {}],
] as const)('%s leaves others their turn', async (name, input) => {
  const { engine, call } = await storeWithCaller('sqlite', undefined, { clock: systemClock })
  for (let page = 0; page < 8; page++) {
    await engine.journal.append(Array.from({ length: 500 }, (_, at) => entry(`reason ${at}`)))
  }
  while (await sealOnce(engine));
  const { promise, resolve } = Promise.withResolvers<'others'>()
  setImmediate(() => resolve('others'))
  expect(await Promise.race([call(ANN, name, input).then(() => 'the look'), promise])).toBe('others')
})

test.each([
  ['listWorkOrders', { limit: '1000', status: 'all' }],
  ['measureWorkOrders', {}],
] as const)('%s leaves others their turn, however much people wrote', async (name, input) => {
  const { engine, call } = await storeWithCaller('sqlite', undefined, { clock: systemClock })
  const deaths = { firstAt: 1, lastAt: 1, tenants: [], escalation: null, dueAt: null }
  const comments = Array.from({ length: 40 }, () => ({ at: 1, by: 'ann', text: 'x'.repeat(1_000) }))
  for (let at = 0; at < 200; at++) {
    const fingerprint = `f${at}`
    await openWorkOrder(engine, { kind: 'group', fingerprint }, 'work', { ...deaths, tasks: [taskId(`t${at}`)] })
    await stepWorkOrder(engine, workOrderId({ fingerprint }), (one) => ({ ...one, comments }))
  }
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await call(ANN, name, input)
  isOver = true
  // Ten reads of twenty, and each of them takes longer than a turn.
  expect(turns).toBeGreaterThanOrEqual(5)
})

test.each([
  ['verifyAudit', {}],
  ['getIncident', { since: '1h' }],
  ['getReport', {}],
  ['measureWorkOrders', {}],
] as const)('%s waits while its caller has as many long looks under way as one may', async (name, input) => {
  const { context, call } = await storeWithCaller('sqlite', undefined, { clock: systemClock })
  const end = Promise.withResolvers<void>()
  const others = Array.from({ length: 4 }, () => context.searches.run(ANN, () => end.promise))
  let isDone = false
  const looked = call(ANN, name, input).then(() => {
    isDone = true
  })
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(isDone).toBe(false)
  end.resolve()
  await Promise.all([looked, ...others])
})
