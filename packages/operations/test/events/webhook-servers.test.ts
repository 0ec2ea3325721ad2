// Webhooks with servers that crash, servers side by side, and addresses that lead inside.

import { type Collection, type Document, type Engine, StoreClosedError, tenantId } from '@reprise/core'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { LEASE_MS } from '../../src/events/webhook-lease.ts'
import { WEBHOOKS_MAX, WEBHOOKS_OF_ALL_MAX, WEBHOOKS_PER_TENANT_MAX } from '../../src/events/webhooks.ts'
import { aReceiver, eventsOn, note, openStore, type Receiver, STORES, stopRedis } from './fixture.ts'
import { deliveriesOf, delivering, hook, soon, tried } from './webhook-fixture.ts'

afterAll(stopRedis)

/** The same store as a process sees it that dies right before its n-th write. */
function dyingBefore(engine: Engine, maxWrites: number): { readonly engine: Engine; readonly died: Promise<void> } {
  const death = Promise.withResolvers<void>()
  let writes = 0
  let isDead = false
  const alive = <T>(call: () => Promise<T>, isWrite: boolean): Promise<T> => {
    if (isWrite && ++writes > maxWrites) isDead = true
    if (!isDead) return call()
    death.resolve()
    return Promise.reject(new StoreClosedError())
  }
  const collection = <D extends Document>(inner: Collection<D>): Collection<D> => ({
    insert: (document) => alive(() => inner.insert(document), true),
    update: (document, version) => alive(() => inner.update(document, version), true),
    remove: (id, version) => alive(() => inner.remove(id, version), true),
    get: (id) => alive(() => inner.get(id), false),
    list: (page) => alive(() => inner.list(page), false),
    find: (query) => alive(() => inner.find(query), false),
  })
  const changed: Partial<Engine> = {
    collection: (definition) => collection(engine.collection(definition)),
    journal: {
      append: (entries) => alive(() => engine.journal.append(entries), true),
      read: (query) => alive(() => engine.journal.read(query), false),
      from: (at) => alive(() => engine.journal.from(at), false),
    },
  }
  return {
    engine: new Proxy(engine, {
      get: (target, name) => Reflect.get(name in changed ? changed : target, name) as unknown,
    }),
    died: death.promise,
  }
}

const progressOf = (engine: Engine) =>
  engine.collection<{ readonly id: string; readonly cursor: string; readonly owner: string | null }>({
    name: 'webhook-progress',
    indexes: {},
  })

const EVENTS = ['one', 'two', 'three']
const got = (receiver: Receiver): Set<string | undefined> =>
  new Set(receiver.reasons.filter((reason) => EVENTS.includes(String(reason))))

describe('fault 27: a server that dies between any two of its writes loses no event', () => {
  // Taking the lease, three deliveries and the cursor, the creation's own delivery, and a record for each: eleven writes.
  test.each(Array.from({ length: 12 }, (_, writes) => writes))('after %i writes', async (writes) => {
    const engine = await openStore()
    const receiver = await aReceiver()
    const first = await eventsOn(engine)
    const made = await first.webhooks.create({ url: receiver.url }, 'operator:ann')
    await engine.journal.append(EVENTS.map((reason) => note(reason)))
    const dying = dyingBefore(engine, writes)
    const crashed = await delivering(dying.engine)
    await Promise.race([
      dying.died,
      soon(async () => expect(await deliveriesOf(first, made, 'delivered')).toHaveLength(4)),
    ])
    await crashed.delivery.stop()

    const second = await delivering(engine)
    await soon(async () => {
      second.clock.skip(LEASE_MS / 5)
      expect(await deliveriesOf(second, made, 'delivered')).toHaveLength(4)
    })
    expect(got(receiver)).toEqual(new Set(EVENTS))
    expect(await deliveriesOf(second, made, 'pending')).toEqual([])
    for (const reason of EVENTS) {
      const ids = receiver.received.filter((one) => one.reason === reason).map(({ headers }) => headers['webhook-id'])
      expect(new Set(ids).size).toBe(1)
    }
  })
})

