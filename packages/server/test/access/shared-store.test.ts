// Several servers on one Redis, each with a connection of its own: what one of them takes back counts on the others.

import type { VirtualClock } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { ROLES } from '@reprise/operations'
import { type RedisServer, startRedis } from '@reprise/test-servers'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type AccessServer, ask, Browser, bearer, newClock, startAccess } from './fixture.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

const admin = { kind: 'user', actor: 'x', name: 'x', scopes: new Set(ROLES.admin), tenants: null } as const

async function startOn(clock: VirtualClock, prefix: string): Promise<AccessServer> {
  const engine = await openRedisEngine({ url: redis.url, prefix })
  onTestFinished(() => engine.close())
  return startAccess({ engine }, { clock })
}

test('intruder 7: a token revoked on one server is refused by another within a second', async () => {
  const clock = newClock()
  const [one, other] = [await startOn(clock, 'revoke'), await startOn(clock, 'revoke')]
  const { token, facts } = await one.access.tokens.create({ name: 'ci', scopes: ['read'] }, admin)
  expect((await ask(`${other.url}/probe`, bearer(token))).status).toBe(200)
  await one.access.tokens.revoke(facts.id, admin)
  clock.jump(1_000)
  expect((await ask(`${other.url}/probe`, bearer(token))).status).toBe(401)
})

test('A12: of many who redeem a link at once on two servers one gets in, and both know the session', async () => {
  const clock = newClock()
  const servers = [await startOn(clock, 'link'), await startOn(clock, 'link')]
  const { pathname } = new URL((await servers[0]?.access.firstLink()) ?? '')
  const browsers = servers.flatMap(({ url }) => Array.from({ length: 5 }, () => new Browser(url)))
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const statuses = await Promise.all(browsers.map(async (browser) => (await browser.post(pathname, '', form)).status))
  expect(statuses.filter((status) => status === 303)).toHaveLength(1)
  const cookie = `reprise=${browsers[statuses.indexOf(303)]?.cookies.get('reprise') ?? ''}`
  for (const { url } of servers) expect((await ask(`${url}/probe`, { headers: { cookie } })).status).toBe(200)
  const headers = { cookie, origin: servers[1]?.url ?? '' }
  expect((await ask(`${servers[1]?.url}/auth/sign-out`, { method: 'POST', headers })).status).toBe(204)
  for (const { url } of servers) expect((await ask(`${url}/probe`, { headers: { cookie } })).status).toBe(401)
})
