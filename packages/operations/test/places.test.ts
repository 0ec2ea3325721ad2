import { tenantId } from '@reprise/core'
import { expect, test } from 'vitest'
import { AtOnce, Places, type Taker } from '../src/places.ts'

const operator: Taker = { actor: 'user:ops', tenants: null }
const of = (actor: string, tenant: string, madeBy?: string): Taker => ({
  actor,
  tenants: [tenantId(tenant)],
  ...(madeBy === undefined ? {} : { madeBy }),
})
const BOUNDS = { all: 10, perCaller: 2, perTenant: 5, kept: 3 }

test('an admin of a tenant who mints tokens is one caller, and leaves others their places', () => {
  const places = new Places('streams', BOUNDS)
  const minted = Array.from({ length: 51 }, (_, index) => of(`token:t${index}`, 'acme', 'user:mallory'))
  const taken = minted.filter((taker) => places.hasRoom(taker) && places.enter(taker))
  expect(taken).toHaveLength(BOUNDS.perCaller)
  expect(places.hasRoom(of('user:ann', 'acme'))).toBe(true)
})

test('all callers of a tenant share what it has, and all tenants leave a share to operators', () => {
  const places = new Places('streams', BOUNDS)
  const enter = (tenant: string, count: number) =>
    Array.from({ length: count }, (_, index) => of(`user:${tenant}${index}`, tenant)).filter(
      (taker) => places.hasRoom(taker) && places.enter(taker),
    ).length
  expect(enter('acme', 20)).toBe(BOUNDS.perTenant)
  expect(enter('globex', 20)).toBe(BOUNDS.all - BOUNDS.kept - BOUNDS.perTenant)
  expect(places.hasRoom(operator)).toBe(true)
  expect(() => places.enter(of('user:x', 'initech'))).toThrow('At most 7 streams of all tenants may be under way')
})

test('whoever leaves makes room, once', () => {
  const places = new Places('streams', BOUNDS)
  const leave = places.enter(operator)
  places.enter(operator)
  expect(() => places.enter(operator)).toThrow('At most 2 streams of one caller')
  leave()
  leave()
  expect(places.size).toBe(1)
  places.enter(operator)
})

test('a few run at once, others wait in line, and a caller with much to do is passed by others', async () => {
  const running = { all: 2, perCaller: 1, perTenant: 1, kept: 0 }
  const atOnce = new AtOnce('searches', { running, waiting: { all: 3, perCaller: 2, perTenant: 2, kept: 0 } })
  const begun: string[] = []
  const ends: (() => void)[] = []
  const run = (taker: Taker): Promise<void> =>
    atOnce.run(taker, () => {
      begun.push(taker.actor)
      return new Promise((resolve) => void ends.push(resolve))
    })
  const [a, b] = [of('a', 'acme'), of('b', 'globex')]
  const all = [run(a), run(a), run(a), run(b)]
  expect(begun).toEqual(['a', 'b'])
  await expect(run(a)).rejects.toMatchObject({ code: 'REPRISE_RATE_LIMITED', retryAfterMs: 2_000 })
  for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
    end()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all(all)
  expect(begun).toEqual(['a', 'b', 'a', 'a'])
})