test.each(STORES)(
  'B5: of two servers one delivers, each event once; the other takes over when it stops (%s)',
  async (kind) => {
    const engine = await openStore(kind)
    const receiver = await aReceiver()
    const one = await delivering(engine)
    const made = await hook(one, receiver.url)
    await soon(async () => expect(await deliveriesOf(one, made, 'delivered')).toHaveLength(1))
    const two = await delivering(engine)
    await engine.journal.append(Array.from({ length: 30 }, (_, index) => note(`n${index}`)))
    await soon(async () => expect(await deliveriesOf(one, made, 'delivered')).toHaveLength(31))
    expect(receiver.received).toHaveLength(31)
    // However often the other looks, it leaves alone what is renewed.
    const progress = progressOf(engine)
    const before = await progress.get(made.webhook.id)
    for (let round = 1; round <= 5; round++) {
      await soon(async () => {
        one.clock.skip(1_000)
        expect((await progress.get(made.webhook.id))?.version).toBeGreaterThanOrEqual((before?.version ?? 0) + round)
      })
      two.clock.skip(LEASE_MS / 3)
    }
    expect((await progress.get(made.webhook.id))?.document.owner).toBe(before?.document.owner)
    await one.delivery.stop()
    await engine.journal.append([note('after')])
    await soon(() => {
      two.clock.skip(1_000)
      expect(receiver.reasons).toContain('after')
    })
    expect(receiver.received).toHaveLength(32)
  },
)

test('B5: a server that stands still loses its lease, and moves no cursor when it goes on', async () => {
  const engine = await openStore()
  const receiver = await aReceiver()
  let isStopped = false
  let moves = 0
  const waiting: (() => void)[] = []
  const slow = new Proxy(engine, {
    get: (target, name) => {
      if (name !== 'collection') return Reflect.get(target, name) as unknown
      const collection: Engine['collection'] = (definition) => {
        const inner = target.collection(definition)
        return new Proxy(inner, {
          get: (own, verb) => {
            const call = Reflect.get(own, verb) as (...args: readonly unknown[]) => Promise<unknown>
            return async (...args: readonly unknown[]) => {
              if (isStopped) await new Promise<void>((resolve) => waiting.push(resolve))
              const result = await call.apply(own, [...args])
              if (verb === 'update' && definition.name === 'webhook-progress') moves++
              return result
            }
          },
        })
      }
      return collection
    },
  })
  onTestFinished(() => {
    for (const go of waiting) go()
  })
  const one = await delivering(slow)
  const made = await hook(one, receiver.url)
  await engine.journal.append([note('one')])
  await tried(one, made, 'one', 1)
  isStopped = true
  await engine.journal.append([note('two')])
  const two = await delivering(engine)
  await soon(() => {
    two.clock.skip(LEASE_MS / 5)
    expect(receiver.reasons).toContain('two')
  })
  await tried(two, made, 'two', 1)
  const progress = progressOf(engine)
  const before = await progress.get(made.webhook.id)
  moves = 0
  isStopped = false
  for (const go of waiting) go()
  // Past the time to renew what it thinks it has.
  one.clock.skip(LEASE_MS / 2)
  await engine.journal.append([note('three')])
  await soon(() => expect(receiver.reasons).toContain('three'))
  await tried(two, made, 'three', 1)
  const after = await progress.get(made.webhook.id)
  expect(after?.document.owner).toBe(before?.document.owner)
  expect(Number(after?.document.cursor)).toBeGreaterThan(Number(before?.document.cursor))
  expect(receiver.reasons.filter((reason) => reason === 'three')).toHaveLength(1)
  expect(moves).toBe(0)
})

const INSIDE = [
  'http://127.0.0.1/',
  'http://localhost:9/',
  'http://0.0.0.0/',
  'http://2130706433/',
  'http://0177.0.0.1/',
  'http://0x7f.1/',
  'http://127.1/',
  'http://10.1.2.3/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://169.254.169.254/latest/meta-data',
  'http://100.64.0.1/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[fe80::1]/',
  'http://[fd00::1]/',
  'http://[64:ff9b::7f00:1]/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'http://user:secret@example.com/',
]

test.each(INSIDE)('intruder 5: %s is refused when a webhook is made or changed', async (url) => {
  const resolve = async (host: string) => [{ address: host === 'localhost' ? '127.0.0.1' : '93.184.216.34' }]
  const { webhooks } = await eventsOn(await openStore(), { webhookAllow: [], resolve })
  await expect(webhooks.create({ url }, 'operator:ann')).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
  const { webhook } = await webhooks.create({ url: 'https://hooks.example.com/' }, 'operator:ann')
  await expect(webhooks.update(webhook.id, { url }, 'operator:ann')).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
})

test('intruder 5: what the configuration allows is allowed, and nothing beside it', async () => {
  const resolve = async () => [{ address: '10.1.2.3' }]
  const webhookAllow = ['127.0.0.1:9000', '192.168.0.0/16', 'hooks.internal']
  const { webhooks } = await eventsOn(await openStore(), { webhookAllow, resolve })
  for (const url of ['http://127.0.0.1:9000/', 'http://192.168.7.7/', 'https://hooks.internal/in']) {
    expect((await webhooks.create({ url }, 'operator:ann')).webhook.url).toBe(url)
  }
  for (const url of ['http://127.0.0.1:9001/', 'http://10.1.2.3/', 'https://other.internal/']) {
    await expect(webhooks.create({ url }, 'operator:ann')).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
  }
})

