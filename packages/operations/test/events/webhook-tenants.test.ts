// A delivery belongs to a tenant: a webhook that is narrowed, or handed on, shows and sends nothing that it could not have had as
// it is now. On both engines.

import { type TenantId, tenantId } from '@reprise/core'
import { afterAll, expect, test } from 'vitest'
import type { Caller } from '../../src/access/caller.ts'
import { localCaller } from '../../src/access/caller.ts'
import type { Delivery } from '../../src/events/webhook-deliveries.ts'
import { perform } from '../../src/run.ts'
import { ALL_OPERATIONS, type OperationName } from '../../src/table.ts'
import { aReceiver, note, openStore, STORES, spec, stopRedis } from './fixture.ts'
import { deliveriesOf, delivering, hook, soon } from './webhook-fixture.ts'

afterAll(stopRedis)

const [A, B] = [tenantId('acme'), tenantId('globex')]
const ADMIN_OF_B: Caller = { ...localCaller('token:b'), kind: 'token', tenants: [B] }

/** Without what the journal says of the webhook itself. */
const told = (reasons: readonly (string | undefined)[]) =>
  [...new Set(reasons)].filter((reason) => !reason?.startsWith('The webhook')).sort()

const aboutTenant = (reason: string, tenant: TenantId) => note(reason, { data: { tenant } })

interface Shown {
  readonly items: readonly (Delivery & { readonly event: { readonly data: { readonly reason: string } } })[]
  readonly next: string | null
}

async function wideWebhook(kind: (typeof STORES)[number]) {
  const engine = await openStore(kind)
  await engine.submit([spec('of-a', { tenant: A }), spec('of-b', { tenant: B })])
  const events = await delivering(engine)
  const first = await aReceiver()
  const made = await hook(events, first.url)
  await engine.journal.append([
    aboutTenant('about a', A),
    note('task of a', { taskId: spec('of-a').id }),
    aboutTenant('about b', B),
    note('task of b', { taskId: spec('of-b').id }),
    note('about all'),
  ])
  await soon(async () => expect(await deliveriesOf(events, made, 'delivered')).toHaveLength(6))
  const { id } = made.webhook
  const call = (name: OperationName, input: object): Promise<unknown> =>
    perform(events.context, ADMIN_OF_B, [name, ALL_OPERATIONS[name]], { id, ...input }, new AbortController().signal)
  const listed = async (input: object = {}): Promise<Shown> => (await call('listDeliveries', input)) as Shown
  return { engine, events, made, id, call, listed }
}

test.each(STORES)(
  'a webhook that is narrowed to a tenant has that tenant\u2019s deliveries only (%s)',
  async (kind) => {
    const { events, made, id, call, listed } = await wideWebhook(kind)
    const all = await deliveriesOf(events, made)
    await events.webhooks.update(id, { tenant: B }, 'operator:ann')

    const { items, next } = await listed()
    expect(told(items.map(({ event }) => event.data.reason))).toEqual(['about b', 'task of b'])
    expect(next).toBeNull()
    const paged: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await listed({ limit: 1, status: 'delivered', ...(cursor === undefined ? {} : { cursor }) })
      expect(page.items).toHaveLength(1)
      paged.push(...page.items.map(({ event }) => event.data.reason))
      cursor = page.next
    }
    expect(told(paged)).toEqual(['about b', 'task of b'])

    // B has it sent elsewhere, and asks for everything again: what is not theirs is as unknown as what does not exist.
    const second = await aReceiver()
    await events.webhooks.update(id, { url: second.url }, 'token:b', [B])
    const again = (delivery: string): Promise<unknown> => call('redeliver', { delivery })
    const [theirs, own] = [all.filter(({ tenant }) => tenant !== B), all.filter(({ tenant }) => tenant === B)]
    const unknown = await again('none').catch(String)
    for (const { id: delivery } of theirs) {
      expect(await again(delivery).catch((error) => String(error).replace(delivery, 'none'))).toBe(unknown)
    }
    for (const { id: delivery } of own) await again(delivery)
    await soon(() => {
      events.clock.skip(1_000)
      expect(told(second.reasons)).toEqual(['about b', 'task of b'])
    })
  },
)

test.each(STORES)('what was pending for another tenant is never sent to the new address (%s)', async (kind) => {
  const engine = await openStore(kind)
  const events = await delivering(engine)
  const broken = await aReceiver((response) => void response.writeHead(500).end())
  const made = await hook(events, broken.url)
  await engine.journal.append([aboutTenant('about a', A), aboutTenant('about b', B)])
  await soon(() => expect(told(broken.reasons)).toEqual(['about a', 'about b']))
  const second = await aReceiver()
  await events.webhooks.update(made.webhook.id, { tenant: B, url: second.url }, 'operator:ann')
  await soon(async () => {
    events.clock.skip(10_000)
    const left = await deliveriesOf(events, made)
    expect(left.map(({ status, tenant }) => [status, tenant])).toEqual(left.map(() => ['delivered', B]))
    expect(told(second.reasons)).toEqual(['about b'])
  })
  expect(second.reasons).not.toContain('about a')
})

test.each(STORES)(
  'deliveries from before they said whose they are belong to whom their event does (%s)',
  async (kind) => {
    const { engine, events, made, id, listed } = await wideWebhook(kind)
    const documents = engine.collection<Delivery>({ name: 'webhook-deliveries', indexes: {} })
    for (const { tenant: _, ...before } of await deliveriesOf(events, made)) {
      const stored = await documents.get(before.id)
      await events.delivery.deliveries.remove(before.id)
      expect(stored).not.toBeNull()
      const indexed = engine.collection<Delivery>({
        name: 'webhook-deliveries',
        indexes: { webhook: ({ webhookId }) => webhookId },
      })
      await indexed.insert(before)
    }
    await events.webhooks.update(id, { tenant: B }, 'operator:ann')
    const { items } = await listed()
    expect(told(items.map(({ event }) => event.data.reason))).toEqual(['about b', 'task of b'])
  },
)

test('addresses inside are not told to who is limited to a tenant', async () => {
  const engine = await openStore()
  const resolve = async (host: string) => {
    if (host === 'inside.test') return [{ address: '10.20.30.40' }]
    throw new Error(`getaddrinfo ENOTFOUND ${host}`)
  }
  const events = await delivering(engine, { resolve, webhookAllow: [] })
  const refusal = (host: string): Promise<string> =>
    events.webhooks.create({ url: `http://${host}/`, tenant: B }, 'token:b', [B]).then(String, String)
  const inside = await refusal('inside.test')
  expect(inside).toBe((await refusal('nothing.test')).replace('nothing.test', 'inside.test'))
  expect(inside).not.toContain('10.20.30.40')
})
