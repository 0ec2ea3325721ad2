// A tenant hears of its failures a few times an hour, however often it heard of some before.

import { DEFAULT_TENANT, type Document, VirtualClock } from '@reprise/core'
import { expect, test } from 'vitest'
import type { AlertNotice } from '../../src/channels/messages.ts'
import { noticeTenants } from '../../src/channels/tenant-notices.ts'
import { spec } from '../events/fixture.ts'
import { died, storeWithCaller } from '../store-with-caller.ts'

const HOUR = 3_600_000

const firing = (alert: string): AlertNotice => ({
  alert,
  episode: 1,
  rule: 'dead_letters',
  what: 'firing',
  count: 1,
  notice: `${alert}.1.1`,
  severity: 'normal',
  says: '',
  value: 1,
  firedAt: 0,
  runbook: null,
  action: 'render',
})

test('the bound of an hour holds after a thousand notices, and those that are over do not stay for ever', async () => {
  const clock = new VirtualClock(1_900_000_000_000)
  const { engine } = await storeWithCaller('sqlite', clock, { clock })
  await died(engine, [spec('a')], 'CODE_A')
  const notices = engine.collection<Document & Readonly<Record<string, unknown>>>({
    name: 'tenant-notices',
    indexes: { tenant: ({ tenant }) => String(tenant), episode: ({ episode }) => String(episode), untold: () => null },
  })
  const old = { tenant: DEFAULT_TENANT, status: 'recovered', action: 'render', tasks: 1, at: clock.now(), untold: [] }
  await Promise.all(
    Array.from({ length: 1_001 }, (_, at) => notices.insert({ ...old, id: `old${at}`, episode: `old${at}` })),
  )
  await clock.advance(3 * HOUR)
  expect(await noticeTenants(engine, firing('al-1'), 1)).toBe(1)
  expect(await noticeTenants(engine, firing('al-2'), 1)).toBe(0)
  const { items } = await notices.list({ limit: 1_000 })
  expect(items.length).toBeLessThan(10)
})
