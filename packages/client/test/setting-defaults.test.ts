// What actions leave open is filled in with what holds for the whole system, on both ways to a store.

import { createClient, defineAction } from '@reprise/client'
import { findAction, listActions, publishActions, type TaskId, type TaskSettings } from '@reprise/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serve } from './served.ts'

const DEFAULTS = { timeout: '30s', queueTtl: '5m', backoff: { kind: 'fixed', delay: '7s' } } as const
const FILLED = { timeoutMs: 30_000, queueTtlMs: 300_000, backoff: { kind: 'fixed', delayMs: 7_000, jitter: 0.2 } }

const open = defineAction({ name: 'open', retry: { max: 2 } })
// The built-in values, said on purpose: they are not open.
const closed = defineAction({
  name: 'closed',
  timeout: '5m',
  queueTtl: '1h',
  retry: { backoff: { kind: 'exponential', base: '1s' } },
})
const CLOSED = { timeoutMs: 300_000, queueTtlMs: 3_600_000, backoff: { kind: 'exponential', baseMs: 1_000 } }

const ways = ['on an engine', 'over HTTP'] as const

async function opened(way: (typeof ways)[number]) {
  const { engine, client: overHttp } = await serve({ defaults: DEFAULTS })
  const onEngine = await createClient({ engine, defaults: DEFAULTS })
  onTestFinished(() => onEngine.close())
  const client = way === 'on an engine' ? onEngine : overHttp
  const settingsOf = async (id: string): Promise<TaskSettings | undefined> =>
    (await engine.task(id as TaskId))?.settings
  return { engine, client, settingsOf }
}

describe.each(ways)('C7, C11: defaults of the whole system, %s', (way) => {
  test('fill in what an action leaves open, and nothing else', async () => {
    const { client, settingsOf } = await opened(way)
    const [one, other] = [await client.submit(open), await client.submit(closed)]
    expect(await settingsOf(one.id)).toMatchObject({ ...FILLED, maxRetries: 2 })
    // Over HTTP the backoff is the server's business: nobody published this action.
    const { backoff: _, ...times } = CLOSED
    expect(await settingsOf(other.id)).toMatchObject(way === 'over HTTP' ? times : CLOSED)
  })

  test('hold for actions that are known by name, and for those that nobody knows', async () => {
    const { engine, client, settingsOf } = await opened(way)
    await publishActions(engine, [open, closed])
    expect(await settingsOf((await client.submit('open')).id)).toMatchObject({ ...FILLED, maxRetries: 2 })
    expect(await settingsOf((await client.submit('closed')).id)).toMatchObject(CLOSED)
    expect(await settingsOf((await client.submit('unknown')).id)).toMatchObject(FILLED)
  })
})

test('an action that was published under old names has its settings under those of today', async () => {
  const { engine } = await serve()
  const careful = defineAction({ name: 'careful', uses: ['stripe'], breaker: { minFailures: 7, maxRamp: 9 } })
  await publishActions(engine, [careful])
  const catalogue = engine.collection<{ id: string; settings: object }>({ name: 'actions', indexes: {} })
  const stored = await catalogue.get('careful')
  if (stored === null) throw new Error('It was not published.')
  const old = JSON.stringify(stored.document)
    .replace('maxLosses', 'lossesMax')
    .replace('minFailures', 'failuresMin')
    .replace('maxOpenMs', 'openMsMax')
    .replace('maxRamp', 'rampMax')
  await catalogue.update(JSON.parse(old) as typeof stored.document, stored.version)
  // Not by a task: stores read those of their own under the new names, and would hide it.
  expect((await findAction(engine, careful.name))?.settings).toEqual(careful.settings)
  expect((await listActions(engine)).items.map(({ settings }) => settings)).toEqual([careful.settings])
})

test('C11: a client on an engine takes the defaults from the environment, and refuses odd ones', async () => {
  const { engine } = await serve()
  process.env.REPRISE_DEFAULT_QUEUE_TTL = '5m'
  onTestFinished(() => void delete process.env.REPRISE_DEFAULT_QUEUE_TTL)
  const client = await createClient({ engine })
  onTestFinished(() => client.close())
  const { id } = await client.submit(open)
  expect((await engine.task(id))?.settings).toMatchObject({ timeoutMs: 300_000, queueTtlMs: 300_000 })
  process.env.REPRISE_DEFAULT_QUEUE_TTL = 'soon'
  await expect(createClient({ engine })).rejects.toThrow("REPRISE_DEFAULT_QUEUE_TTL can't be used")
})