test('intruder 5: a host that was public when it was checked and leads inside later is not called', async () => {
  const receiver = await aReceiver()
  let address = '93.184.216.34'
  const engine = await openStore()
  const events = await delivering(engine, { webhookAllow: [], resolve: async () => [{ address }] })
  const made = await hook(events, `http://rebound.example.com:${receiver.port}/`, { types: ['lanes.*'] })
  address = '127.0.0.1'
  await engine.pause({}, { actor: 'operator:ann', reason: 'inside' })
  const delivery = await tried(events, made, 'inside', 1)
  expect(delivery).toMatchObject({ status: 'pending', log: [{ status: null }] })
  expect(delivery.log[0]?.error).toContain('127.0.0.1, which is not a public one')
  expect(receiver.received).toEqual([])
})

test('intruder 8: the webhooks of one tenant take no place from those of others', async () => {
  const { webhooks } = await eventsOn(await openStore())
  const url = 'http://127.0.0.1:1/'
  const [acme, blue] = [tenantId('acme'), tenantId('blue')]
  for (let made = 0; made < WEBHOOKS_PER_TENANT_MAX; made++) await webhooks.create({ url, tenant: acme }, 'ann', [acme])
  const tooMany = { code: 'REPRISE_CONFLICT', message: expect.stringContaining("'acme'") as string }
  await expect(webhooks.create({ url, tenant: acme }, 'ann', [acme])).rejects.toMatchObject(tooMany)
  const { webhook } = await webhooks.create({ url, tenant: blue }, 'bob', [blue])
  await expect(webhooks.update(webhook.id, { tenant: acme }, 'cid')).rejects.toMatchObject(tooMany)
  expect((await webhooks.update(webhook.id, { tenant: blue, description: 'd' }, 'cid')).webhook.description).toBe('d')
  for (let made = 0; made < WEBHOOKS_OF_ALL_MAX; made++) await webhooks.create({ url }, 'ann')
  await expect(webhooks.create({ url }, 'ann')).rejects.toMatchObject({ code: 'REPRISE_CONFLICT' })
  await expect(webhooks.create({ url, tenant: blue }, 'bob', [blue])).resolves.toBeDefined()
})

test('intruder 8: there are at most so many webhooks in all', async () => {
  const { webhooks } = await eventsOn(await openStore())
  const url = 'http://127.0.0.1:1/'
  for (let made = 0; made < WEBHOOKS_MAX; made++) {
    const tenant = tenantId(`tenant-${Math.floor(made / WEBHOOKS_PER_TENANT_MAX)}`)
    await webhooks.create({ url, tenant }, 'operator:ann')
  }
  await expect(webhooks.create({ url }, 'operator:ann')).rejects.toMatchObject({ code: 'REPRISE_CONFLICT' })
  expect(await webhooks.all()).toHaveLength(WEBHOOKS_MAX)
})

test('fault 27: a webhook that is gone is switched off, also if somebody changes it at that moment', async () => {
  const engine = await openStore()
  const { webhooks } = await eventsOn(engine)
  const { webhook } = await webhooks.create({ url: 'http://127.0.0.1:1/' }, 'operator:ann')
  let rivals = 1
  const raced = new Proxy(engine, {
    get: (target, name) => {
      if (name !== 'collection') return Reflect.get(target, name) as unknown
      const collection: Engine['collection'] = (definition) => {
        const inner = target.collection(definition)
        return {
          ...inner,
          update: async (document, version) => {
            if (definition.name === 'webhooks' && rivals-- > 0) {
              await webhooks.update(webhook.id, { description: 'changed meanwhile' }, 'operator:bob')
            }
            return inner.update(document, version)
          },
        }
      }
      return collection
    },
  })
  await (await eventsOn(raced)).webhooks.disable(webhook.id, 'Its receiver answered 410.')
  expect(await webhooks.get(webhook.id)).toMatchObject({ enabled: false, description: 'changed meanwhile' })
})

test('intruder 7: a webhook of another tenant does not exist, and one of all tenants can not be made', async () => {
  const { webhooks } = await eventsOn(await openStore())
  const acme = ['acme' as never]
  const { webhook } = await webhooks.create({ url: 'http://127.0.0.1:1/', tenant: acme[0] }, 'operator:ann', acme)
  expect((await webhooks.get(webhook.id, acme)).tenant).toBe('acme')
  await expect(webhooks.get(webhook.id, ['other' as never])).rejects.toMatchObject({ code: 'REPRISE_NOT_FOUND' })
  await expect(webhooks.create({ url: 'http://127.0.0.1:1/' }, 'operator:ann', acme)).rejects.toMatchObject({
    code: 'REPRISE_INVALID',
  })
  expect((await webhooks.list({}, ['other' as never])).items).toEqual([])
})
