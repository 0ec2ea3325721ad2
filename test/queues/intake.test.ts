// Tasks that come by a queue of SQS, end to end: what each message leads to, and what is left in the queue.

import { type Engine, type OutsideQueue, seededRandom, type TaskId } from '@reprise/core'
import { keptPage, QUEUE_LABEL, textOfKept } from '@reprise/orchestrator'
import { describe, expect, test } from 'vitest'
import { Platform } from './platform.ts'
import { aMeter, ENGINES, isIn, message, openStore, orchestrating, startQueue, taskOf, until } from './setting.ts'

const journalOf = async (engine: Engine, type: string) =>
  (await engine.journal.read({ limit: 1_000 })).entries.filter((entry) => entry.type === type)

describe.each(ENGINES)('on %s', (kind) => {
  test('A7: a message becomes a task with one run, and leaves the queue', async () => {
    const [{ engine }, sqs, platform] = [await openStore(kind), await startQueue(), new Platform()]
    await orchestrating(engine, sqs.queue, platform)
    for (let n = 0; n < 25; n++) sqs.send(message(`t${n}`, { tenant: 'acme', labels: { n: String(n) } }))
    await until(async () => (await engine.counts()).succeeded === 25 && sqs.left() === 0)
    expect(new Set(platform.ran).size).toBe(25)
    expect(await taskOf(engine, 't7')).toMatchObject({
      tenant: 'acme',
      payload: '{"of":"t7"}',
      labels: { n: '7', [QUEUE_LABEL]: 'work' },
      attempt: 1,
    })
  })

  test('A2, fault 28: a message that comes twice runs once, and both leave the queue', async () => {
    const [{ engine }, sqs, platform] = [await openStore(kind), await startQueue(), new Platform()]
    for (let n = 0; n < 10; n++) for (let copy = 0; copy < 2; copy++) sqs.send(message(`t${n}`))
    await orchestrating(engine, sqs.queue, platform)
    await until(async () => (await engine.counts()).succeeded === 10 && sqs.left() === 0)
    expect(platform.ran).toHaveLength(10)
  })

  test('A6: an attempt above the ceiling is journalled and dropped; one that is no number counts as 1', async () => {
    const [{ engine }, sqs, platform] = [await openStore(kind), await startQueue(), new Platform()]
    await orchestrating(engine, sqs.queue, platform, { maxRetries: 2 })
    sqs.send(message('high', { attempt: 4 }))
    sqs.send(message('odd', { attempt: 'two' }))
    await until(async () => (await isIn(engine, 'odd', 'succeeded')()) && sqs.left() === 0)
    expect(await journalOf(engine, 'message.dropped')).toMatchObject([{ taskId: 'high', attempt: 4 }])
    expect(platform.ran).toEqual(['odd:1'])
    expect(await engine.task('high' as TaskId)).toBeNull()
  })

  test('A3: after failed launches nothing is reserved, the message comes again, and ends in the dead letters', async () => {
    const [{ engine }, sqs, platform] = [await openStore(kind), await startQueue({ maxReceives: 2 }), new Platform()]
    platform.failure = new Error('no capacity')
    await orchestrating(engine, sqs.queue, platform)
    sqs.send(message('t1'))
    await until(() => sqs.dead().length === 1)
    expect(sqs.left()).toBe(0)
    // Launches that failed never show as executions (A17). The store leaves the task to the message for now.
    expect(await engine.execution('t1' as TaskId, 1)).toBeNull()
    const task = await taskOf(engine, 't1')
    expect(task).toMatchObject({ attempt: 0, deferrals: 2, state: { status: 'waiting' } })
    const { dueAt = 0, since = 0 } = task.state as { readonly dueAt?: number; readonly since?: number }
    expect(dueAt - since).toBeGreaterThan(60_000)
    expect(platform.ran).toEqual([])
  })

  test('a meter is told what became of each message, and how many are where', async () => {
    const [{ engine }, sqs, platform] = [await openStore(kind), await startQueue(), new Platform()]
    sqs.server.sendMessage(sqs.deadName, '{}')
    const texts = [message('t1'), message('t1'), message('t2'), message('high', { attempt: 9 }), 'no json']
    for (const text of texts) sqs.send(text)
    const meter = aMeter()
    await orchestrating(engine, sqs.queue, platform, { meter })
    const of = (what: string): number => meter.told[`reprise_queue_${what}`] ?? 0
    const outcomes = ['launched', 'duplicate', 'dropped', 'kept']
    await until(() => outcomes.reduce((sum, outcome) => sum + of(`messages_total work ${outcome}`), 0) === 5)
    expect(outcomes.map((outcome) => of(`messages_total work ${outcome}`))).toEqual([2, 1, 1, 1])
    await until(() => meter.told['reprise_queue_depth work dead_letters'] !== undefined)
    expect(of('depth work dead_letters')).toBe(1)
  })

  test('a message that nobody can read is kept aside, whole, with an entry in the journal', async () => {
    const [{ engine }, sqs, platform] = [await openStore(kind), await startQueue(), new Platform()]
    await orchestrating(engine, sqs.queue, platform)
    const long = `${'€"\u0001'.repeat(120_000)} no json`.replaceAll('\u0001', '\t')
    const ids = [sqs.send(long), sqs.send({ payload: 1 }), sqs.send(message('t1'))]
    await until(isIn(engine, 't1', 'succeeded'))
    ids.push(sqs.send(message('t1', { payload: 'another' })))
    await until(async () => (await keptPage(engine, 'work', {})).items.length === 3 && sqs.left() === 0)
    const kept = (await keptPage(engine, 'work', {})).items
    const reasons = new Map(kept.map(({ id, reason }) => [id, reason]))
    expect(reasons.get(ids[0] ?? '')).toMatch(/not valid JSON/)
    expect(reasons.get(ids[1] ?? '')).toMatch(/names no action/)
    expect(reasons.get(ids[3] ?? '')).toMatch(/another payload/)
    const [first] = kept.filter(({ id }) => id === ids[0])
    expect(first === undefined ? '' : await textOfKept(engine, first)).toBe(long)
    expect(await journalOf(engine, 'message.kept')).toHaveLength(3)
    expect(platform.ran).toEqual(['t1:1'])
  })

  test('faults of the queue (throttled calls, lost answers, early redelivery) lose nothing and run nothing twice', async () => {
    const [{ engine }, sqs, platform] = [
      await openStore(kind),
      await startQueue({ maxReceives: 1_000 }),
      new Platform(),
    ]
    const faulty = withFaults(sqs.queue)
    await Promise.all([orchestrating(engine, faulty, platform), orchestrating(engine, faulty, platform)])
    for (let n = 0; n < 40; n++) sqs.send(message(`t${n}`))
    await until(async () => (await engine.counts()).succeeded === 40 && sqs.left() === 0)
    expect(platform.ran).toHaveLength(40)
    expect(new Set(platform.ran).size).toBe(40)
  })
})

