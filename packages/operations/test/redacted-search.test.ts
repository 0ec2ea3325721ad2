// Queries find what their caller may see: nothing that rules hide can be told from what is found. On both engines, by every way
// that a query takes.

import {
  createRedactor,
  decideFailed,
  describeFailure,
  type Engine,
  encodeJson,
  failed,
  retryToken,
  tenantId,
  workerId,
} from '@reprise/core'
import { afterAll, expect, test } from 'vitest'
import type { Caller } from '../src/access/caller.ts'
import { ROLES, type Role } from '../src/access/scopes.ts'
import { perform } from '../src/run.ts'
import { ALL_OPERATIONS, type OperationName } from '../src/table.ts'
import { contextOn, openStore, STORES, spec, stopRedis } from './events/fixture.ts'

afterAll(stopRedis)

const SECRET = 'hunter2hunter2'
const WORKER = 'worker-on-host-7'
const RULES = createRedactor({ keys: ['dedupeKey'] })

const callerOf = (role: Role, tenants: Caller['tenants'] = null): Caller => ({
  kind: 'token',
  actor: `token:${role}`,
  name: role,
  scopes: new Set(ROLES[role]),
  tenants,
})

/** One task with a secret in each text that queries look at: it is dead, and another runs. */
async function seeded(engine: Engine): Promise<void> {
  const secret = { labels: { api_key: SECRET, [`token=${SECRET}`]: 'x' }, dedupeKey: SECRET }
  await engine.submit([spec('t1', { ...secret, retryToken: retryToken(`password=${SECRET}`) }), spec('t2')])
  const worker = workerId(WORKER)
  const pools = [spec('t1').pool]
  const around = { host: 'host-7', version: 'build-77', runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
  const { claimed } = await engine.claim({ worker, epoch, pools, actions: null, limit: 2, leaseMs: 60_000 })
  const one = claimed.find(({ taskId }) => taskId === 't1')
  if (one === undefined) throw new Error('Nothing was claimed.')
  const thrown = Object.assign(new TypeError(`api_key=${SECRET} is wrong`), { code: `secret=${SECRET}` })
  const failure = describeFailure(thrown, one.snapshot.action)
  const { settings } = one.snapshot
  const log = { lines: [{ at: 1, level: 'info', text: `api_key=${SECRET} was used` }], dropped: 0 } as const
  await engine.renew([{ ...one, progress: null, log }], 60_000)
  await engine.settle([
    failed(one, failure, decideFailed({ settings, spent: one, deadlineAt: null, failure, now: 0, roll: 0 })),
  ])
}

async function storeWithSecrets(kind: (typeof STORES)[number]) {
  const engine = await openStore(kind)
  await seeded(engine)
  const context = await contextOn(engine, { redaction: RULES })
  const call = (caller: Caller, name: OperationName, input: object): Promise<unknown> =>
    perform(context, caller, [name, ALL_OPERATIONS[name]], input, new AbortController().signal)
  const found = async (caller: Caller, q: string): Promise<readonly string[]> => {
    const { items } = (await call(caller, 'listTasks', { q })) as { readonly items: readonly { readonly id: string }[] }
    return items.map(({ id }) => id).sort()
  }
  const exported = async (caller: Caller, q: string): Promise<readonly unknown[]> => {
    const tasks: unknown[] = []
    for await (const task of (await call(caller, 'exportTasks', { q })) as AsyncIterable<unknown>) tasks.push(task)
    return tasks
  }
  return { call, found, exported }
}

/** Each would find the secret, whole or letter by letter. */
const GUESSES = [
  SECRET,
  'hunter2',
  '"api_key=h"',
  `"token=${SECRET}"`,
  'label.api_key:h*',
  `label.api_key:${SECRET}`,
  `label:token=${SECRET}=x`,
  'code:secret=h*',
  'retryToken:password=h*',
  'dedupeKey:h*',
]

test.each(STORES)('intruder 14: a query finds nothing by what its caller may not see (%s)', async (kind) => {
  const { call, found, exported } = await storeWithSecrets(kind)
  const viewer = callerOf('viewer')
  for (const q of GUESSES) {
    expect([q, await found(viewer, q)]).toEqual([q, []])
    expect([q, await exported(viewer, q)]).toEqual([q, []])
    // Nor by leaving it out.
    expect([q, await found(viewer, `-${q}`)]).toEqual([q, ['t1', 't2']])
  }
  expect(JSON.stringify(await call(viewer, 'getTask', { id: 't1' }))).not.toContain(SECRET)
  expect(JSON.stringify(await exported(viewer, 'id:t1'))).not.toContain(SECRET)
})

test.each(STORES)('the log lines of a task are shown to those who see the task, without secrets (%s)', async (kind) => {
  const { call } = await storeWithSecrets(kind)
  const lines = [{ at: 1, level: 'info', text: 'api_key=[redacted] was used' }]
  expect(await call(callerOf('viewer'), 'taskLogs', { id: 't1' })).toEqual({
    items: [{ attempt: 1, lines, dropped: 0 }],
    next: null,
  })
  expect(await call(callerOf('viewer'), 'taskLogs', { id: 't2' })).toEqual({ items: [], next: null })
  const others = callerOf('viewer', [tenantId('acme')])
  await expect(call(others, 'taskLogs', { id: 't1' })).rejects.toMatchObject({ code: 'REPRISE_NOT_FOUND' })
})

test.each(STORES)('it finds what its caller sees (%s)', async (kind) => {
  const { found } = await storeWithSecrets(kind)
  const viewer = callerOf('viewer')
  for (const q of [
    'label.api_key:[redacted]',
    '"api_key=[redacted] is wrong"',
    'dedupeKey:[redacted]',
    'code:secret*',
  ]) {
    expect([q, await found(viewer, q)]).toEqual([q, ['t1']])
  }
  for (const q of ['worker:worker-*', 'version:build-77', 'host:host-7']) {
    expect(await found(viewer, q)).toEqual(['t1', 't2'])
  }
})

test.each(STORES)('who may have everything shown finds everything (%s)', async (kind) => {
  const { found } = await storeWithSecrets(kind)
  const [admin, viewer] = [callerOf('admin'), callerOf('viewer')]
  expect(await found(admin, 'label.api_key:hunter2*')).toEqual(['t1'])
  // The same question of two callers at the same moment has two answers.
  const [all, none] = await Promise.all([found(admin, SECRET), found(viewer, SECRET)])
  expect([all, none]).toEqual([['t1'], []])
})

test.each(STORES)(
  'names of workers are hidden from callers limited to tenants, and not found by them (%s)',
  async (kind) => {
    const { call, found, exported } = await storeWithSecrets(kind)
    const own = callerOf('admin', [tenantId('default')])
    expect(await found(own, '')).toEqual(['t1', 't2'])
    expect(await found(own, `worker:${WORKER}`)).toEqual([])
    for (const q of ['worker:worker-*', 'version:build-77', 'version:*', 'host:host-7', 'host:*']) {
      expect(await found(own, q)).toEqual([])
    }
    for (const shown of [
      await call(own, 'getTask', { id: 't2' }),
      await call(own, 'listExecutions', { id: 't2' }),
      await call(own, 'explainTask', { id: 't2' }),
      await exported(own, 'id:t2'),
    ]) {
      expect(JSON.stringify(shown)).not.toMatch(/host-7|build-77/)
    }
  },
)

test('intruder 14: with however many tenants, others show neither in cursors nor in what was looked at', async () => {
  const engine = await openStore()
  const tenants = Array.from({ length: 20 }, (_, index) => tenantId(`own-${index}`))
  for (const tenant of [...tenants, tenantId('other')]) {
    await engine.submit([spec(`${tenant}-1`, { tenant }), spec(`${tenant}-2`, { tenant })])
  }
  const context = await contextOn(engine)
  const caller = callerOf('viewer', tenants)
  const list = async (input: object) =>
    (await perform(context, caller, ['listTasks', ALL_OPERATIONS.listTasks], input, new AbortController().signal)) as {
      readonly items: readonly { readonly tenant: string }[]
      readonly next: string | null
      readonly scanned: number
    }
  const all = await list({ limit: 1_000 })
  expect([all.items.length, all.scanned, all.next]).toEqual([40, 40, null])
  const paged: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await list({ limit: 7, ...(cursor === undefined ? {} : { cursor }) })
    paged.push(...page.items.map(({ tenant }) => tenant))
    expect(page.items.length === 7 || page.next === null).toBe(true)
    cursor = page.next
  }
  expect(paged.filter((tenant) => tenant === 'other')).toEqual([])
  expect(paged).toHaveLength(40)
})

test('a task that is too long to be looked at whole keeps nobody from exporting it and others', async () => {
  const engine = await openStore()
  const payload = encodeJson(
    Array.from({ length: 510_000 }, () => 0),
    'payload',
  )
  await engine.submit([spec('long', { payload }), spec('short')])
  const context = await contextOn(engine, { redaction: RULES })
  for (const tenants of [null, [tenantId('default')]]) {
    const caller = callerOf('viewer', tenants)
    const entry = ['exportTasks', ALL_OPERATIONS.exportTasks] as const
    const lines = (await perform(context, caller, entry, {}, new AbortController().signal)) as AsyncIterable<{
      readonly snapshot: { readonly id: string }
    }>
    const ids: string[] = []
    for await (const { snapshot } of lines) ids.push(snapshot.id)
    expect(ids.sort()).toEqual(['long', 'short'])
  }
})
