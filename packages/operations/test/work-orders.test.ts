// Work orders (B3, invariant 8): every dead letter has one, or its failure group has, exactly once; they close when tasks recover.

import {
  actionName,
  createRedactor,
  type Engine,
  type PolicyBook,
  succeeded,
  type TaskSpec,
  workerId,
} from '@reprise/core'
import { closeRecovered, followOnce, openWorkOrders } from '@reprise/orchestrator'
import { afterAll, describe, expect, test } from 'vitest'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { ANN, died, failAll, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

interface Shown {
  readonly id: string
  readonly state: { readonly status: string; readonly because?: string; readonly result?: string }
  readonly subject: { readonly kind: string; readonly fingerprint: string; readonly taskId?: string }
  readonly owner: string | null
  readonly dead: number
}

const some = (count: number, name: string, change: Partial<TaskSpec> = {}): TaskSpec[] =>
  Array.from({ length: count }, (_, at) => spec(`${name}${at}`, change))

/** Two orchestrators at once, until neither finds more. */
async function follow(engine: Engine, book?: PolicyBook): Promise<void> {
  const options = { engine, ...(book === undefined ? {} : { policies: { current: () => book } }) }
  const all = async (): Promise<void> => {
    while (await openWorkOrders(options));
  }
  await Promise.all([all(), all()])
  await all()
}

async function typesOf(engine: Engine): Promise<readonly string[]> {
  const { entries } = await engine.journal.read({ limit: 1_000 })
  return entries.map(({ type }) => type).filter((type) => type.startsWith('work_order.'))
}

/** What is queued is claimed, and succeeds. */
async function succeedAll(engine: Engine): Promise<void> {
  const worker = workerId('w2')
  const pools = [spec('x').pool]
  const around = { host: 'h', version: '2', runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
  const { claimed } = await engine.claim({ worker, epoch, pools, actions: null, limit: 1_000, leaseMs: 60_000 })
  await engine.settle(claimed.map((one) => succeeded(one, null)))
}

const ONCE = { ...spec('x').settings, maxRetries: 0 }
const by = { actor: 'operator:ann', reason: 'it is fixed' }

describe.each(STORES)('work orders (%s)', (kind) => {
  const listed = async (call: Awaited<ReturnType<typeof storeWithCaller>>['call'], status?: string) =>
    ((await call(ANN, 'listWorkOrders', status === undefined ? {} : { status })) as { items: Shown[] }).items

  test('one for each cause, however many die, and however often a page is read', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await died(engine, some(30, 'a'), 'CODE_A')
    await follow(engine)
    await died(engine, some(3, 'b'), 'CODE_B')
    await died(engine, some(30, 'c'), 'CODE_A')
    await Promise.all([follow(engine), follow(engine)])
    const orders = await listed(call)
    expect(orders).toHaveLength(2)
    expect(await typesOf(engine)).toEqual(['work_order.opened', 'work_order.opened'])
    const first: Shown = await call(ANN, 'getWorkOrder', { id: orders[0]?.id ?? '' })
    expect(first).toMatchObject({
      state: { status: 'open', because: 'new' },
      severity: 'normal',
      dead: 60,
      sample: { code: 'CODE_A' },
    })
    // By its fingerprint too.
    expect(await call(ANN, 'getWorkOrder', { id: first.subject.fingerprint })).toMatchObject({ id: first.id })
  })

  test('is taken, commented and closed by an operator; a later death opens it again, unless it is not to be fixed', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await died(engine, some(2, 'a'), 'CODE_A')
    await follow(engine)
    const [{ id } = { id: '' }] = await listed(call)
    expect(await call(ANN, 'takeWorkOrder', { id })).toMatchObject({
      state: { status: 'in_progress' },
      owner: 'operator:ann',
    })
    await call(ANN, 'commentWorkOrder', { id, text: 'asked the bank' })
    await call(ANN, 'closeWorkOrder', { id, result: 'the bank is back' })
    await follow(engine)
    expect(await listed(call)).toEqual([])
    await died(engine, some(1, 'b'), 'CODE_A')
    await follow(engine)
    expect(await call(ANN, 'getWorkOrder', { id })).toMatchObject({
      state: { status: 'open', because: 'again' },
      owner: 'operator:ann',
      comments: [{ by: 'operator:ann', text: 'asked the bank' }],
      past: [{ status: 'resolved', because: 'operator', result: 'the bank is back' }],
    })
    await call(ANN, 'closeWorkOrder', { id, status: 'wont_fix', result: 'nobody needs it' })
    await expect(call(ANN, 'takeWorkOrder', { id })).rejects.toMatchObject({ code: 'REPRISE_CONFLICT' })
    await died(engine, some(1, 'c'), 'CODE_A')
    await follow(engine)
    expect(await listed(call, 'wont_fix')).toHaveLength(1)
    expect(await typesOf(engine)).toEqual([
      'work_order.opened',
      'work_order.taken',
      'work_order.noted',
      'work_order.closed',
      'work_order.reopened',
      'work_order.closed',
    ])
  })

  test('closes by itself when its tasks have recovered, not while they are only on their way', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await died(engine, some(3, 'a'), 'CODE_A')
    await follow(engine)
    await closeRecovered(engine)
    expect(await listed(call)).toHaveLength(1)
    await engine.change({ kind: 'redrive', select: { action: actionName(spec('x').action) }, by })
    await closeRecovered(engine)
    // Sent back to work, and nobody knows yet whether that helps.
    expect(await listed(call)).toHaveLength(1)
    await failAll(engine, 3, 'CODE_A')
    await follow(engine)
    await closeRecovered(engine)
    expect(await listed(call)).toHaveLength(1)
    await engine.change({ kind: 'redrive', select: { action: actionName(spec('x').action) }, by })
    await succeedAll(engine)
    await closeRecovered(engine)
    expect(await listed(call, 'resolved')).toMatchObject([
      { state: { because: 'recovered', by: 'work-orders' }, severity: 'normal' },
    ])
    expect(await typesOf(engine)).toEqual(['work_order.opened', 'work_order.closed'])
  })

  test('that nobody recovered: discarded tasks leave no work behind', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await died(engine, some(2, 'a'), 'CODE_A')
    await follow(engine)
    await engine.change({ kind: 'discard', select: { action: actionName(spec('x').action) }, by })
    await closeRecovered(engine)
    expect(await listed(call, 'resolved')).toMatchObject([{ state: { because: 'gone' } }])
    // The discard is taken back: they wait for a person again.
    await engine.change({ kind: 'revert', select: { ids: some(2, 'a').map(({ id }) => id) }, by })
    await follow(engine)
    await closeRecovered(engine)
    expect(await listed(call)).toMatchObject([{ state: { status: 'open', because: 'again' }, dead: 2, code: 'CODE_A' }])
    expect(await typesOf(engine)).toEqual(['work_order.opened', 'work_order.closed', 'work_order.reopened'])
  })

  test('has the context of the failure: chain, payload, workers, breakers, contrasts, what helped', async () => {
    const { engine, call } = await storeWithCaller(kind, undefined, { redaction: createRedactor() })
    const payload = (region: string) => JSON.stringify({ region, password: 'secret' }) as never
    await engine.submit(some(40, 'good', { payload: payload('us') }))
    await succeedAll(engine)
    await died(engine, some(40, 'bad', { payload: payload('eu'), settings: ONCE }), 'ECONNRESET')
    await follow(engine)
    const [{ id } = { id: '' }] = await listed(call)
    const context = await call(ANN, 'getWorkOrderContext', { id })
    expect(context).toMatchObject({
      task: { status: 'dead', pool: spec('x').pool },
      payload: { region: 'eu', password: '[redacted]' },
      chain: [{ attempt: 1, status: 'failed', code: 'ECONNRESET', worker: 'w1', version: '1' }],
      runbooks: [{ name: 'replay-after-outage', suggested: 'the code is ECONNRESET', runs: 0 }],
    })
    const { workers, contrasts } = context as {
      workers: { shown: { worker: string; ranLast: boolean }[] }
      contrasts: string[]
    }
    expect(workers.shown[0]).toMatchObject({ worker: 'w1', ranLast: true })
    expect(contrasts).toContain('"payload.region=eu": 100 % of the failures, 0 % of the successes')
    expect(JSON.stringify(context)).not.toContain('secret')
    await engine.change({ kind: 'redrive', select: { action: actionName(spec('x').action) }, by })
    await succeedAll(engine)
    await closeRecovered(engine)
    // Others of the action are told what helped then.
    await died(engine, some(1, 'other'), 'EINVAL')
    await follow(engine)
    const [other = { id: '' }] = await listed(call)
    expect(await call(ANN, 'getWorkOrder', { id: other.id })).toMatchObject({
      similar: [
        { id, result: expect.stringContaining('What helped: operator:ann sent them back, it is fixed') as unknown },
      ],
    })
    // What is over is still known.
    expect(await call(ANN, 'getWorkOrderContext', { id })).toMatchObject({
      task: { status: 'succeeded' },
      contrasts: [],
    })
  })

  test('groups that were merged have one', async () => {
    const { engine, call } = await storeWithCaller(kind)
    await died(engine, some(1, 'a'), 'CODE_A')
    await died(engine, some(1, 'b'), 'CODE_B')
    while (await followOnce(engine));
    const groups = (await engine.failureGroups()).items
    const [into, from] = [groups[0]?.fingerprint ?? '', groups[1]?.fingerprint ?? '']
    await call(ANN, 'mergeFailureGroups', { fingerprint: into, from: [from] })
    await follow(engine)
    expect(await listed(call)).toMatchObject([{ subject: { kind: 'group', fingerprint: into } }])
    expect(await call(ANN, 'getWorkOrder', { id: `wo-${from}` })).toMatchObject({ id: `wo-${into}`, dead: 2 })
  })
})

