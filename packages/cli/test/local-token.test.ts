// The token that `up` leaves for the command line: it ends by itself if nobody can revoke it any more, and is renewed before.

import { createClient } from '@reprise/client'
import { type Engine, systemClock } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { ApiTokens } from '@reprise/operations'
import { expect, onTestFinished, test } from 'vitest'
import { makeLocalToken, RENEW_AFTER_MS } from '../src/roles/local-token.ts'

async function aStore(): Promise<{ engine: Engine; isGood: (token: string) => Promise<boolean> }> {
  const engine = await openSqliteEngine({ path: ':memory:' })
  onTestFinished(() => engine.close())
  const isGood = (token: string): Promise<boolean> =>
    // Each time anew: a server would remember for a second.
    new ApiTokens(engine, systemClock, () => undefined).verify(token).then(
      () => true,
      () => false,
    )
  return { engine, isGood }
}

async function tokensOf(engine: Engine) {
  const client = await createClient({ engine })
  return (await client.listTokens({})).items
}

test('it has an end, also if its server is killed, and a renewal comes before it', async () => {
  const { engine } = await aStore()
  await makeLocalToken(engine, '/data')
  const [token] = await tokensOf(engine)
  const lifetimeMs = (token?.expiresAt ?? Number.POSITIVE_INFINITY) - (token?.createdAt ?? 0)
  expect(lifetimeMs).toBeLessThanOrEqual(12 * 3_600_000)
  expect(RENEW_AFTER_MS).toBeLessThan(lifetimeMs * 0.9)
})

test('a command that has the one before goes on, and the one before that has ended', async () => {
  const { engine, isGood } = await aStore()
  const local = await makeLocalToken(engine, '/data')
  const first = local.token
  const second = await local.renew()
  expect(local.token).toBe(second)
  expect(await Promise.all([first, second].map(isGood))).toEqual([true, true])
  const third = await local.renew()
  expect(await Promise.all([first, second, third].map(isGood))).toEqual([false, true, true])
  expect(await tokensOf(engine)).toHaveLength(2)
  // The next server on the folder finds what a crash left.
  const next = await makeLocalToken(engine, '/data')
  expect(await Promise.all([second, third, next.token].map(isGood))).toEqual([false, false, true])
  await next.revoke()
  expect(await tokensOf(engine)).toEqual([])
})
