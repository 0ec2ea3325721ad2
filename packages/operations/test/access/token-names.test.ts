// One name, one token: however many ask for it at once, on however many servers, and whatever stops half-way.

import { type Collection, type Document, type Engine, isRepriseError, tenantId, VirtualClock } from '@reprise/core'
import { ROLES } from '@reprise/operations'
import { afterAll, describe, expect, test } from 'vitest'
import { ApiTokens } from '../../src/access/api-tokens.ts'
import type { Caller } from '../../src/access/caller.ts'
import { openStore, STORES, stopRedis } from '../events/fixture.ts'

afterAll(stopRedis)

const ADMIN: Caller = {
  kind: 'user',
  actor: 'google:ann@example.com',
  name: 'Ann',
  scopes: new Set(ROLES.admin),
  tenants: null,
}

const tokensOn = (engine: Engine, clock = new VirtualClock()): ApiTokens =>
  new ApiTokens(engine, clock, (error) => {
    throw error
  })

const deploys = { name: 'deploys', scopes: ['read'] } as const

/** The same store, but one server writes to one collection only when `before` is through with it. */
function slowed(
  engine: Engine,
  name: 'tokens' | 'token-names',
  write: 'insert' | 'update',
  before: () => Promise<void>,
): Engine {
  return new Proxy(engine, {
    get(target, property) {
      if (property !== 'collection') return Reflect.get(target, property) as unknown
      return <D extends Document>(definition: Parameters<typeof target.collection<D>>[0]): Collection<D> => {
        const collection = target.collection(definition)
        if (definition.name !== name) return collection
        return write === 'insert'
          ? { ...collection, insert: (document) => before().then(() => collection.insert(document)) }
          : { ...collection, update: (document, version) => before().then(() => collection.update(document, version)) }
      }
    },
  })
}

/** Stands still there until it is let go. */
function stop() {
  const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const before = (): Promise<void> => {
    reached.resolve()
    return goOn.promise
  }
  return { before, reached: reached.promise, goOn: goOn.resolve }
}

const named = async (tokens: ApiTokens): Promise<readonly string[]> =>
  (await tokens.list(ADMIN)).items.map(({ name }) => name)

describe.each(STORES)('in %s', (kind) => {
  test('intruder 7: of many who want one name at once, on two servers, one gets it; revoked, it is free again', async () => {
    const engine = await openStore(kind)
    const servers = [tokensOn(engine), tokensOn(engine)]
    const wanted = Array.from({ length: 10 }, () => servers.map((tokens) => tokens.create(deploys, ADMIN))).flat()
    const results = await Promise.allSettled(wanted)
    const made = results.filter((result) => result.status === 'fulfilled')
    expect(made).toHaveLength(1)
    const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    expect(refusals.every((error) => isRepriseError(error, 'REPRISE_CONFLICT'))).toBe(true)
    const [tokens] = servers
    if (tokens === undefined) throw new Error('no server')
    expect(await named(tokens)).toEqual(['deploys'])
    await tokens.revoke(made[0]?.value.facts.id ?? '', ADMIN)
    await expect(tokens.create(deploys, ADMIN)).resolves.toMatchObject({ facts: { name: 'deploys' } })
  })
})

test('intruder 7: a server that dies between taking a name and making its token does not keep the name', async () => {
  const engine = await openStore()
  const clock = new VirtualClock()
  const dying = tokensOn(
    slowed(engine, 'tokens', 'insert', () => Promise.reject(new Error('the server is gone'))),
    clock,
  )
  await expect(dying.create(deploys, ADMIN)).rejects.toThrow('the server is gone')
  const tokens = tokensOn(engine, clock)
  await expect(tokens.create(deploys, ADMIN)).rejects.toMatchObject({ code: 'REPRISE_CONFLICT' })
  clock.jump(60_000)
  await expect(tokens.create(deploys, ADMIN)).resolves.toMatchObject({ facts: { name: 'deploys' } })
})

test('intruder 7: a server that stood still for so long that its name was given away makes no second token', async () => {
  const engine = await openStore()
  const clock = new VirtualClock()
  const { before, reached, goOn } = stop()
  const stalled = tokensOn(slowed(engine, 'tokens', 'insert', before), clock).create(deploys, ADMIN)
  await reached
  clock.jump(60_000)
  const tokens = tokensOn(engine, clock)
  const { facts } = await tokens.create(deploys, ADMIN)
  goOn()
  await expect(stalled).rejects.toMatchObject({ code: 'REPRISE_CONFLICT' })
  const { items } = await tokens.list(ADMIN)
  expect(items.map(({ id }) => id)).toEqual([facts.id])
})

test('intruder 7: whoever takes a name over finds the token that was made at the last moment, and gives it back', async () => {
  const engine = await openStore()
  const clock = new VirtualClock()
  const [making, taking] = [stop(), stop()]
  const slow = tokensOn(slowed(engine, 'tokens', 'insert', making.before), clock).create(deploys, ADMIN)
  await making.reached
  clock.jump(60_000)
  const other = tokensOn(slowed(engine, 'token-names', 'update', taking.before), clock).create(deploys, ADMIN)
  await taking.reached
  making.goOn()
  const { facts } = await slow
  taking.goOn()
  await expect(other).rejects.toMatchObject({ code: 'REPRISE_CONFLICT' })
  const tokens = tokensOn(engine, clock)
  expect((await tokens.list(ADMIN)).items.map(({ id }) => id)).toEqual([facts.id])
  await tokens.revoke(facts.id, ADMIN)
  await expect(tokens.create(deploys, ADMIN)).resolves.toMatchObject({ facts: { name: 'deploys' } })
})

test('intruder 7: who is limited to tenants learns nothing of the names of other tokens, nor goes by one', async () => {
  const tokens = tokensOn(await openStore())
  const acme: Caller = { ...ADMIN, tenants: [tenantId('acme')] }
  const made = [
    await tokens.create({ ...deploys, tenants: [tenantId('blue')] }, ADMIN),
    await tokens.create(deploys, ADMIN),
    await tokens.create(deploys, acme),
  ]
  const actors = await Promise.all(made.map(async ({ token }) => (await tokens.verify(token)).actor))
  expect(actors).toEqual(['token:blue/deploys', 'token:deploys', 'token:acme/deploys'])
  await expect(tokens.create(deploys, acme)).rejects.toThrow("There is a token 'deploys' already.")
  expect(await tokens.list(acme, { limit: 1 })).toMatchObject({
    items: [{ name: 'deploys', tenants: ['acme'] }],
    next: null,
  })
  await tokens.revoke(made[2]?.facts.id ?? '', acme)
  await expect(tokens.create(deploys, acme)).resolves.toMatchObject({ facts: { name: 'deploys' } })
})

test('intruder 7: a name with many tenants before it is as unique as any', async () => {
  const tokens = tokensOn(await openStore())
  const tenants = Array.from({ length: 100 }, (_, index) => tenantId(`tenant-${index}`))
  const long = { ...deploys, name: 'x'.repeat(200), tenants }
  const { facts, token } = await tokens.create(long, ADMIN)
  expect((await tokens.verify(token)).actor).toMatch(/^token:[0-9a-f]{16}\/x{200}$/)
  await expect(tokens.create(long, ADMIN)).rejects.toMatchObject({ code: 'REPRISE_CONFLICT' })
  await tokens.revoke(facts.id, ADMIN)
  await tokens.create(long, ADMIN)
})
