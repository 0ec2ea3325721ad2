// Types that a user never writes: inputs come from the schema, results from the handler. The compiler checks these;
// running the file only shows that the wrong payload is refused at run time too.

import { createClient, defineAction, type SubmittedTask } from '@reprise/client'
import { expect, expectTypeOf, test } from 'vitest'
import { type Invoice, type InvoiceInput, invoiceSchema, setUp } from './fixture.ts'

const send = defineAction({
  name: 'invoice.send',
  input: invoiceSchema,
  maxRetries: 3,
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
