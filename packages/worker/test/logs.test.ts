// What handlers log: to the worker's logger, or standard error; and kept with the attempt, within bounds.

import { LOG_LINES_MAX, type Logger, StoreBusyError, silentLogger } from '@reprise/core'
import { createWorker, defineAction, PermanentError } from '@reprise/worker'
import { expect, onTestFinished, test, vi } from 'vitest'
import { setUp } from './fixture.ts'

const textsOf = (items: readonly { readonly lines: readonly { readonly text: string }[] }[]) =>
  items.map(({ lines }) => lines.map(({ text }) => text))

test('lines are kept with the attempt, seen within a second, with level, fields and the time of the store', async () => {
  const hold = Promise.withResolvers<void>()
  const talking = defineAction({
    name: 'talking',
    async run(_, { log }) {
      log.debug('not kept')
      log.info('begun', { page: 4 })
      log.warn('slow\nand forged', { error: new Error('late') })
      await hold.promise
      log.error('at the end')
    },
  })
  const { client, clock } = await setUp({ actions: [talking] })
  const startedAt = clock.now()
  const { id } = await client.submit(talking, null)
  await clock.advance(1_000)
  const early = [
    { at: startedAt, level: 'info', text: 'begun page=4' },
    { at: startedAt, level: 'warn', text: 'slow\\u000aand forged error="Error: late"' },
  ]
  expect((await client.taskLogs({ id })).items).toEqual([{ attempt: 1, lines: early, dropped: 0 }])
  hold.resolve()
  await clock.advance(10)
  const last = { at: startedAt + 1_000, level: 'error', text: 'at the end' }
  expect((await client.taskLogs({ id })).items).toEqual([{ attempt: 1, lines: [...early, last], dropped: 0 }])
})

test('the lines of each attempt stand apart, whatever becomes of it', async () => {
  const failing = defineAction({
    name: 'failing',
    retry: { max: 1, backoff: { kind: 'fixed', delay: '1s' } },
    run(_, { log, attempt }) {
      log.info(`attempt ${attempt}`)
      throw attempt === 1 ? Object.assign(new Error('again'), { code: 'ECONNRESET' }) : new PermanentError('enough')
    },
  })
  const { client, clock } = await setUp({ actions: [failing] })
  const { id } = await client.submit(failing, null)
  await clock.advance(5_000)
  expect((await client.getTask({ id })).state.status).toBe('dead')
  expect(textsOf((await client.taskLogs({ id })).items)).toEqual([['attempt 1'], ['attempt 2']])
})

test('of many or long lines the last are kept, and the rest is counted', async () => {
  const chatty = defineAction({
    name: 'chatty',
    run(text: string, { log }) {
      for (let line = 1; line <= 500; line++) log.info(`${line} ${text}`)
    },
  })
  const { client, clock } = await setUp({ actions: [chatty] })
  const [many, long] = await client.submitMany(chatty, ['', 'ü\u0007'.repeat(3_000)])
  await clock.advance(10)
  const of = async (id = '') => (await client.taskLogs({ id })).items[0]
  const kept = await of(many?.id)
  expect([kept?.lines.length, kept?.dropped, kept?.lines.at(-1)?.text]).toEqual([LOG_LINES_MAX, 400, '500 '])
  const few = await of(long?.id)
  expect(few?.lines.length).toBeGreaterThan(0)
  expect((few?.lines.length ?? 0) + (few?.dropped ?? 0)).toBe(500)
})

test('a handler that logs nothing costs no further call, and many lines share one', async () => {
  const quiet = defineAction({ name: 'quiet', run: () => null })
  const talking = defineAction({
    name: 'talking',
    run(_, { log }) {
      for (let line = 0; line < 50; line++) log.info('line')
    },
  })
  const { client, clock, engine } = await setUp({ actions: [quiet, talking] })
  const renewals = () => engine.calls.filter(({ verb }) => verb === 'renew').length
  await client.submitMany(quiet, [1, 2, 3])
  await clock.advance(100)
  expect(renewals()).toBe(0)
  await client.submitMany(talking, [1, 2, 3])
  await clock.advance(100)
  expect(renewals()).toBe(1)
})

test('a store that is away when an attempt ends loses neither its end nor its lines', async () => {
  const talking = defineAction({
    name: 'talking',
    run(_, { log }) {
      engine.fault = (verb) => {
        if (verb !== 'claim') throw new StoreBusyError('down')
      }
      log.info('the last word')
      return 'done'
    },
  })
  const { client, clock, engine } = await setUp({ actions: [talking] })
  const { id } = await client.submit(talking, null)
  await clock.advance(2_000)
  engine.fault = () => {}
  await clock.advance(5_000)
  expect((await client.getTask({ id })).state).toMatchObject({ status: 'succeeded', result: 'done' })
  expect(textsOf((await client.taskLogs({ id })).items)).toEqual([['the last word']])
})

test('without a logger, handlers write to standard error from info on; with one, to that', async () => {
  const stderr = vi.spyOn(console, 'error').mockReturnValue()
  onTestFinished(() => stderr.mockRestore())
  const talking = defineAction({ name: 'talking', run: (_, { log }) => log.info('from the handler') })
  const { client, clock, engine } = await setUp({ actions: [defineAction({ name: 'other', run: () => null })] })
  const heard: string[] = []
  const log: Logger = { ...silentLogger, info: (message) => void heard.push(message) }
  const run = async (options: { log?: Logger }): Promise<void> => {
    const worker = await createWorker({ engine, clock, actions: [talking], id: 'w2', ...options })
    const { id } = await client.submit(talking, null)
    await clock.advance(10)
    expect((await client.getTask({ id })).state.status).toBe('succeeded')
    await worker.stop()
  }
  await run({})
  const written = stderr.mock.calls.map(([text]) => String(text))
  expect(written).toEqual([expect.stringMatching(/INFO from the handler task=\S+ attempt=1 action=talking$/)])
  await run({ log })
  expect(heard).toContain('from the handler')
  expect(stderr).toHaveBeenCalledTimes(1)
})

test('without a logger, an attempt that is retried says why', async () => {
  const stderr = vi.spyOn(console, 'error').mockReturnValue()
  onTestFinished(() => stderr.mockRestore())
  const { client, clock, engine } = await setUp({ actions: [defineAction({ name: 'other', run: () => null })] })
  const flaky = defineAction({
    name: 'flaky',
    retry: { max: 1 },
    run: (_, { attempt }) => {
      if (attempt === 1) throw new Error('no luck')
    },
  })
  const worker = await createWorker({ engine, clock, actions: [flaky], id: 'w2' })
  await client.submit(flaky, null)
  await clock.advance(5_000)
  await worker.stop()
  expect(stderr.mock.calls.map(([text]) => String(text))).toEqual([
    expect.stringMatching(/INFO flaky failed: no luck .*Retry 1 of 1 in /),
  ])
})
