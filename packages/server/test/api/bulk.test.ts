// Many tasks as lines of JSON, as strangers and slow links send them: every line is answered, in order, whatever comes between.

import { once } from 'node:events'
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { type Engine, StoreBusyError, taskId } from '@reprise/core'
import { expect, onTestFinished, test } from 'vitest'
import { type Answered, type Api, SQLITE, STORES, startApi } from './fixture.ts'

interface LineAnswer {
  readonly line: number
  readonly outcome: string
  readonly id?: string
  readonly code?: string
}

const linesOf = (text: string): LineAnswer[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LineAnswer)

const bulk = (api: Api, raw: string, token = api.tokens.admin): Promise<Answered> =>
  api.send('POST', '/api/v1/tasks/bulk', { raw, token, headers: { 'content-type': 'application/x-ndjson' } })

/** A submission that is sent bit by bit, on one connection that is kept. */
function openBulk(api: Api, agent: Agent | false = false): ClientRequest {
  const sending = httpRequest(`${api.url}/api/v1/tasks/bulk`, {
    method: 'POST',
    agent,
    headers: { authorization: `Bearer ${api.tokens.admin}`, 'content-type': 'application/x-ndjson' },
  })
  onTestFinished(() => void sending.destroy())
  return sending
}

async function answerTo(sending: ClientRequest): Promise<IncomingMessage> {
  const [answer] = (await once(sending, 'response')) as [IncomingMessage]
  return answer.setEncoding('utf8')
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of answer) text += String(chunk)
  return text
}