test('B7: a policy wants one for each task, and names severity, owner and runbook', async () => {
  const { engine, call } = await storeWithCaller()
  const escalation = { severity: 'critical', owner: 'team-pay', runbook: 'ask-the-bank', workOrder: 'task' } as const
  await died(engine, some(2, 'a'), 'CODE_A', escalation)
  await died(engine, some(3, 'b'), 'CODE_A')
  await follow(engine, { version: 1, rules: [], policies: [{ name: 'pay', match: {}, escalation }] })
  const { items }: { items: Shown[] } = await call(ANN, 'listWorkOrders', {})
  expect(items.map(({ subject }) => subject.taskId ?? subject.kind).sort()).toEqual(['a0', 'a1', 'group'])
  expect(items.find(({ subject }) => subject.taskId === 'a0')).toMatchObject({
    severity: 'critical',
    owner: 'team-pay',
    runbook: 'ask-the-bank',
  })
})

test('one that people wrote much about can still be opened again, closed, and holds up no other', async () => {
  const { engine, call } = await storeWithCaller()
  await died(engine, some(1, 'a'), 'CODE_A')
  await follow(engine)
  const { items }: { items: Shown[] } = await call(ANN, 'listWorkOrders', {})
  const id = items[0]?.id ?? ''
  const comment = (): Promise<unknown> => call(ANN, 'commentWorkOrder', { id, text: '直'.repeat(1_000) })
  let refused: unknown = null
  for (let count = 0; count < 100 && refused === null; count++) {
    refused = await comment().then(
      () => null,
      (error: unknown) => error,
    )
  }
  expect(String(refused)).toMatch(/take no more/)
  await call(ANN, 'closeWorkOrder', { id, result: '直'.repeat(1_000) })
  await died(engine, some(1, 'b'), 'CODE_A')
  await died(engine, some(1, 'c'), 'CODE_C')
  await follow(engine)
  expect(((await call(ANN, 'listWorkOrders', {})) as { items: Shown[] }).items).toHaveLength(2)
})
