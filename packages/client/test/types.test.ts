// Types that a user never writes: inputs come from the schema, results from the handler. The compiler checks these;
// running the file only shows that the wrong payload is refused at run time too.

import {
  createClient,
  defineAction,
  implement,
  pages,
  type StandardSchema,
  type SubmittedTask,
  submission,
} from '@reprise/client'
import { expect, expectTypeOf, test } from 'vitest'
import { type Invoice, type InvoiceInput, invoiceSchema, setUp } from './fixture.ts'

const send = defineAction({
  name: 'invoice.send',
  input: invoiceSchema,
  retry: { max: 3 },
  timeout: '2m',
  queueTtl: '10m',
  async run(input, context) {
    const { attempt, retryToken, signal, log } = context
    expectTypeOf(input).toEqualTypeOf<Invoice>()
    expectTypeOf(attempt).toEqualTypeOf<number>()
    expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
    log.info('sending', { retryToken })
    context.progress(0.5, 'half')
    return { sentAt: 1 }
  },
})

test('the payload is typed by the schema, the result by the handler', async () => {
  const { client } = await setUp()
  const input: InvoiceInput = { invoiceId: 'in_1' }
  const task = await client.submit(send, input)
  expectTypeOf(task).toEqualTypeOf<SubmittedTask<{ sentAt: number }>>()
  expectTypeOf<ReturnType<typeof task.result>>().resolves.toEqualTypeOf<{ sentAt: number }>()
  const many = await client.submitMany(send, [{ invoiceId: 'in_2' }], (one, index) => {
    expectTypeOf(one).toEqualTypeOf<InvoiceInput>()
    return { id: `${one.invoiceId}-${index}` }
  })
  expect(many.map(({ id }) => id)).toEqual(['in_2-0'])
})

test('a wrong payload is an error of the compiler, and of submit', async () => {
  const { client } = await setUp()
  // @ts-expect-error invoiceId is missing
  await expect(client.submit(send, { invoice: 'in_1' })).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
  // @ts-expect-error a list of payloads of which one is wrong
  await expect(client.submitMany(send, [{ invoiceId: 'in_1' }, 5])).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
  expect((await client.counts()).accepted).toBe(0)
})

test('without a schema the type of the input of the handler counts', async () => {
  const { client } = await setUp()
  const resize = defineAction({ name: 'resize', run: (input: { readonly width: number }) => input.width * 2 })
  const task = await client.submit(resize, { width: 5 })
  expectTypeOf<ReturnType<typeof task.result>>().resolves.toEqualTypeOf<number>()
  // @ts-expect-error width is a number
  const wrong = await client.submit(resize, { width: '5' })
  expect([task.accepted, wrong.accepted]).toEqual([true, true])
})

test('a handler without a result gives null; a name gives no types', async () => {
  const { client } = await setUp()
  const nothing = defineAction({ name: 'nothing', run: async () => {} })
  const task = await client.submit(nothing, null)
  expectTypeOf<ReturnType<typeof task.result>>().resolves.toEqualTypeOf<null>()
  const named = await client.submit<string>('by-name', { anything: true })
  expectTypeOf<ReturnType<typeof named.result>>().resolves.toEqualTypeOf<string>()
  expectTypeOf(createClient).parameter(0).toHaveProperty('engine')
  expect((await named.get())?.action).toBe('by-name')
})

test('pages takes the input of the call that it repeats, and no other', async () => {
  const { client } = await setUp()
  // @ts-expect-error the field is called fingerprint
  const misspelt = pages(client.redriveTasks, { fingerprnt: 'x', reason: 'r' })
  await expect(misspelt.next()).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
  // @ts-expect-error the query is called q
  const renamed = pages(client.listTasks, { query: 'x' })
  await expect(renamed.next()).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
})

const receiptSchema: StandardSchema<{ readonly receipt: string }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate(value) {
      const { receipt } = value as { readonly receipt?: unknown }
      return typeof receipt === 'string'
        ? { value: { receipt } }
        : { issues: [{ message: 'is missing', path: ['receipt'] }] }
    },
  },
}

test('a declaration with output types its results, and what implements it', async () => {
  const { client } = await setUp()
  const pay = defineAction({ name: 'pay', input: invoiceSchema, output: receiptSchema })
  const task = await client.submit(pay, { invoiceId: 'in_1' })
  expectTypeOf<ReturnType<typeof task.result>>().resolves.toEqualTypeOf<{ readonly receipt: string }>()
  const paid = implement(pay, ({ invoiceId }) => ({ receipt: invoiceId, extra: 1 }))
  expectTypeOf(paid.run).returns.resolves.toMatchTypeOf<{ readonly receipt: string }>()
  // @ts-expect-error the receipt is missing
  implement(pay, () => ({ paid: true }))
  const wrong = { validate: true } as never
  expect(() => defineAction({ name: 'odd', output: wrong })).toThrow(
    "The output of action 'odd' is not a Standard Schema",
  )
})

test('an action that takes nothing is submitted without a payload, and only such a one', async () => {
  const { client } = await setUp()
  const ping = defineAction({ name: 'ping', run: () => 'pong' as const })
  const tick = defineAction({ name: 'tick', run: (input: null) => input })
  const tasks = [await client.submit(ping), await client.submit(tick), await client.submit('by-name')]
  expect(await Promise.all(tasks.map(async (task) => (await task.get())?.payload))).toEqual([null, null, null])
  // @ts-expect-error it takes an invoice
  await expect(client.submit(send)).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
})

test('several actions go in one call, each with its own payload, options and type of result', async () => {
  const { client } = await setUp()
  const ping = defineAction({ name: 'ping', run: () => 'pong' as const })
  const [sent, pinged, named] = await client.submitMany([
    submission(send, { invoiceId: 'in_1' }, { id: 'first' }),
    submission(ping),
    submission<number>('by-name', { a: 1 }, { tenant: 'acme' }),
  ])
  expectTypeOf(sent).toEqualTypeOf<SubmittedTask<{ sentAt: number }>>()
  expectTypeOf(pinged).toEqualTypeOf<SubmittedTask<'pong'>>()
  expectTypeOf(named).toEqualTypeOf<SubmittedTask<number>>()
  expect(sent.id).toBe('first')
  expect(await named.get()).toMatchObject({ action: 'by-name', tenant: 'acme', payload: { a: 1 } })
  expect(await pinged.get()).toMatchObject({ action: 'ping', payload: null })
  // @ts-expect-error invoiceId is missing
  const wrong = client.submitMany([submission(ping), submission(send, {})])
  await expect(wrong).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
  expect((await client.counts()).accepted).toBe(3)
})
