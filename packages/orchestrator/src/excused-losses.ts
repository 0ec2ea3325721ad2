// Losses that were no crashes. A worker that was cut off or stood still comes back in the same epoch, and its lost attempts
// say nothing about their tasks. They are told apart when it matters: before one more loss would end a task as a crash
// loop. A worker that has left or registered again since can't be asked: its losses count.

import { allPages, type Observing, type TaskId } from '@reprise/core'

/** A task has few lost attempts; the first ones are enough to tell. */
const LOOKED_AT_MAX = 1_000

/** Of the lost attempts of this task in this generation, those whose workers were heard of again in the same epoch. */
export async function excusedLosses(
  engine: Pick<Observing, 'executions' | 'worker'>,
  id: TaskId,
  generation: number,
): Promise<number> {
  const { items } = await allPages((page) => engine.executions(id, page), LOOKED_AT_MAX)
  let excused = 0
  for (const execution of items) {
    if (execution.status !== 'lost' || execution.generation !== generation || execution.worker === null) continue
    const worker = await engine.worker(execution.worker)
    const isSameEpoch = worker !== null && worker.registeredAt <= execution.dispatchedAt
    if (isSameEpoch && worker.lastBeatAt > execution.resolvedAt) excused++
  }
  return excused
}
