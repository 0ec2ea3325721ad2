// The feed: followers that begin anywhere, at any time, while entries are written.

import { type Engine, type Journal, taskId } from '@reprise/core'
import { afterAll, expect, test } from 'vitest'
import { EventFeed } from '../../src/events/feed.ts'
import { note, openStore, SkippingClock, STORES, stopRedis } from './fixture.ts'

afterAll(stopRedis)

const ENTRIES = 600
const TASKS = 7

const aboutTask = (number: number) => note(String(number), { taskId: taskId(`t${number % TASKS}`) })

async function follow(feed: EventFeed, start: string, count: number): Promise<string[]> {
  const { signal } = new AbortController()
  const reasons: string[] = []
  let cursor = start
  while (reasons.length < count) {
    const page = await feed.next(cursor, signal)
    if (page === null) break
    reasons.push(...page.entries.map(({ reason }) => reason))
    cursor = page.cursor
  }
  return reasons
}

test.each(STORES)('B5: followers that join at any moment miss nothing and see it in order (%s)', async (kind) => {
  const engine = await openStore(kind)
  const feed = new EventFeed({ engine, pollMs: 5, pageEntries: 20 })
  const start = await feed.tail()
  const followers: Promise<string[]>[] = [follow(feed, start, ENTRIES)]
  for (let at = 0; at < ENTRIES; at += 15) {
    const batch = Array.from({ length: 15 }, (_, index) => aboutTask(at + index))
    // Half of them one by one: the reader sees single entries as well as full pages.
    if (at % 2 === 0) await engine.journal.append(batch)
    else for (const one of batch) await engine.journal.append([one])
    if (at % 150 === 0) followers.push(follow(feed, start, ENTRIES))
  }
  const all = Array.from({ length: ENTRIES }, (_, index) => String(index))
  for (const seen of await Promise.all(followers)) {
    // Partitions have no order between them, but each keeps its own: that of any one task.
    const inOrder = kind === 'redis in 3 partitions' ? seen.toSorted((a, b) => Number(a) - Number(b)) : seen
    expect(inOrder).toEqual(all)
    for (let task = 0; task < TASKS; task++) {
      const own = seen.map(Number).filter((number) => number % TASKS === task)
      expect(own).toEqual(own.toSorted((a, b) => a - b))
    }
  }
})

/** The engine, with its reads of the journal counted. */
function counted(engine: Engine): { readonly engine: Engine; reads: number } {
  const result = { reads: 0 } as { engine: Engine; reads: number }
  const journal: Journal = {
    append: (entries) => engine.journal.append(entries),
    read: (query) => {
      result.reads++
      return engine.journal.read(query)
    },
    from: (at) => engine.journal.from(at),
  }
  result.engine = new Proxy(engine, {
    get: (target, name) => (name === 'journal' ? journal : (Reflect.get(target, name) as unknown)),
  })
  return result
}

test('B5: many who wait cost one look at the store, and nobody who waits costs none', async () => {
  const clock = new SkippingClock()
  const store = counted(await openStore())
  const feed = new EventFeed({ engine: store.engine, clock, pollMs: 60_000 })
  const start = await feed.tail()
  const gone = new AbortController()
  const waiting = Array.from({ length: 50 }, () => feed.next(start, gone.signal))
  await feed.tail()
  store.reads = 0
  await store.engine.journal.append([note('news')])
  clock.skip(60_000)
  const pages = await Promise.all(waiting)
  expect(pages.map((page) => page?.entries[0]?.reason)).toEqual(Array(50).fill('news'))
  expect(store.reads).toBe(1)
  gone.abort()
  clock.skip(60_000)
  expect(store.reads).toBe(1)
})

const thousand = (batch: number) => Array.from({ length: 1_000 }, (_, index) => note(`${batch}.${index}`))

test.each(STORES)('B5: the end of a long journal is found without reading it (%s)', async (kind) => {
  const clock = new SkippingClock()
  const store = counted(await openStore(kind))
  for (let batch = 0; batch < 5; batch++) await store.engine.journal.append(thousand(batch))
  const feed = new EventFeed({ engine: store.engine, clock })
  const start = await feed.tail()
  expect(store.reads).toBe(1)
  const { signal } = new AbortController()
  const next = feed.next(start, signal)
  await store.engine.journal.append([note('news')])
  clock.skip(250)
  expect((await next)?.entries.map(({ reason }) => reason)).toEqual(['news'])
  // Nobody follows for a while: who comes then begins at the end again, and who comes back misses nothing.
  for (let batch = 5; batch < 8; batch++) await store.engine.journal.append(thousand(batch))
  clock.skip(60_000)
  store.reads = 0
  const end = await feed.tail()
  expect(store.reads).toBe(1)
  expect(await follow(feed, start, 3_001)).toHaveLength(3_001)
  const last = feed.next(end, signal)
  await store.engine.journal.append([note('more')])
  clock.skip(250)
  expect((await last)?.entries.map(({ reason }) => reason)).toEqual(['more'])
})

test('B5: a follower outlives trouble with the store, and is told of a cursor that is none', async () => {
  const engine = await openStore()
  let isBroken = false
  const journal: Journal = {
    append: (entries) => engine.journal.append(entries),
    read: (query) => (isBroken ? Promise.reject(new Error('away')) : engine.journal.read(query)),
    from: (at) => engine.journal.from(at),
  }
  const errors: unknown[] = []
  const told = Promise.withResolvers<void>()
  const feed = new EventFeed({
    engine: { journal },
    pollMs: 2,
    onError: (error) => {
      errors.push(error)
      told.resolve()
    },
  })
  const { signal } = new AbortController()
  const start = await feed.tail()
  isBroken = true
  const next = feed.next(start, signal)
  await told.promise
  isBroken = false
  await engine.journal.append([note('after')])
  expect((await next)?.entries[0]?.reason).toBe('after')
  await expect(feed.next('not a cursor', signal)).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
})