test('A7: no slot: the message is hidden, and runs once there is room', async () => {
  const [{ engine }, sqs, platform] = [
    await openStore('sqlite'),
    await startQueue({ maxReceives: 1_000 }),
    new Platform(),
  ]
  const by = { actor: 'operator:ann', reason: 'a test' }
  await engine.pause({}, by)
  let hidden = 0
  const queue = watching(sqs.queue, { hide: (entries) => (hidden += entries.length) })
  await orchestrating(engine, queue, platform)
  sqs.send(message('t1'))
  await until(() => hidden > 0)
  expect(await engine.task('t1' as TaskId)).toBeNull()
  await engine.resume({}, by)
  await until(isIn(engine, 't1', 'succeeded'))
  expect(platform.ran).toEqual(['t1:1'])
})

test('the queue is asked for no more than there are slots for', async () => {
  const [{ engine }, sqs, platform] = [await openStore('sqlite'), await startQueue(), new Platform()]
  platform.behaviour = () => null
  await orchestrating(engine, sqs.queue, platform, { slots: 3 })
  for (let n = 0; n < 10; n++) sqs.send(message(`t${n}`))
  await until(() => platform.ran.length === 3 && sqs.left() === 7)
  expect(sqs.messages().map((one) => one.approximateReceiveCount)).toEqual(Array<number>(7).fill(0))
  platform.behaviour = () => ({ ok: true, result: null })
  platform.finishAll({ ok: true, result: null })
  await until(async () => (await engine.counts()).succeeded === 10)
})

