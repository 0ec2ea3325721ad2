// Which retention rules are in force: told by the process that removes things, to everybody who may see the whole store.

import { systemClock } from '@reprise/core'
import { createOrchestrator, retentionInForce } from '@reprise/orchestrator'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ACME, ANN, storeWithCaller } from './store-with-caller.ts'

const DAY_MS = 86_400_000

test('an orchestrator tells its retention rules, the one that began last, and tenants hear nothing of them', async () => {
  const { engine, call } = await storeWithCaller('sqlite', systemClock)
  expect(await call(ANN, 'info', {})).toMatchObject({ retention: null })
  const begin = async (retention: Parameters<typeof createOrchestrator>[0]['retention']): Promise<void> => {
    const before = JSON.stringify(await retentionInForce(engine))
    const orchestrator = createOrchestrator({ engine, ...(retention === undefined ? {} : { retention }) })
    await orchestrator.start()
    onTestFinished(() => orchestrator.stop())
    await vi.waitUntil(async () => JSON.stringify(await retentionInForce(engine)) !== before)
  }
  await begin({ succeeded: '7d', journal: '90d', dead: { after: '30d', exportTo: '/nowhere/to/be/seen' } })
  const info = await call(ANN, 'info', {})
  expect(info).toMatchObject({ retention: { succeededMs: 7 * DAY_MS, journalMs: 90 * DAY_MS, deadMs: 30 * DAY_MS } })
  expect(JSON.stringify(info)).not.toContain('/nowhere')
  expect(await call(ACME, 'info', {})).not.toHaveProperty('retention')
  await begin(undefined)
  expect(await call(ANN, 'info', {})).toMatchObject({ retention: {} })
  expect(await retentionInForce(engine)).toEqual({})
})
