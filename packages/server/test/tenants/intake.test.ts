// The limits of tenants on the way in: each holds under a flood, refuses by name, and lets others and repetitions through.

import {
  defineAction,
  type Engine,
  encodeJson,
  isRepriseError,
  NO_POLICIES,
  type PolicyBook,
  type TaskSpec,
  type TenantRules,
  taskSpecOf,
  tenantId,
  VirtualClock,
} from '@reprise/core'
import { localCaller, noteLimitByHand, TenantLimitBook, TenantUse } from '@reprise/operations'
import { expect, onTestFinished, test } from 'vitest'
import { TenantIntake } from '../../src/tenants/intake.ts'
import { TenantSlots } from '../../src/tenants/slots.ts'
import { SQLITE, STORES } from '../api/fixture.ts'

const [acme, blue] = [tenantId('acme'), tenantId('blue')]
const OF_ACME = { tenants: [acme] }
const OF_BLUE = { tenants: [blue] }
const render = defineAction({ name: 'render' })

const spec = (id: string, tenant = acme, payload: unknown = {}): TaskSpec =>
  taskSpecOf({ id, tenant }, encodeJson(payload, 'payload'), { action: render, tenant })

const codes = (outcomes: readonly object[]): readonly string[] =>
  outcomes.map((one) => (isRepriseError(one) ? one.code : 'outcome' in one ? String(one.outcome) : '?'))

const registration = {
  pools: ['default' as never],
  actions: null,
  host: '',
  version: '',
  runtimes: [],
  endpoint: null,
}

async function intakeOf(store: Pick<(typeof STORES)[number], 'open'>, rules: TenantRules) {
  const engine: Engine = await store.open()
  onTestFinished(() => engine.close())
  const clock = new VirtualClock()
  let book: PolicyBook = { ...NO_POLICIES, tenants: rules }
  const policies = { current: () => book }
  const limits = new TenantLimitBook(policies)
  const slots = new TenantSlots({ engine, limits, clock, onError: () => undefined })
  const refused: string[] = []
  const intake = new TenantIntake({
    engine,
    clock,
    limits,
    slots,
    use: new TenantUse(engine, clock),
    onRefused: (limit) => refused.push(limit),
  })
  const change = (next: TenantRules): void => {
    book = { ...NO_POLICIES, version: book.version + 1, tenants: next }
  }
  return { engine, clock, intake, slots, refused, change }
}

const flood = (count: number, from = 0): readonly number[] => Array.from({ length: count }, (_, index) => from + index)

test.each(STORES)(
  'intruder 12: the backlog of a tenant holds under a flood, and others get in, on $name',
  async (store) => {
    const { engine, clock, intake, refused } = await intakeOf(store, { acme: { backlog: 10 } })
    const outcomes = await Promise.all(flood(50).map((at) => intake.submit(OF_ACME, [spec(`a${at}`)])))
    const words = codes(outcomes.flat())
    expect(words.filter((word) => word === 'accepted')).toHaveLength(10)
    expect(words.filter((word) => word === 'REPRISE_TENANT_BACKLOG_FULL')).toHaveLength(40)
    expect(refused).toHaveLength(40)
    expect((await engine.tenants()).items).toMatchObject([{ tenant: 'acme', backlog: 10 }])
    expect(codes(await intake.submit(OF_BLUE, [spec('b', blue)]))).toEqual(['accepted'])
    // A repetition hears of its task, whatever the limit says.
    const taken = words.indexOf('accepted')
    expect(codes(await intake.submit(OF_ACME, [spec(`a${taken}`), spec('new')]))).toEqual([
      'duplicate',
      'REPRISE_TENANT_BACKLOG_FULL',
    ])
    await engine.change({ kind: 'cancel', select: { tenant: acme }, by: { actor: 'ann', reason: 'room' } })
    clock.jump(1_000)
    expect(
      codes(
        await intake.submit(
          OF_ACME,
          flood(12, 100).map((at) => spec(`a${at}`)),
        ),
      ),
    ).toEqual([...flood(10).map(() => 'accepted'), ...flood(2).map(() => 'REPRISE_TENANT_BACKLOG_FULL')])
  },
)