test('what is in hand is kept hidden while its launch takes longer than the visibility', async () => {
  const [{ engine }, sqs, platform] = [await openStore('sqlite'), await startQueue(), new Platform()]
  const release = Promise.withResolvers<void>()
  platform.holdUp = release.promise
  let extended = 0
  const queue = watching(sqs.queue, { hide: (entries) => (extended += entries.length) })
  await orchestrating(engine, queue, platform, { launch: { leaseMs: 60_000 }, queueIntake: { visibilityMs: 1_000 } })
  sqs.send(message('t1'))
  // Four thirds of a second: without the extension it would have been seen again.
  await until(() => extended >= 4)
  expect(sqs.messages().map((one) => one.approximateReceiveCount)).toEqual([1])
  release.resolve()
  await until(async () => (await isIn(engine, 't1', 'succeeded')()) && sqs.left() === 0)
  expect(platform.ran).toEqual(['t1:1'])
})

test('A2: a process that stands still for longer than the visibility: its message comes to another, and runs once', async () => {
  const [{ engine }, sqs, platform] = [await openStore('sqlite'), await startQueue(), new Platform()]
  const release = Promise.withResolvers<void>()
  platform.holdUp = release.promise
  // Nobody keeps its message hidden: as if its clock stood still.
  const still = { ...watching(sqs.queue, { hide: () => undefined }), hide: async () => [] }
  const over = { launch: { leaseMs: 60_000 }, queueIntake: { visibilityMs: 1_000 } }
  await orchestrating(engine, still, platform, over)
  sqs.send(message('t1'))
  await until(isIn(engine, 't1', 'running'))
  const others = new Platform()
  await orchestrating(engine, sqs.queue, others, over)
  // The reservation stands: the other one removes the message as a duplicate.
  await until(() => sqs.left() === 0)
  expect([platform.ran, others.ran]).toEqual([[], []])
  release.resolve()
  await until(isIn(engine, 't1', 'succeeded'))
  expect([platform.ran, others.ran]).toEqual([['t1:1'], []])
})

test('FIFO: each group runs in its order; one that must come again holds its own group only', async () => {
  const [{ engine }, sqs, platform] = [
    await openStore('sqlite'),
    await startQueue({ fifo: true, maxReceives: 1_000 }),
    new Platform(),
  ]
  const launch = platform.launch.bind(platform)
  let refusals = 0
  platform.launch = async (order) => {
    if (order.taskId === 'a1' && refusals++ < 2) throw new Error('no capacity')
    return launch(order)
  }
  for (let n = 0; n < 5; n++) for (const group of ['a', 'b', 'c']) sqs.send(message(`${group}${n}`), group)
  await orchestrating(engine, sqs.queue, platform)
  await until(async () => (await engine.counts()).succeeded === 15 && sqs.left() === 0)
  for (const group of ['a', 'b', 'c']) {
    const ran = platform.ran.filter((run) => run.startsWith(group))
    expect(ran).toEqual([0, 1, 2, 3, 4].map((n) => `${group}${n}:1`))
  }
  expect(refusals).toBe(3)
})

