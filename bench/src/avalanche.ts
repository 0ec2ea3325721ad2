// Many delayed tasks come due within one second while a worker, in another process, is busy with other work: how much of its
// rate is left, how long a fresh task of the highest priority waits, and on Redis how long the longest call held the server.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient, defineAction } from '@reprise/client'
import { Starts } from './latency.ts'
import { chanceOf, type Input, inputBatches, inputOf } from './payload.ts'
import { MEASURED } from './policies.ts'
import { forgetSlowCalls, type LongestCalls, longestCalls } from './redis-admin.ts'
import { percentile } from './statistics.ts'
import { addressOf, type Store } from './store.ts'
import { moment, startWorker } from './worker-elsewhere.ts'

export interface AvalancheRequest {
  readonly store: Store
  /** So many come due at once. */
  readonly delayed: number
  /** So many others are there to be worked off. */
  readonly standing: number
  /** How long the rate is measured, before they come due and then again. */
  readonly windowMs: number
}

export interface Avalanche {
  readonly beforePerS: number
  readonly duringPerS: number
  readonly urgentP95Ms: number
  /** Only a server can tell. */
  readonly longest: LongestCalls | null
}

/** They come due within this time. */
const SPREAD_MS = 1_000
/** Delayed tasks get this much more time to be handed in than as many others took, and some more. */
const SLOWER = 6
const SPARE_MS = 2_000
const WARMUP_MS = 1_500
const URGENT_EVERY_MS = 50
const LOOK_MS = 5
const BATCHES_IN_FLIGHT = 4

const ACTION = defineAction<Input>(MEASURED)

export async function measureAvalanche(request: AvalancheRequest): Promise<Avalanche> {
  const { store, delayed, standing, windowMs } = request
  const client = await createClient({ engine: addressOf(store) })
  const starts = new Starts()
  let next = standing + delayed
  const worker = startWorker(store, 'ours', {
    tellFrom: next,
    onStarted: ({ number, moment: at }) => starts.add(number, at),
  })
  /** Everything is handed in while a worker that is up is kept from it: how long its process takes to start counts nowhere. */
  const handedIn = async (): Promise<number> => {
    await urgentOne(client, starts, next++)
    await client.pauseLanes({ action: ACTION.name, reason: 'handing in' })
    const beganAt = Date.now()
    await submitAll(client, 0, standing, () => ({}))
    const msForDelayed = ((Date.now() - beganAt) / standing) * delayed * SLOWER
    const dueAt = Math.ceil(Date.now() + msForDelayed + SPARE_MS + WARMUP_MS + windowMs)
    await submitAll(client, standing, standing + delayed, ({ number }) => ({
      runAt: new Date(dueAt + Math.floor(chanceOf(number) * SPREAD_MS)),
    }))
    const quietUntil = dueAt - windowMs - WARMUP_MS
    if (Date.now() > quietUntil) throw new Error('The first tasks were due before all had been handed in.')
    await sleep(quietUntil - Date.now())
    await client.resumeLanes({ action: ACTION.name, reason: 'measuring' })
    return dueAt
  }
  const measured = async (): Promise<Avalanche> => {
    const dueAt = await handedIn()
    await sleep(WARMUP_MS)
    const withUrgent = async (ms: number) => {
      const urgent: Promise<number>[] = []
      const perS = await rateFor(client, ms, () => urgent.push(urgentOne(client, starts, next++)))
      return { perS, samplesMs: await Promise.all(urgent) }
    }
    // Urgent tasks come in all the time: on SQLite the processes share one lock.
    const { perS: before } = await withUrgent(dueAt - Date.now())
    if (store.engine === 'redis') await forgetSlowCalls(store.at)
    await sleep(Math.max(0, dueAt - Date.now()))
    const { perS: during, samplesMs } = await withUrgent(windowMs)
    return {
      beforePerS: before,
      duringPerS: during,
      urgentP95Ms: percentile(samplesMs, 95),
      longest: store.engine === 'redis' ? await longestCalls(store.at) : null,
    }
  }
  try {
    return await Promise.race([measured(), worker.failed])
  } finally {
    await worker.stop()
    await client.close()
  }
}

async function submitAll(
  client: Client,
  from: number,
  to: number,
  options: (input: Input) => { readonly runAt?: Date },
): Promise<void> {
  const left = Iterator.from(inputBatches(from, to))
  const submitSome = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true; next = left.next()) {
      await client.submitMany(ACTION, next.value, options)
    }
  }
  await Promise.all(Array.from({ length: BATCHES_IN_FLIGHT }, submitSome))
}

/** From submit to the start of its handler. */
async function urgentOne(client: Client, starts: Starts, number: number): Promise<number> {
  const submittedAt = moment()
  const [startedAt] = await Promise.all([starts.of(number), client.submit(ACTION, inputOf(number), { priority: 9 })])
  return startedAt - submittedAt
}

/** Successes per second in so long a time; what is to be done now and then meanwhile is not waited for. */
async function rateFor(client: Client, ms: number, now: () => void): Promise<number> {
  const from = await ended(client)
  let next = from.at
  while (performance.now() < from.at + ms) {
    if (performance.now() >= next) {
      next += URGENT_EVERY_MS
      now()
    }
    await sleep(LOOK_MS)
  }
  const to = await ended(client)
  return ((to.succeeded - from.succeeded) / (to.at - from.at)) * 1_000
}

async function ended(client: Client): Promise<{ readonly at: number; readonly succeeded: number }> {
  const { succeeded } = await client.counts()
  return { at: performance.now(), succeeded }
}