/** The engine, and word of every look at the actions that it knows and every submission, before it is made. */
const watched = (engine: Engine, onCall: (what: 'look' | 'submit') => void): Engine =>
  new Proxy(engine, {
    get(target, key) {
      if (key === 'submit') {
        return (...given: Parameters<Engine['submit']>) => {
          onCall('submit')
          return target.submit(...given)
        }
      }
      if (key === 'collection') {
        return (...given: Parameters<Engine['collection']>) => {
          if (given[0].name === 'actions') onCall('look')
          return target.collection(...given)
        }
      }
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })

const line = (id: string, more: object = {}): string => `${JSON.stringify({ action: 'a', id, ...more })}\n`

test('intruder 8: a line that is too long is refused by itself, under its own number', async () => {
  const api = await startApi(SQLITE)
  const answered = await bulk(
    api,
    `${line('before')}\n${line('long', { payload: 'z'.repeat(1_300_000) })}${line('after')}`,
  )
  expect(linesOf(answered.text)).toMatchObject([
    { line: 1, outcome: 'accepted', id: 'before' },
    { line: 3, outcome: 'refused', code: 'REPRISE_TOO_LARGE' },
    { line: 4, outcome: 'accepted', id: 'after' },
  ])
})

test('intruder 8: a line without end ends the answer, which comes whole, and harms no later request', async () => {
  const api = await startApi(SQLITE)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const sending = openBulk(api, agent)
  const answering = answerTo(sending)
  sending.write(line('before'))
  sending.end(`{"action":"a","payload":"${'z'.repeat(20_000_000)}"}\n${line('after')}`)
  expect(linesOf(await textOf(await answering))).toMatchObject([
    { line: 1, outcome: 'accepted', id: 'before' },
    { line: 2, outcome: 'refused', code: 'REPRISE_TOO_LARGE' },
  ])
  for (const id of ['n1', 'n2']) {
    const next = openBulk(api, agent)
    const answer = answerTo(next)
    next.end(line(id))
    expect(linesOf(await textOf(await answer))).toMatchObject([{ line: 1, outcome: 'accepted', id }])
  }
})

test('intruder 8: lines with nothing in them are counted too', async () => {
  const api = await startApi(SQLITE)
  const answered = await bulk(api, `${line('first')}${'\n'.repeat(1_000_001)}`)
  expect(linesOf(answered.text)).toMatchObject([
    { line: 1, outcome: 'accepted' },
    { line: 1_000_001, outcome: 'refused', code: 'REPRISE_TOO_LARGE' },
  ])
})

test('fault 7: a line is answered while the next ones are still to come', async () => {
  const api = await startApi(SQLITE)
  const sending = openBulk(api)
  sending.write(line('first'))
  const answer = await answerTo(sending)
  const [text] = (await once(answer, 'data')) as [string]
  expect(linesOf(text)).toMatchObject([{ line: 1, outcome: 'accepted', id: 'first' }])
  sending.end(line('second'))
  expect(linesOf(await textOf(answer))).toMatchObject([{ line: 2, outcome: 'accepted', id: 'second' }])
})

test('fault 26: a server that stops submits and answers the lines that it has, and says that it stops', async () => {
  const inner = await SQLITE.open()
  const read = Promise.withResolvers<void>()
  const engine = watched(inner, (what) => what === 'look' && read.resolve())
  const api = await startApi(SQLITE, { engine })
  const sending = openBulk(api)
  sending.on('error', () => undefined)
  const answering = answerTo(sending)
  sending.write(line('first') + line('second').slice(0, 10))
  await read.promise
  const stopped = api.server.stop()
  expect(linesOf(await textOf(await answering))).toMatchObject([
    { line: 1, outcome: 'accepted', id: 'first' },
    { line: 2, outcome: 'refused', code: 'REPRISE_UNREACHABLE' },
  ])
  await stopped
  expect(await inner.task(taskId('first'))).toMatchObject({ state: { status: 'queued' } })
})

test('fault 7: what a caller sent before it went away is submitted, and the half of a line is not', async () => {
  const inner = await SQLITE.open()
  const read = Promise.withResolvers<void>()
  const submitted = Promise.withResolvers<void>()
  const engine = watched(inner, (what) => (what === 'look' ? read : submitted).resolve())
  const api = await startApi(SQLITE, { engine })
  const sending = openBulk(api)
  sending.on('error', () => undefined)
  sending.write(`${line('whole')}{"action":"a","id":"half"`)
  await read.promise
  sending.destroy()
  await submitted.promise
  expect((await api.get('/api/v1/counts')).body).toMatchObject({ accepted: 1 })
  expect((await api.get('/api/v1/tasks/whole')).status).toBe(200)
})

test('intruder 8: whoever sends everything first and reads later gets every answer', async () => {
  const api = await startApi(SQLITE)
  const sending = openBulk(api)
  const answering = answerTo(sending)
  // Answers that fill whatever lies between the two ends, and then lines that fill it the other way.
  sending.write(line('first') + '{}\n'.repeat(90_000))
  for (let at = 0; at < 25; at++) {
    if (!sending.write(`${'x'.repeat(1_000_000)}\n`)) await once(sending, 'drain')
  }
  sending.end(line('last'))
  await once(sending, 'finish')
  const answers = linesOf(await textOf(await answering))
  expect(answers).toHaveLength(90_027)
  expect([answers[0], answers.at(-1)]).toMatchObject([
    { line: 1, outcome: 'accepted', id: 'first' },
    { line: 90_027, outcome: 'accepted', id: 'last' },
  ])
})

test('fault 9: while the store is away it is asked once, and every line is refused for it', async () => {
  const inner = await SQLITE.open()
  let isAway = false
  let asked = 0
  const engine = watched(inner, () => {
    if (!isAway) return
    asked++
    throw new StoreBusyError('The store is away.')
  })
  const api = await startApi(SQLITE, { engine })
  isAway = true
  const lines = Array.from({ length: 50 }, (_, index) => JSON.stringify({ action: `a${index}` }))
  const answers = linesOf((await bulk(api, lines.join('\n'))).text)
  isAway = false
  expect(answers).toHaveLength(50)
  expect(new Set(answers.map(({ code }) => code))).toEqual(new Set(['REPRISE_STORE_BUSY']))
  expect(asked).toBe(1)
})

test.each(STORES)(
  'intruder 7: an id that another tenant has is free, and for the whole store refused without a word about it, on $name',
  async (store) => {
    const api = await startApi(store)
    const token = await api.tokenFor('operator', ['acme'])
    await api.post('/api/v1/tasks', { id: 'theirs', action: 'a', tenant: 'blue' })
    await api.post('/api/v1/tasks', { id: 'ours', action: 'a' }, { token })
    const single = await api.post('/api/v1/tasks', { id: 'theirs', action: 'a' }, { token })
    expect([single.status, single.body]).toEqual([201, { id: '@acme~theirs', outcome: 'accepted' }])
    const answered = await bulk(api, line('theirs') + line('ours') + line('new'), token)
    expect(linesOf(answered.text)).toMatchObject([
      { line: 1, outcome: 'duplicate', id: '@acme~theirs' },
      { line: 2, outcome: 'duplicate', id: '@acme~ours' },
      { line: 3, outcome: 'accepted', id: '@acme~new' },
    ])
    const whole = await api.post('/api/v1/tasks', { id: 'theirs', action: 'a', tenant: 'green' })
    expect([whole.status, whole.body]).toMatchObject([409, { code: 'REPRISE_CONFLICT', differs: ['tenant'] }])
    expect(whole.text).not.toContain('blue')
    const lines = await bulk(api, line('theirs'))
    expect(linesOf(lines.text)).toEqual([{ line: 1, outcome: 'conflict', id: 'theirs', differs: ['tenant'] }])
    expect(lines.text).not.toContain('blue')
    expect((await api.post('/api/v1/tasks', { id: 'ours', action: 'a' }, { token })).status).toBe(200)
  },
)

test('intruder 7: nobody can take an id that is derived for somebody else', async () => {
  const api = await startApi(SQLITE)
  for (const id of ['key-0123', 'event-0123']) {
    const single = await api.post('/api/v1/tasks', { id, action: 'a' })
    expect([single.status, single.body]).toMatchObject([400, { code: 'REPRISE_INVALID' }])
    expect(linesOf((await bulk(api, line(id))).text)).toMatchObject([{ outcome: 'refused', code: 'REPRISE_INVALID' }])
  }
})
