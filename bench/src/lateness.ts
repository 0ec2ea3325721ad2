// How late delayed tasks start: they are handed in ahead of time, come due one by one at random moments, and the worker,
// in another process, has nothing else to do. Lateness is from the moment a task is due to the start of its handler.

import { type FullSide, openFullQueue } from './contestants.ts'
import { Starts, sample, WARMUP_SAMPLES } from './latency.ts'
import { chanceOf, inputBatches } from './payload.ts'
import type { Store } from './store.ts'
import { startWorker } from './worker-elsewhere.ts'

export interface LatenessRequest {
  readonly store: Store
  readonly side: FullSide
  readonly tasks: number
  /** They come due within this time. */
  readonly spreadMs: number
}

export interface Lateness {
  readonly samplesMs: readonly number[]
}

/** By then all have been handed in. */
const AHEAD_MS = 1_000
const START_MS_MAX = 30_000

export async function measureLateness({ store, side, tasks, spreadMs }: LatenessRequest): Promise<Lateness> {
  const queue = await openFullQueue(store, side)
  const warmup = new Starts()
  const dueAt = new Map<number, number>()
  const samplesMs: number[] = []
  const allStarted = Promise.withResolvers<void>()
  const worker = startWorker(store, side, {
    onStarted({ number, moment, at }) {
      warmup.add(number, moment)
      const due = dueAt.get(number)
      if (due !== undefined && samplesMs.push(at - due) === tasks) allStarted.resolve()
    },
  })
  for (let number = 0; number < WARMUP_SAMPLES; number++) {
    await Promise.race([sample(queue, warmup, number), worker.failed])
  }

  const firstDueAt = Date.now() + AHEAD_MS
  for (const inputs of inputBatches(WARMUP_SAMPLES, WARMUP_SAMPLES + tasks)) {
    for (const { number } of inputs) dueAt.set(number, firstDueAt + Math.floor(chanceOf(number) * spreadMs))
    await queue.submitDelayed(
      inputs,
      inputs.map(({ number }) => dueAt.get(number) ?? firstDueAt),
    )
  }
  if (Date.now() >= firstDueAt) throw new Error('The first tasks were due before all had been handed in.')
  const tooLate = setTimeout(
    () => allStarted.reject(new Error(`Only ${samplesMs.length} of ${tasks} delayed tasks have started.`)),
    AHEAD_MS + spreadMs + START_MS_MAX,
  )
  await Promise.race([allStarted.promise, worker.failed])
  clearTimeout(tooLate)
  await worker.stop()
  await queue.close()
  return { samplesMs }
}
