// The transport alone, against a server that speaks SQS: batches, sizes, groups, dead letters, and what is missing.

import { isRepriseError, messageBytes, type OutgoingMessage, type OutsideQueue } from '@reprise/core'
import { openSqsQueue } from '@reprise/sqs'
import { startFauxqs } from 'fauxqs'
import { expect, onTestFinished, test } from 'vitest'

const client = { credentials: { accessKeyId: 'test', secretAccessKey: 'test' } }

async function opened(name = 'work', attributes: Record<string, string> = {}) {
  const server = await startFauxqs({ port: 0, logger: false })
  onTestFinished(() => server.stop())
  const { queueUrl } = server.createQueue(name, { attributes })
  const queue = await openSqsQueue({ queueUrl, endpoint: server.address, region: 'us-east-1', client })
  onTestFinished(() => queue.close())
  return { server, queue, queueUrl }
}

const outgoing = (body: string, over: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  body,
  attributes: { taskType: 'worker.run' },
  group: 'g',
  dedupeId: body.slice(0, 100),
  ...over,
})

async function all(queue: OutsideQueue) {
  const found = []
  for (;;) {
    const some = await queue.receive({ limit: 10, waitMs: 0, visibilityMs: 30_000 })
    if (some.length === 0) return found
    found.push(...some)
  }
}

test('A10: sends, receives and removes any number in batches of ten', async () => {
  const { queue } = await opened()
  const bodies = Array.from({ length: 25 }, (_, n) => `message ${n}`)
  expect(await queue.send(bodies.map((body) => outgoing(body)))).toEqual(bodies.map(() => null))
  const received = await all(queue)
  expect(received.map(({ body }) => body).toSorted()).toEqual(bodies.toSorted())
  expect(received[0]).toMatchObject({ attributes: { taskType: 'worker.run' }, group: null, receives: 1 })
  expect(await queue.facts()).toMatchObject({ name: 'work', visible: 0, inFlight: 25, maxReceives: null })
  expect(await queue.remove(received.map(({ receipt }) => receipt))).toEqual(bodies.map(() => null))
  expect(await queue.facts()).toMatchObject({ visible: 0, inFlight: 0 })
})

test("a message above the queue's own limit is not sent, and those beside it are", async () => {
  const { queue } = await opened('work', { MaximumMessageSize: '2048' })
  const fits = outgoing('x'.repeat(2_048 - messageBytes(outgoing(''))))
  const [small, large, last] = await queue.send([fits, outgoing(`${fits.body}x`), outgoing('last')])
  expect([small, last]).toEqual([null, null])
  expect(isRepriseError(large, 'REPRISE_TOO_LARGE')).toBe(true)
  expect(await all(queue)).toHaveLength(2)
})

test('messages of a megabyte go in requests of their own', async () => {
  const { queue } = await opened()
  const bodies = ['a', 'b', 'c'].map((letter) => letter.repeat(700_000))
  expect(await queue.send(bodies.map((body) => outgoing(body)))).toEqual([null, null, null])
  expect(await all(queue)).toHaveLength(3)
})

test('FIFO: groups and dedupe ids go along, also those that SQS would not take as they are', async () => {
  const { queue } = await opened('work.fifo', { FifoQueue: 'true' })
  const long = { group: 'grüppe 1', dedupeId: 'ü'.repeat(200) }
  await queue.send([outgoing('one'), outgoing('one'), outgoing('two', long)])
  const received = await all(queue)
  expect(received.map(({ body }) => body)).toEqual(['one', 'two'])
  expect(received[0]?.group).toBe('g')
  expect(received[1]?.group).toMatch(/^[0-9a-f]{64}$/)
})

test('what was hidden for no time comes again at once, with its number of deliveries', async () => {
  const { queue } = await opened()
  await queue.send([outgoing('one')])
  const [first] = await all(queue)
  await queue.hide([{ receipt: first?.receipt ?? '', forMs: 0 }])
  expect(await all(queue)).toMatchObject([{ messageId: first?.messageId, receives: 2 }])
})

test('the dead-letter queue is found by the policy of the queue; without one there is none', async () => {
  const { server, queue } = await opened()
  expect(await queue.deadLetters()).toBeNull()
  const { queueArn } = server.createQueue('dead')
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn, maxReceiveCount: 3 })
  const { queueUrl } = server.createQueue('other', { attributes: { RedrivePolicy } })
  const other = await openSqsQueue({ queueUrl, endpoint: server.address, region: 'us-east-1', client })
  onTestFinished(() => other.close())
  expect(await other.facts()).toMatchObject({ maxReceives: 3 })
  expect((await other.deadLetters())?.name).toBe('dead')
})

test('a stop ends a long poll', async () => {
  const { queue } = await opened()
  const stop = new AbortController()
  const received = queue.receive({ limit: 1, waitMs: 20_000, visibilityMs: 1_000 }, stop.signal)
  stop.abort()
  expect(await received).toEqual([])
})

test('a server that is away, and an address that is none, are told as such', async () => {
  await expect(openSqsQueue({ queueUrl: 'https://example.com', region: 'x' })).rejects.toThrow(
    /not the address of a queue/,
  )
  const { server, queue } = await opened()
  await server.stop()
  const [problem] = await queue.remove(['receipt'])
  expect(problem).toBeInstanceOf(Error)
  await expect(queue.facts()).rejects.toThrow(/ECONNREFUSED|connect/)
})
