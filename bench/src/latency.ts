// From submit to the start of the handler when nothing else is going on: one task at a time, the next one only when the
// one before has ended and the worker has come to rest. The worker is in this process, or in another on the same file.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient, defineAction } from '@reprise/client'
import { createWorker } from '@reprise/worker'
import type { Mode } from './arguments.ts'
import { NODE_OPTIONS, type OutcomeOf, type WorkerRuns } from './measurement.ts'
import { type Input, inputOf } from './payload.ts'
import { CONCURRENCY } from './queue-under-test.ts'
import { openEngine } from './reprise.ts'

const ACTION = 'bench.started'
const REST_MS = 5
/** First tasks are slower: nothing is compiled yet. */
const WARMUP_SAMPLES = 50
const WORKER_PROCESS = fileURLToPath(new URL('./latency-worker-process.ts', import.meta.url))

/** Answers with the moment its handler started. */
export const startedAction = defineAction<Input, number>({ name: ACTION, run: async () => moment() })

/** In milliseconds. Processes of one machine read the same monotonic clock, so moments of two of them compare. */
function moment(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

export async function measureLatency(
  path: string,
  mode: Mode,
  samples: number,
  workerRuns: WorkerRuns,
): Promise<OutcomeOf<'latency'>> {
  const engine = await openEngine(path, mode)
  const client = await createClient({ engine })
  const stopWorker = workerRuns === 'in process' ? await workerHere(engine) : await workerElsewhere(path, mode)
  const samplesMs: number[] = []
  for (let number = 0; number < WARMUP_SAMPLES + samples; number++) {
    await sleep(REST_MS)
    const submittedAt = moment()
    const task = await client.submit(startedAction, inputOf(number))
    const startedAt = await task.result({ timeout: '30s' })
    if (number >= WARMUP_SAMPLES) samplesMs.push(startedAt - submittedAt)
  }
  await stopWorker()
  await client.close()
  await engine.close()
  return { samplesMs }
}

type Stop = () => Promise<void>

async function workerHere(engine: Awaited<ReturnType<typeof openEngine>>): Promise<Stop> {
  const worker = await createWorker({ engine, actions: [startedAction], concurrency: CONCURRENCY })
  return () => worker.stop()
}

/** The process says when its worker runs, and stops when it is let go. */
async function workerElsewhere(path: string, mode: Mode): Promise<Stop> {
  const child = fork(WORKER_PROCESS, [path, mode], { execArgv: [...NODE_OPTIONS] })
  await once(child, 'message')
  return async () => {
    const exited = once(child, 'exit')
    child.disconnect()
    await exited
  }
}
