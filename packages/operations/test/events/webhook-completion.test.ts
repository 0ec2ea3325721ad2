// Webhooks that ask for the ends of tasks: what is submitted while there is one leaves the event, and it arrives.

import { actionName, DEFAULT_POOL, tenantId, type WorkerId } from '@reprise/core'
import { afterAll, expect, test } from 'vitest'
import { aReceiver, openStore, STORES, spec, stopRedis } from './fixture.ts'
import { delivering, hook, soon } from './webhook-fixture.ts'

afterAll(stopRedis)

const ACME = tenantId('acme')
const SUM = actionName('sum')

test.each(STORES)('B5: a webhook hears the ends that it asked for, of its tenant and actions (%s)', async (kind) => {
  const engine = await openStore(kind)
  const events = await delivering(engine)
  const { wishes } = events.context
  const receiver = await aReceiver()
  const all = await aReceiver()
  await hook(events, receiver.url, { types: ['reprise.task.succeeded'], actions: [SUM], tenant: ACME })
  await hook(events, all.url)
  await wishes.look()
  const drafts = [
    spec('a', { tenant: ACME, action: SUM }),
    spec('another action', { tenant: ACME }),
    spec('another tenant', { action: SUM }),
    spec('b', { tenant: ACME, action: SUM }),
  ]
  await engine.submit(
    drafts.map((one) => ({ ...one, settings: wishes.settingsFor(one.settings, one.action, one.tenant) })),
  )
  const worker = 'w1' as WorkerId
  const pools = [DEFAULT_POOL]
  const at = { host: 'h', version: '1', runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools, actions: null, ...at })
  for (let left = drafts.length; left > 0; ) {
    const { claimed } = await engine.claim({ worker, epoch, pools, actions: null, limit: 10, leaseMs: 15_000 })
    await engine.settle(claimed.map((ref) => ({ kind: 'succeeded', ref, result: null })))
    left -= claimed.length
  }
  const heard = ({ received }: typeof receiver): unknown[] =>
    received
      .map(({ body }) => JSON.parse(body) as { type: string; subject?: string })
      .filter(({ type }) => type === 'reprise.task.succeeded')
      .map(({ subject }) => subject)
      .sort()
  await soon(() => expect(heard(receiver)).toEqual(['a', 'b']))
  // Who takes all events hears what somebody asked for, and no more.
  await soon(() => expect(heard(all)).toEqual(['a', 'b']))
  const sent = receiver.received.find(({ body }) => body.includes('"subject":"a"'))
  expect(JSON.parse(sent?.body ?? '{}')).toMatchObject({
    data: { taskId: 'a', attempt: 1, actor: 'worker', details: { action: 'sum' } },
  })
})

test('B5: a webhook about some actions gets all events about their tasks, and none about others', async () => {
  const engine = await openStore()
  const events = await delivering(engine)
  const receiver = await aReceiver()
  await engine.submit([spec('a', { action: SUM }), spec('b')])
  await hook(events, receiver.url, { actions: [SUM] })
  const by = { actor: 'operator:ann', reason: 'not needed' }
  await engine.pause({ action: actionName('product') }, by)
  await engine.pause({ action: SUM }, by)
  await engine.change({ kind: 'cancel', select: {}, by })
  const heard = (): unknown[] =>
    receiver.received.map(({ body }) => {
      const { type, subject } = JSON.parse(body) as { type: string; subject?: string }
      return `${type} ${subject ?? ''}`
    })
  await soon(() => expect(heard().sort()).toEqual(['reprise.lanes.paused ', 'reprise.task.cancelled a']))
})
