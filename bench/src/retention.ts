// Does retention keep pace? Client and worker, in one process, take in and work off tasks as fast as they can, and the worker
// deletes successes that are older than a rule says. What is older and still there must not grow: what is younger grows and
// shrinks with the rate of the work, and says nothing about retention.

import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, defineAction } from '@reprise/client'
import { consoleLogger, createWorker } from '@reprise/worker'
import { type Input, inputBatches } from './payload.ts'
import { MEASURED, POLICIES } from './policies.ts'
import { CONCURRENCY } from './queue-under-test.ts'
import { addressOf, type Store } from './store.ts'

export interface RetentionRequest {
  readonly store: Store
  /** How long successes are kept. */
  readonly keepMs: number
  /** How long all goes on, once the first successes are that old. */
  readonly windowMs: number
}

export interface Retention {
  readonly processPerS: number
  /** What is kept at the end, divided by what succeeded in the last `keepMs`. */
  readonly keptShare: number
  /** By how much the overdue ones grew in the second half of the window, divided by what succeeded meanwhile. */
  readonly growth: number
}

/** So many wait at the most: the work goes on, and the queue does not grow. */
const BACKLOG_MAX = 5_000
const LOOK_MS = 2
/** How often it is noted how much has been done. */
const NOTE_MS = 50

interface Moment {
  /** All that ever did. */
  readonly succeeded: number
  /** Of these, in the last `keepMs`. */
  readonly young: number
  readonly kept: number
}

export async function measureRetention({ store, keepMs, windowMs }: RetentionRequest): Promise<Retention> {
  const engine = addressOf(store)
  const client = await createClient({ engine })
  const submitted = defineAction<Input>(MEASURED)
  let done = 0
  const failed = Promise.withResolvers<never>()
  const worker = await createWorker({
    engine,
    actions: [
      defineAction<Input>({
        ...MEASURED,
        run: async () => {
          done++
        },
      }),
    ],
    concurrency: CONCURRENCY,
    retention: { succeeded: keepMs },
    policies: POLICIES,
    onError: failed.reject,
    log: consoleLogger({ level: 'error' }),
  })
  let isOver = false
  const handIn = async (): Promise<void> => {
    let number = 0
    for (const inputs of inputBatches(0, Number.MAX_SAFE_INTEGER)) {
      while (!isOver && number - done > BACKLOG_MAX) await sleep(LOOK_MS)
      if (isOver) return
      number += inputs.length
      await client.submitMany(submitted, inputs)
    }
  }
  const notes: { readonly at: number; readonly done: number }[] = []
  const noting = setInterval(() => notes.push({ at: performance.now(), done }), NOTE_MS)
  const look = async (): Promise<Moment> => {
    const { succeeded } = await client.counts()
    const young = done - (notes.findLast(({ at }) => at <= performance.now() - keepMs)?.done ?? 0)
    return { succeeded: done, young, kept: succeeded }
  }
  const measured = async (): Promise<Retention> => {
    await sleep(keepMs + windowMs / 2)
    const half = await look()
    await sleep(windowMs / 2)
    const end = await look()
    const passed = end.succeeded - half.succeeded
    return {
      processPerS: (passed * 2_000) / windowMs,
      keptShare: end.kept / end.young,
      growth: (end.kept - end.young - (half.kept - half.young)) / passed,
    }
  }
  const handingIn = handIn()
  try {
    return await Promise.race([measured(), failed.promise, handingIn.then(() => failed.promise)])
  } finally {
    isOver = true
    clearInterval(noting)
    await handingIn.catch(() => {})
    await worker.stop()
    await client.close()
  }
}
