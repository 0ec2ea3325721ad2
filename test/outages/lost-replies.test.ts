// The store does what it is asked and the reply is lost (fault 7): every call is repeated, takes effect once, and answers as
// the first time would have. A claim that nobody heard of leaves no lease behind that ends as lost.

import {
  type ActionName,
  type Claimed,
  type ClaimRequest,
  DEFAULT_POOL,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  type Engine,
  JSON_NULL,
  type JsonText,
  type RetryToken,
  succeeded,
  type TaskId,
  type TaskSpec,
  type WorkerId,
} from '@reprise/core'
import type { TcpProxy } from '@reprise/test-servers'
import { expect, test } from 'vitest'
import { quick } from './product/actions.ts'
import {
  expectOneSuccessEach,
  ownEngine,
  ownProxy,
  ownServer,
  startProduct,
  until,
  unusual,
} from './product/product.ts'

const WORKER = 'w1' as WorkerId
const LEASE_MS = 15_000

function spec(id: string): TaskSpec {
  return {
    id: id as TaskId,
    action: 'work' as ActionName,
    pool: DEFAULT_POOL,
    tenant: DEFAULT_TENANT,
    payload: JSON_NULL,
    labels: {},
    priority: 5,
    retryToken: id as RetryToken,
    dedupeKey: null,
    delayMs: 0,
    dueAt: null,
    deadlineAt: null,
    deadlineMs: null,
    settings: DEFAULT_SETTINGS,
  }
}

const specs = (count: number): TaskSpec[] => Array.from({ length: count }, (_, index) => spec(`t${index}`))

async function register(engine: Engine): Promise<ClaimRequest> {
  const registration = {
    worker: WORKER,
    pools: [DEFAULT_POOL],
    actions: null,
    host: 'h',
    version: '1',
    runtimes: [],
    endpoint: null,
  }
  const { epoch } = await engine.register(registration)
  return { worker: WORKER, epoch, pools: [DEFAULT_POOL], actions: null, limit: 10, leaseMs: LEASE_MS }
}

/** Every verb once, with what it answers about tasks; the reply of one verb is lost on the way. */
async function everyVerb(engine: Engine, losing: (verb: string) => void): Promise<unknown[]> {
  losing('register')
  const request = await register(engine)
  losing('submit')
  const submitted = await engine.submit(specs(30))
  losing('claim')
  const first = await engine.claim(request)
  losing('settle')
  const settled = await engine.settle(first.claimed.slice(0, 5).map((lease) => succeeded(lease, '1' as JsonText)))
  losing('settle_and_claim')
  const both = await engine.settleAndClaim(
    first.claimed.slice(5).map((lease) => succeeded(lease, null)),
    request,
  )
  losing('reserve')
  const reserved = await engine.reserve({
    task: spec('outside'),
    attempt: 1,
    maxRetries: 1,
    worker: WORKER,
    leaseMs: LEASE_MS,
  })
  losing('renew')
  const renewed = await engine.renew([{ ...reserved, progress: null }], LEASE_MS)
  const ids = (leases: readonly Claimed[]): string[] =>
    leases.map(({ taskId, attempt }) => `${taskId} ${attempt}`).sort()
  return [
    // One that was accepted before its reply was lost is a duplicate of itself when it is asked for again.
    submitted.map(({ id }) => id),
    ids(first.claimed),
    settled.map(({ outcome }) => outcome),
    both.settled.map(({ outcome }) => outcome),
    ids(both.claimed),
    ids([reserved]),
    renewed.map(({ outcome }) => outcome),
    await engine.counts(),
    await unusual(engine),
  ]
}

function lose(proxy: TcpProxy, verb: string): void {
  proxy.dropNextReply((request) => request.includes(`_${verb}\r\n`))
}

test('A2, fault 7: every verb answers, and leaves the store, as if its reply had not been lost', async () => {
  const server = await ownServer()
  const proxy = await ownProxy(server)
  const undisturbed = await everyVerb(await ownEngine(server.url, { prefix: 'undisturbed' }), () => undefined)
  const engine = await ownEngine(proxy.url)
  const verbs: string[] = []
  const disturbed = await everyVerb(engine, (verb) => {
    // The reply that was to be lost before is lost by now.
    expect(proxy.droppedReplies).toBe(verbs.length)
    verbs.push(verb)
    lose(proxy, verb)
  })
  expect(proxy.droppedReplies).toBe(verbs.length)
  expect(disturbed).toEqual(undisturbed)
  // Every lease that is held is one that somebody was told of.
  expect((await engine.counts()).running).toBe(11)
})

test('of claims made at once, each is answered with its own leases', async () => {
  const server = await ownServer()
  const proxy = await ownProxy(server)
  const engine = await ownEngine(proxy.url)
  const request = await register(engine)
  await engine.submit(specs(30))
  lose(proxy, 'claim')
  const claims = await Promise.all([engine.claim(request), engine.claim(request)])
  expect(proxy.droppedReplies).toBe(1)
  expect(claims.map(({ claimed }) => claimed.length)).toEqual([10, 10])
  expect(new Set(claims.flatMap(({ claimed }) => claimed.map(({ taskId }) => taskId))).size).toBe(20)
  expect((await engine.counts()).running).toBe(20)
})

test('a claim that was given up is heard of at the next: no lease is left to end as lost', async () => {
  const server = await ownServer()
  const proxy = await ownProxy(server)
  const engine = await ownEngine(proxy.url, { patienceMs: 300 })
  const request = await register(engine)
  await engine.submit(specs(30))
  // It is done, its reply is lost, and then nobody can be reached until it is given up.
  proxy.dropNextReply((sent) => {
    const isClaim = sent.includes('_claim\r\n')
    if (isClaim) void proxy.refuse(true)
    return isClaim
  })
  await expect(engine.claim(request)).rejects.toMatchObject({ code: 'REPRISE_STORE_BUSY' })
  expect(proxy.droppedReplies).toBe(1)
  await proxy.refuse(false)
  await until(async () => (await engine.counts()).running === 10)
  const { claimed } = await engine.settleAndClaim([], request)
  expect(claimed).toHaveLength(10)
  expect((await engine.counts()).running).toBe(10)
  const fresh = await engine.renew(
    claimed.map((lease) => ({ ...lease, progress: null })),
    LEASE_MS,
  )
  expect(new Set(fresh.map(({ outcome }) => outcome))).toEqual(new Set(['extended']))
  const next = await engine.claim(request)
  expect(next.claimed).toHaveLength(10)
  expect((await engine.counts()).running).toBe(20)
})

test('fault 7: under load, with a reply lost every few calls: one success each, nobody lost', async () => {
  const server = await ownServer()
  const proxy = await ownProxy(server)
  const { client, engine, worker } = await startProduct(proxy.url, { worker: { lease: '2s' } })
  const tasks = await client.submitMany(
    quick,
    Array.from({ length: 2_000 }, (_, index) => index),
  )
  const verbs = ['settle_and_claim', 'claim', 'settle', 'renew', 'submit']
  let dropped = 0
  while (worker.stats().succeeded < tasks.length) {
    const succeededBefore = worker.stats().succeeded
    lose(proxy, verbs[dropped % verbs.length] ?? '')
    dropped++
    if (dropped % verbs.length === 0) tasks.push(await client.submit(quick, 0))
    await until(() => worker.stats().succeeded > succeededBefore + 50 || worker.stats().succeeded >= tasks.length)
  }
  expect(proxy.droppedReplies).toBeGreaterThan(3)
  await Promise.all(tasks.map((task) => task.result()))
  await expectOneSuccessEach(engine, tasks)
})
