// Long lists leave turns to others: whatever somebody planted, no list is shown in one go.

import {
  actionName,
  type Engine,
  type FailureGroup,
  type Fingerprint,
  type JournalPage,
  type LogLine,
  type TaskId,
  tenantId,
} from '@reprise/core'
import { expect, test } from 'vitest'
import { type Caller, localCaller } from '../src/access/caller.ts'
import { perform } from '../src/run.ts'
import { ALL_OPERATIONS, type OperationName } from '../src/table.ts'
import type { Redaction } from '../src/views.ts'
import { contextOn, note, openStore, spec } from './events/fixture.ts'
import { WorkClock } from './work-clock.ts'

/** What looking at one text or value takes, of the 20 ms that nobody may hold the loop for. */
const LOOK_MS = 2
const HELD_MS_MAX = 20

const ANN = localCaller('operator:ann')
const ACME: Caller = { ...ANN, kind: 'token', actor: 'token:acme', tenants: [tenantId('acme')] }

async function aStore(change: (engine: Engine) => Partial<Engine> = () => ({})) {
  const clock = new WorkClock()
  const looked = <T>(value: T): T => {
    clock.work(LOOK_MS)
    return value
  }
  const redaction: Redaction = { value: looked, text: looked, paced: async (json) => looked(json) }
  const store = await openStore('sqlite')
  const engine = Object.assign(Object.create(store) as Engine, change(store))
  const context = await contextOn(engine, { clock, redaction })
  const call = (caller: Caller, name: OperationName, input: object): Promise<never> =>
    perform(context, caller, [name, ALL_OPERATIONS[name]], input, new AbortController().signal) as Promise<never>
  return { store, clock, call }
}

const groupOf = (number: number): FailureGroup => ({
  fingerprint: `f${number}` as Fingerprint,
  count: 1,
  firstAt: 1,
  lastAt: 1,
  lastTask: 't' as TaskId,
  action: actionName('render'),
  sample: {
    code: 'E',
    name: 'Error',
    message: '4 4 4',
    stack: null,
    details: null,
    reason: 'unknown',
    retriable: false,
    fingerprint: `f${number}` as Fingerprint,
  } as FailureGroup['sample'],
})

test('a hundred failure groups are not redacted in one go', async () => {
  const items = Array.from({ length: 100 }, (_, number) => groupOf(number))
  const { clock, call } = await aStore(() => ({
    failureGroups: async (query) => ({ items: items.slice(0, query?.limit), next: null }),
  }))
  const page = (await call(ANN, 'listFailureGroups', { limit: 100 })) as { items: unknown[] }
  expect(page.items.length).toBeGreaterThan(10)
  expect(clock.longestMs).toBeLessThanOrEqual(HELD_MS_MAX)
})

test('a page of failure groups is bounded by its bytes', async () => {
  const big = { ...groupOf(1), sample: { ...groupOf(1).sample, stack: 's'.repeat(16_000) } }
  const { call } = await aStore(() => ({
    failureGroups: async (query) => ({ items: Array.from({ length: query?.limit ?? 0 }, () => big), next: 'more' }),
  }))
  const page = (await call(ANN, 'listFailureGroups', { limit: 1_000 })) as { items: unknown[]; next: string }
  expect(JSON.stringify(page).length).toBeLessThan(2_000_000)
  expect(page.next).toBe('more')
})

test('a thousand events are not redacted in one go, for whoever may see some', async () => {
  const { store, clock, call } = await aStore()
  await store.submit([spec('t1', { tenant: tenantId('acme') })])
  await store.journal.append(Array.from({ length: 1_000 }, () => note('4 4 4', { taskId: 't1' as TaskId })))
  for (const caller of [ANN, ACME]) {
    const page = (await call(caller, 'listEvents', { limit: 1_000 })) as Partial<JournalPage> & { items: unknown[] }
    expect(page.items).toHaveLength(1_000)
  }
  expect(clock.longestMs).toBeLessThanOrEqual(HELD_MS_MAX)
})

test('the logs of a task are not redacted in one go', async () => {
  const line: LogLine = { at: 1, level: 'info', text: '4 4 4' }
  const { store, clock, call } = await aStore(() => ({
    logs: async () => [{ attempt: 1, lines: Array.from({ length: 100 }, () => line), dropped: 0 }],
  }))
  await store.submit([spec('t1')])
  const logs = (await call(ANN, 'taskLogs', { id: 't1' })) as { items: { lines: unknown[] }[] }
  expect(logs.items[0]?.lines).toHaveLength(100)
  expect(clock.longestMs).toBeLessThanOrEqual(HELD_MS_MAX)
})
