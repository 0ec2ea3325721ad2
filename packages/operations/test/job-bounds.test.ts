// What one tenant's jobs can't do: be more than they may, or fill the store with chunks that wait.

import { tenantId } from '@reprise/core'
import { afterAll, expect, test } from 'vitest'
import type { Caller } from '../src/access/caller.ts'
import { perform } from '../src/run.ts'
import { ALL_OPERATIONS, type OperationName } from '../src/table.ts'
import { type ContextChange, contextOn, openStore, STORES, stopRedis } from './events/fixture.ts'
import { ACME, ANN } from './store-with-caller.ts'

afterAll(stopRedis)

const OTHER: Caller = { ...ACME, actor: 'token:other', tenants: [tenantId('other')] }

/** Two servers on one store. */
async function servers(kind: (typeof STORES)[number], change: ContextChange = {}) {
  const engine = await openStore(kind)
  const contexts = [await contextOn(engine, change), await contextOn(engine, change)] as const
  const callOn =
    (context: (typeof contexts)[number]) =>
    (caller: Caller, name: OperationName, input: object): Promise<never> =>
      perform(context, caller, [name, ALL_OPERATIONS[name]], input, new AbortController().signal) as Promise<never>
  return { call: callOn(contexts[0]), onAnother: callOn(contexts[1]) }
}

test.each(STORES)('of jobs that are started at once only so many stay (%s)', async (kind) => {
  const { call, onAnother } = await servers(kind)
  const made = await Promise.allSettled(
    [call, onAnother].flatMap((start) =>
      Array.from({ length: 51 }, () => start(ACME, 'startJob', { action: 'render', tenant: 'acme' })),
    ),
  )
  const started = made.filter(({ status }) => status === 'fulfilled').length
  expect(started).toBe(100)
  const { items } = (await call(ANN, 'listJobs', { tenant: 'acme', limit: 500 })) as {
    readonly items: readonly unknown[]
  }
  expect(items).toHaveLength(100)
  await expect(call(OTHER, 'startJob', { action: 'render', tenant: 'other' })).resolves.toMatchObject({
    status: 'running',
  })
})

test.each(STORES)('E6: a start that comes several times at once under one id is one job (%s)', async (kind) => {
  const { call, onAnother } = await servers(kind)
  const asked = { id: 'film', action: 'render', range: { to: 3 } }
  const answers = await Promise.all([call, onAnother, call, onAnother].map((start) => start(ANN, 'startJob', asked)))
  expect(answers).toMatchObject(answers.map(() => ({ id: 'film', total: 3 })))
  expect(await call(ANN, 'listJobs', {})).toMatchObject({ items: [{ id: 'film' }] })
  await expect(call(ANN, 'startJob', { ...asked, action: 'other' })).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
})

test.each(STORES)("chunks that wait count as bytes of the job's tenant (%s)", async (kind) => {
  const { call, onAnother } = await servers(kind, { tenantRules: { acme: { bytes: 100_000 } } })
  const { id } = (await call(ACME, 'startJob', { action: 'render', tenant: 'acme' })) as { readonly id: string }
  const chunks = (from: number) => ({ id, from, payloads: ['x'.repeat(40_000)] })
  await call(ACME, 'handOverChunks', chunks(0))
  await call(ACME, 'handOverChunks', chunks(1))
  const full = { code: 'REPRISE_TENANT_BYTES_FULL' }
  await expect(call(ACME, 'handOverChunks', chunks(2))).rejects.toMatchObject(full)
  await expect(onAnother(ACME, 'handOverChunks', chunks(2))).rejects.toMatchObject(full)
  // What is there already is no new byte.
  await expect(call(ACME, 'handOverChunks', chunks(1))).resolves.toMatchObject({ received: 2 })
})