test.each(STORES)('intruder 12: the bytes of a tenant hold under a flood, on $name', async (store) => {
  const { engine, clock, intake } = await intakeOf(store, { default: { bytes: 10_000 } })
  const payload = 'x'.repeat(998)
  const outcomes = await Promise.all(flood(30).map((at) => intake.submit(OF_ACME, [spec(`a${at}`, acme, payload)])))
  expect(codes(outcomes.flat()).filter((word) => word === 'accepted')).toHaveLength(10)
  expect((await engine.tenants()).items).toMatchObject([{ tenant: 'acme', bytes: 10_000 }])
  const [refusal] = await intake.submit(OF_ACME, [spec('more', acme, '')])
  expect(refusal).toMatchObject({ code: 'REPRISE_TENANT_BYTES_FULL', status: 507 })
  expect((refusal as Error).message).toMatch(
    /'acme' has stored takes 10000 bytes, and there is no room for 2 more; its limit is 10000/,
  )
  expect(codes(await intake.submit(OF_BLUE, [spec('b', blue, payload)]))).toEqual(['accepted'])
  // Also by the figures of the store alone.
  clock.jump(1_000)
  expect(codes(await intake.submit(OF_ACME, [spec('more', acme, '')]))).toEqual(['REPRISE_TENANT_BYTES_FULL'])
})

test('intruder 12: submissions per second hold, with a time to come again; a stream of lines waits', async () => {
  const { intake, clock } = await intakeOf(SQLITE, { acme: { submitsPerSecond: 5 } })
  const outcomes = await Promise.all(flood(20).map((at) => intake.submit(OF_ACME, [spec(`a${at}`)])))
  const words = codes(outcomes.flat())
  expect(words.filter((word) => word === 'accepted')).toHaveLength(5)
  const refusal = outcomes.flat().find((one) => isRepriseError(one))
  expect(refusal).toMatchObject({ code: 'REPRISE_RATE_LIMITED', status: 429, retryAfterMs: 200 })
  clock.jump(200)
  expect(codes(await intake.submit(OF_ACME, [spec('b'), spec('c')]))).toEqual(['accepted', 'accepted'])
  const lines = intake.submit(OF_ACME, [spec('d')], new AbortController().signal)
  let isDone = false
  void lines.then(() => {
    isDone = true
  })
  await intake.submit(OF_BLUE, [spec('other', blue)])
  expect(isDone).toBe(false)
  await clock.advance(400)
  expect(codes(await lines)).toEqual(['accepted'])
})

test.each(STORES)('intruder 12: the running tasks of a tenant leave slots to others, on $name', async (store) => {
  const { engine, intake, slots, change } = await intakeOf(store, { default: { running: 3 } })
  await intake.submit(
    OF_ACME,
    flood(20).map((at) => spec(`a${at}`)),
  )
  await intake.submit(OF_BLUE, [spec('b', blue)])
  const worker = 'w1' as never
  const { epoch } = await engine.register({ worker, ...registration })
  const claim = { worker, epoch, pools: registration.pools, actions: null, limit: 10, leaseMs: 10_000 }
  const { claimed } = await engine.claim(claim)
  expect(claimed.map(({ snapshot }) => snapshot.tenant).sort()).toEqual(['acme', 'acme', 'acme', 'blue'])
  // The tenant's own operators can't lift it, and the policies can.
  const own = { actor: 'token:acme', reason: 'more', rank: 'tenant' } as const
  await expect(engine.limit({ tenant: acme }, null, own)).rejects.toMatchObject({ code: 'REPRISE_OUTRANKED' })
  change({ default: { running: 3 }, acme: { running: 5 } })
  await slots.follow()
  expect((await engine.claim(claim)).claimed).toHaveLength(2)
  change({})
  await slots.follow()
  expect((await engine.claim(claim)).claimed).toHaveLength(10)
})

test.each(STORES)(
  'intruder 12: without any rules, a tenant leaves slots of the workers to others, on $name',
  async (store) => {
    const { engine, intake, slots } = await intakeOf(store, {})
    const worker = 'w1' as never
    const { epoch } = await engine.register({ worker, ...registration, concurrency: 10 })
    await intake.submit(
      OF_ACME,
      flood(20).map((at) => spec(`a${at}`)),
    )
    await intake.submit(
      { tenants: null },
      flood(20).map((at) => spec(`b${at}`, blue)),
    )
    const claim = { worker, epoch, pools: registration.pools, actions: null, limit: 30, leaseMs: 10_000 }
    const { claimed } = await engine.claim(claim)
    const count = (tenant: string): number => claimed.filter(({ snapshot }) => snapshot.tenant === tenant).length
    expect([count('acme'), count('blue')]).toEqual([8, 20])
    await engine.register({ worker: 'w2' as never, ...registration, concurrency: 10 })
    await slots.follow()
    expect((await engine.claim(claim)).claimed).toHaveLength(8)
  },
)

