// How far one look at a list of tasks goes: a bounded number of tasks, whatever it is asked for.

import { type Engine, type Task, type TaskQuery, tenantId } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { startRedis } from '@reprise/test-servers'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { spec } from './partitions-fixture.ts'

const server = await startRedis()
afterAll(() => server.stop())

/** More than one call looks at. */
const MANY = 13_000
const RARE = tenantId('rare')

async function allPages(engine: Engine, query: TaskQuery): Promise<readonly (readonly Task[])[]> {
  const pages: (readonly Task[])[] = []
  let next: string | null = null
  do {
    const page = await engine.tasks(next === null ? query : { ...query, cursor: next })
    pages.push(page.items)
    next = page.next
  } while (next !== null)
  return pages
}

it.each([1, 3])(
  'a look for the tasks of a tenant ends after a while, and the next goes on (%i partitions)',
  async (partitions) => {
    const engine = await openRedisEngine({ url: server.url, prefix: `listing-${partitions}`, partitions })
    onTestFinished(() => engine.close())
    const rare = ['r1', 'r2', 'r3', 'r4', 'r5', 'r6']
    const rows = (ids: readonly string[]) => ids.map((id) => spec(id, { tenant: RARE }))
    await engine.submit(rows(rare.slice(0, 4)))
    const others = Array.from({ length: MANY }, (_, index) => spec(`t${index}`))
    for (let at = 0; at < others.length; at += 1_000) await engine.submit(others.slice(at, at + 1_000))
    await engine.submit(rows(rare.slice(4)))

    const queries: readonly TaskQuery[] = [
      { tenant: RARE },
      { tenant: RARE, status: 'queued' },
      { tenant: RARE, limit: 1 },
    ]
    for (const query of queries) {
      const pages = await allPages(engine, query)
      const found = pages.flat().map(({ id }) => id)
      expect(new Set(found)).toEqual(new Set(rare))
      expect(found).toHaveLength(rare.length)
      expect(new Set(found.slice(0, 2))).toEqual(new Set(['r5', 'r6']))
      expect(pages.length).toBeGreaterThan(Math.ceil(rare.length / (query.limit ?? rare.length)))
    }
    const none = await allPages(engine, { status: 'succeeded' })
    expect(none.length).toBeGreaterThan(1)
    expect(none.flat()).toEqual([])
  },
)
