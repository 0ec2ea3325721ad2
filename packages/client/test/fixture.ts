// A client on a store in memory and a virtual clock, with the worker's part played by the test: claim one, end it.

import { type Client, createClient } from '@reprise/client'
import {
  type Claimed,
  DEFAULT_POOL,
  decideFailed,
  describeFailure,
  type Engine,
  encodeJson,
  failed,
  type StandardSchema,
  succeeded,
  VirtualClock,
  type WorkerId,
} from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { onTestFinished } from 'vitest'

export interface Setup {
  readonly clock: VirtualClock
  readonly engine: Engine
  readonly client: Client
}

export async function setUp(change: (engine: Engine) => Engine = (engine) => engine): Promise<Setup> {
  const clock = new VirtualClock()
  const engine = change(await openSqliteEngine({ path: ':memory:', clock }))
  const client = await createClient({ engine, clock })
  onTestFinished(async () => {
    await client.close()
    await engine.close()
  })
  return { clock, engine, client }
}

export async function claimAll(engine: Engine): Promise<readonly Claimed[]> {
  const worker = 'w1' as WorkerId
  const pools = [DEFAULT_POOL]
  const { epoch } = await engine.register({
    worker,
    pools,
    actions: null,
    host: 'h',
    version: '1',
    runtimes: [],
    endpoint: null,
  })
  return (await engine.claim({ worker, epoch, pools, actions: null, limit: 1_000, leaseMs: 15_000 })).claimed
}

export async function endAll(engine: Engine, result: unknown): Promise<void> {
  const claimed = await claimAll(engine)
  await engine.settle(claimed.map((one) => succeeded(one, encodeJson(result, 'result'))))
}

export async function failAll(engine: Engine, thrown: unknown): Promise<void> {
  const claimed = await claimAll(engine)
  const settlements = claimed.map((one) => {
    const { settings, action } = one.snapshot
    const failure = describeFailure(thrown, action)
    return failed(one, failure, decideFailed({ settings, spent: one, deadlineAt: null, failure, now: 0, roll: 0 }))
  })
  await engine.settle(settlements)
}

/** What a promise was rejected with: to be awaited later, without being unhandled until then. */
export function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => new Error(`It was not rejected, but gave ${JSON.stringify(value)}.`),
    (error: unknown) => error,
  )
}

export interface InvoiceInput {
  readonly invoiceId: string
  readonly copies?: number
}

export interface Invoice {
  readonly invoiceId: string
  readonly copies: number
}

/** What zod, valibot and others offer, by hand: input and output differ, as with a default. */
export const invoiceSchema: StandardSchema<InvoiceInput, Invoice> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate(value) {
      const input = value as Partial<InvoiceInput> | null
      if (typeof input?.invoiceId !== 'string') return { issues: [{ message: 'is missing', path: ['invoiceId'] }] }
      return { value: { invoiceId: input.invoiceId, copies: input.copies ?? 1 } }
    },
  },
}
