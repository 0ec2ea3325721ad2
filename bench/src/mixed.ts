// Tasks as they are outside of benchmarks: one in ten fails once and succeeds at its second attempt, one in a hundred
// fails for good. The rate counts tasks that reached their end, not attempts.

import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, defineAction } from '@reprise/client'
import { createWorker, Permanent, Transient, type Worker } from '@reprise/worker'
import type { Mode } from './arguments.ts'
import type { OutcomeOf } from './measurement.ts'
import { type Input, inputBatches } from './payload.ts'
import { CONCURRENCY, perSecond } from './queue-under-test.ts'
import { openEngine } from './reprise.ts'

type Fate = 'succeeds' | 'fails once' | 'dies'

const RETRY_DELAY_MS = 10
const LOOK_MS = 2
/** Spreads neighbouring numbers: Knuth's multiplier. */
const SPREAD = 2_654_435_761

function fateOf(number: number): Fate {
  const percent = (Math.imul(number, SPREAD) >>> 0) % 100
  if (percent < 1) return 'dies'
  return percent < 11 ? 'fails once' : 'succeeds'
}

const action = defineAction<Input>({
  name: 'bench.mixed',
  maxRetries: 1,
  backoff: { kind: 'fixed', delayMs: RETRY_DELAY_MS, jitter: 0 },
  async run({ number }, { attempt }) {
    const fate = fateOf(number)
    if (fate === 'dies') throw new Permanent('this one never works')
    if (fate === 'fails once' && attempt === 1) throw new Transient('works the next time')
  },
})

export async function measureMixed(path: string, mode: Mode, tasks: number): Promise<OutcomeOf<'mixed'>> {
  const engine = await openEngine(path, mode)
  const client = await createClient({ engine })
  for (const batch of inputBatches(0, tasks)) await client.submitMany(action, batch)
  const fates = Array.from({ length: tasks }, (_, number) => fateOf(number))
  const dying = fates.filter((fate) => fate === 'dies').length
  const attempts = tasks + fates.filter((fate) => fate === 'fails once').length

  const worker = await createWorker({ engine, actions: [action], concurrency: CONCURRENCY })
  const processPerS = await perSecond(tasks, async () => {
    while (settledBy(worker) < attempts) await sleep(LOOK_MS)
  })
  const { succeeded, dead } = await client.counts()
  if (succeeded !== tasks - dying || dead !== dying) {
    throw new Error(`Of ${tasks} tasks ${succeeded} have succeeded and ${dead} are dead; ${dying} should be.`)
  }
  await worker.stop()
  await client.close()
  await engine.close()
  return { processPerS }
}

function settledBy(worker: Worker): number {
  const { succeeded, failed } = worker.stats()
  return succeeded + failed
}