test('messages of one group in one batch: those behind one that must come again are put back unharmed', async () => {
  const [{ engine }, sqs, platform] = [await openStore('sqlite'), await startQueue(), new Platform()]
  const hides: { readonly receipt: string; readonly forMs: number }[] = []
  const bodies = ['g1', 'g2', 'other'].map((id) => JSON.stringify(message(id)))
  let isGiven = false
  const delivery = { attributes: {}, receives: 1, sentAt: null }
  const queue: OutsideQueue = {
    ...watching(sqs.queue, { hide: () => undefined }),
    receive: async (options, signal) => {
      if (isGiven) return sqs.queue.receive(options, signal)
      isGiven = true
      return bodies.map((body, n) => {
        return { ...delivery, messageId: `m${n}`, receipt: `r${n}`, body, group: n < 2 ? 'g' : 'h' }
      })
    },
    remove: async (receipts) => receipts.map(() => null),
    hide: async (entries) => {
      hides.push(...entries)
      return entries.map(() => null)
    },
  }
  const launch = platform.launch.bind(platform)
  platform.launch = async (order) => {
    if (order.taskId === 'g1') throw new Error('no capacity')
    return launch(order)
  }
  await orchestrating(engine, queue, platform, {
    queueIntake: { backoff: { kind: 'fixed', delayMs: 7_000, jitter: 0 } },
  })
  await until(() => hides.length === 2)
  expect(hides).toEqual([
    { receipt: 'r0', forMs: 7_000 },
    { receipt: 'r1', forMs: 0 },
  ])
  expect(platform.ran).toEqual(['other:1'])
})

test('without the store no message is asked for: deliveries are not used up by an outage', async () => {
  const [{ engine }, sqs, platform] = [await openStore('sqlite'), await startQueue({ maxReceives: 3 }), new Platform()]
  let isDown = true
  let asked = 0
  const away: Engine = {
    ...engine,
    reserve: (request) => (isDown ? Promise.reject(new Error('The store is away.')) : engine.reserve(request)),
    now: () => {
      asked++
      return isDown ? Promise.reject(new Error('The store is away.')) : engine.now()
    },
  }
  await orchestrating(away, sqs.queue, platform, { sweep: false })
  sqs.send(message('t1'))
  await until(() => asked > 6)
  // A question to the queue was under way already when the store failed.
  expect(sqs.messages()[0]?.approximateReceiveCount).toBeLessThanOrEqual(2)
  isDown = false
  await until(isIn(engine, 't1', 'succeeded'))
})

/** The same queue, with somebody who hears of calls. */
function watching(
  queue: OutsideQueue,
  heard: { readonly hide: (entries: readonly unknown[]) => unknown },
): OutsideQueue {
  return {
    name: queue.name,
    facts: () => queue.facts(),
    receive: (options, signal) => queue.receive(options, signal),
    remove: (receipts) => queue.remove(receipts),
    hide: (entries) => {
      heard.hide(entries)
      return queue.hide(entries)
    },
    send: (messages) => queue.send(messages),
    deadLetters: () => queue.deadLetters(),
    close: () => undefined,
  }
}

/** One call in four is throttled, or its answer is lost; one delivery in ten is seen by others at once. */
function withFaults(queue: OutsideQueue): OutsideQueue {
  const random = seededRandom(11)
  const unreliable = async <T>(call: () => Promise<T>): Promise<T> => {
    const roll = random.next()
    if (roll < 0.15) throw Object.assign(new Error('Rate exceeded'), { name: 'RequestThrottled' })
    const answer = await call()
    if (roll < 0.25) throw new Error('socket hang up')
    return answer
  }
  return {
    ...watching(queue, { hide: () => undefined }),
    receive: (options, signal) =>
      unreliable(async () => {
        const deliveries = await queue.receive({ ...options, visibilityMs: 1_000 }, signal)
        const seen = deliveries.filter(() => random.next() < 0.1)
        if (seen.length > 0) await queue.hide(seen.map(({ receipt }) => ({ receipt, forMs: 0 })))
        return deliveries
      }),
    remove: (receipts) => unreliable(() => queue.remove(receipts)),
    hide: (entries) => unreliable(() => queue.hide(entries)),
  }
}
