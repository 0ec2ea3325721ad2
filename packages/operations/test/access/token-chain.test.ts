// Tokens that make tokens: whoever is limited to tenants has one bound for all of them, on both engines.

import { systemClock, tenantId } from '@reprise/core'
import { afterAll, expect, test } from 'vitest'
import { ApiTokens } from '../../src/access/api-tokens.ts'
import { type Caller, localCaller } from '../../src/access/caller.ts'
import { openStore, STORES, stopRedis } from '../events/fixture.ts'

afterAll(stopRedis)

const BOUND = 12

const adminOf = (tenant: string): Caller => ({
  ...localCaller(`token:${tenant}/admin`),
  kind: 'token',
  tenants: [tenantId(tenant)],
})

test.each(STORES)('a chain of tokens has one bound for all that it makes (%s)', async (kind) => {
  const tokens = new ApiTokens(await openStore(kind), systemClock, () => undefined, BOUND)
  const make = async (name: string, maker: Caller): Promise<Caller> =>
    tokens.verify((await tokens.create({ name, scopes: ['read', 'tokens'] }, maker)).token)
  const first = adminOf('acme')
  let last = first
  for (let index = 0; index < BOUND; index++) last = await make(`t-${index}`, index % 2 === 0 ? last : first)
  for (const maker of [last, first]) {
    await expect(make('one-more', maker)).rejects.toMatchObject({ code: 'REPRISE_CONFLICT' })
  }
  const [made] = (await tokens.list(first)).items
  await tokens.revoke(made?.id ?? '', first)
  await make('one-more', last)
  await expect(make('of-another', adminOf('globex'))).resolves.toMatchObject({ tenants: ['globex'] })
})

test.each(STORES)('behind each token of a chain is who made the first (%s)', async (kind) => {
  const tokens = new ApiTokens(await openStore(kind), systemClock, () => undefined)
  const make = async (name: string, maker: Caller): Promise<Caller> =>
    tokens.verify((await tokens.create({ name, scopes: ['read', 'operate', 'tokens'] }, maker)).token)
  const ann: Caller = { ...localCaller('google:ann@example.com#1f2e3d4c'), kind: 'user' }
  const second = await make('second', await make('first', ann))
  expect([second.actor, second.person]).toEqual(['token:second', ann.actor])
})
