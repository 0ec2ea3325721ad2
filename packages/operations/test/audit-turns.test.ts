// Looks at the journal that go over many entries leave others their turn: a store in the same process answers without one.

import { type JournalEntryInput, systemClock } from '@reprise/core'
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
] as const)('%s', async (name, input) => {
  const { engine, call } = await storeWithCaller('sqlite', undefined, { clock: systemClock })
  for (let page = 0; page < 8; page++) {
    await engine.journal.append(Array.from({ length: 500 }, (_, at) => entry(`reason ${at}`)))
  }
  while (await sealOnce(engine));
  const { promise, resolve } = Promise.withResolvers<'others'>()
  setImmediate(() => resolve('others'))
  expect(await Promise.race([call(ANN, name, input).then(() => 'the look'), promise])).toBe('others')
})
