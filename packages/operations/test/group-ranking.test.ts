// The order of failure groups by their size, where there are more than one look at the store tells.

import { type Engine, type FailureGroup, systemClock } from '@reprise/core'
import { afterAll, expect, test } from 'vitest'
import { rankedGroups } from '../src/group-ranking.ts'
import { NO_FAMILIES } from '../src/group-views.ts'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { ANN, died, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

/** More than two pages of one look. */
const GROUPS = 230
const FIRST = 3

async function manyGroups(kind: (typeof STORES)[number]) {
  const { engine, call } = await storeWithCaller(kind)
  await died(
    engine,
    Array.from({ length: FIRST }, (_, at) => spec(`first-${at}`)),
    'CODE_FIRST',
  )
  for (let at = 0; at < GROUPS; at++) await died(engine, [spec(`one-${at}`)], `CODE_${at}`)
  return { engine, call }
}

/** The store, with something that happens after each page of groups. */
function withPages(engine: Engine, after: (page: number) => Promise<void>): Pick<Engine, 'failureGroups'> {
  let pages = 0
  return {
    failureGroups: async (query) => {
      const page = await engine.failureGroups(query)
      await after(++pages)
      return page
    },
  }
}

const inOrder = async (engine: Pick<Engine, 'failureGroups'>) =>
  rankedGroups(engine, systemClock, undefined, NO_FAMILIES)

test.each(STORES)('a group that comes to the front while all are looked at is not left out (%s)', async (kind) => {
  const { engine } = await manyGroups(kind)
  const pages = withPages(engine, async (page) => {
    // It was the oldest, and the look has been where it comes to.
    if (page === 1) await died(engine, [spec('again')], 'CODE_FIRST')
  })
  const order = await inOrder(pages)
  expect(order).toHaveLength(GROUPS + 1)
  expect(order[0]?.count).toBe(FIRST + 1)
})

test('calls at one moment share one look at all groups', async () => {
  const { engine } = await manyGroups('sqlite')
  const looks = { alone: 0, together: 0 }
  await inOrder(withPages(engine, async () => void looks.alone++))
  const pages = withPages(engine, async () => void looks.together++)
  const orders = await Promise.all(Array.from({ length: 5 }, () => inOrder(pages)))
  expect(orders.map(({ length }) => length)).toEqual(Array.from({ length: 5 }, () => GROUPS + 1))
  expect(looks.together).toBe(looks.alone)
})

test.each(STORES)('groups in a state are listed to the last, however many are in another (%s)', async (kind) => {
  const { engine, call } = await manyGroups(kind)
  const { items } = await engine.failureGroups({ limit: 120 })
  for (const { fingerprint } of items) await call(ANN, 'resolveFailureGroup', { fingerprint })
  const resolved = new Set<string>(items.map(({ fingerprint }) => fingerprint))
  for (const order of ['recent', 'count'] as const) {
    expect(await allOf(call, { order, state: 'resolved' })).toEqual(resolved)
    const open = await allOf(call, { order, state: 'open' })
    expect(open.size).toBe(GROUPS + 1 - resolved.size)
    expect([...open].filter((one) => resolved.has(one))).toEqual([])
  }
})

async function allOf(
  call: Awaited<ReturnType<typeof storeWithCaller>>['call'],
  input: object,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  let cursor: string | null = null
  do {
    const page: { readonly items: readonly FailureGroup[]; readonly next: string | null } = await call(
      ANN,
      'listFailureGroups',
      { ...input, limit: 7, ...(cursor === null ? {} : { cursor }) },
    )
    for (const { fingerprint } of page.items) {
      expect(found).not.toContain(fingerprint)
      found.add(fingerprint)
    }
    cursor = page.next
  } while (cursor !== null)
  return found
}