test("a limit by hand of the platform's operators stands in place of the rules until it is lifted", async () => {
  const { engine, intake, slots, change } = await intakeOf(SQLITE, { acme: { running: 3 } })
  await intake.submit(OF_ACME, [spec('a'), spec('b')])
  const byHand = async (concurrency: number | null): Promise<void> => {
    await noteLimitByHand(engine, localCaller('operator:ann'), { tenant: acme }, concurrency)
    await engine.limit({ tenant: acme }, concurrency, { actor: 'operator:ann', reason: 'by hand' })
  }
  await byHand(0)
  await slots.follow()
  await intake.submit(OF_ACME, [spec('c')])
  const gates = async () => (await engine.lanes()).items[0]?.gates
  expect(await gates()).toMatchObject([{ kind: 'concurrency', concurrency: 0 }])
  change({ acme: { running: 4 } })
  await slots.follow()
  expect(await gates()).toMatchObject([{ kind: 'concurrency', concurrency: 0 }])
  await byHand(null)
  change({ acme: { running: 0 } })
  await slots.follow()
  expect(await gates()).toMatchObject([{ kind: 'concurrency', concurrency: 0, rank: 'platform' }])
})

test('a limit that is set by hand at the same moment stands', async () => {
  const inner = await SQLITE.open()
  let isFirst = true
  const engine: Engine = {
    ...inner,
    async limit(scope, concurrency, by) {
      if (isFirst) {
        isFirst = false
        await noteLimitByHand(inner, localCaller('operator:ann'), { tenant: acme }, 0)
        await inner.limit({ tenant: acme }, 0, { actor: 'operator:ann', reason: 'by hand' })
      }
      return inner.limit(scope, concurrency, by)
    },
  }
  const { intake } = await intakeOf({ open: async () => engine }, { acme: { running: 3 } })
  await intake.submit(OF_ACME, [spec('a')])
  expect((await inner.lanes()).items[0]?.gates).toMatchObject([{ kind: 'concurrency', concurrency: 0 }])
})

test('a tenant that is first seen in many submissions at once is looked up once', async () => {
  const inner = await SQLITE.open()
  let limits = 0
  const engine: Engine = {
    ...inner,
    limit(scope, concurrency, by) {
      limits++
      return inner.limit(scope, concurrency, by)
    },
  }
  const { intake } = await intakeOf({ open: async () => engine }, { acme: { running: 3 } })
  await Promise.all(flood(20).map((at) => intake.submit(OF_ACME, [spec(`a${at}`)])))
  expect(limits).toBe(1)
})

test('without rules nobody asks what tenants there are', async () => {
  const inner = await SQLITE.open()
  let asked = 0
  const engine: Engine = {
    ...inner,
    tenants(page) {
      asked++
      return inner.tenants(page)
    },
  }
  const { slots, change } = await intakeOf({ open: async () => engine }, {})
  await slots.follow()
  expect(asked).toBe(0)
  change({ default: { running: 3 } })
  await slots.follow()
  expect(asked).toBe(1)
})

test('callers for the whole store have no limits unless somebody set them; limited ones have defaults', async () => {
  const book = new TenantLimitBook(
    { current: () => ({ ...NO_POLICIES, tenants: { acme: { backlog: 5 } } }) },
    {
      default: { running: 7, backlog: 6 },
      constructor: {} as never,
    },
  )
  expect(book.of(blue, false)).toEqual({ bytes: null, backlog: 6, submitsPerSecond: null, running: 7 })
  expect(book.of(acme, false)).toMatchObject({ backlog: 5, running: 7 })
  expect(book.of(blue, true)).toEqual({ bytes: 250_000_000, backlog: 6, submitsPerSecond: 200, running: 7 })
  const plain = new TenantLimitBook({ current: () => NO_POLICIES })
  expect(Object.values(plain.of(acme, false))).toEqual([null, null, null, null])
})
