// Automatic retries against passing faults: each attempt fails with a chance of 3 in 10, of a fault that goes away. Of the tasks that
// failed at least once, how many succeed without a person?

import { createHash } from 'node:crypto'
import { createClient, defineAction, TransientError } from '@reprise/client'
import { consoleLogger, createWorker } from '@reprise/worker'
import { type Bounds, countsUntil, percent, type Row } from './row.ts'

const FAULTS = 0.3
const WANTED = 0.9
const RETRIES = 3

/** The same for each run: a draw by task and attempt. */
const drawn = (number: number, attempt: number): number =>
  createHash('sha256').update(`${number}:${attempt}`).digest().readUInt32BE(0) / 2 ** 32

export async function transientFaults(engine: string, { tasks }: Bounds): Promise<Row> {
  const client = await createClient({ engine })
  const failedOnce = new Set<number>()
  const call = defineAction<{ readonly number: number }>({
    name: 'acceptance.call',
    retry: { max: RETRIES, backoff: { kind: 'fixed', delay: 50, jitter: 0.2 } },
    run: ({ number }, { attempt }) => {
      if (drawn(number, attempt) >= FAULTS) return
      failedOnce.add(number)
      throw new TransientError('the far side is busy')
    },
  })
  const log = consoleLogger({ level: 'error' })
  const worker = await createWorker({
    engine,
    actions: [call],
    concurrency: 20,
    log: { ...log, error: () => undefined },
  })
  try {
    await client.submitMany(
      call,
      Array.from({ length: tasks }, (_, number) => ({ number })),
    )
    const { succeeded, dead } = await countsUntil(
      client,
      'every task has ended',
      (counts) => counts.succeeded + counts.dead === tasks,
    )
    const recovered = failedOnce.size - dead
    const share = recovered / Math.max(1, failedOnce.size)
    return {
      criterion: 'automatic retry success',
      wanted: `at least ${percent(WANTED)}`,
      measured: percent(share),
      value: share,
      isMet: share >= WANTED && succeeded + dead === tasks,
      note: `${recovered} of ${failedOnce.size} tasks that failed; attempts fail with a chance of ${FAULTS}, ${RETRIES} retries`,
    }
  } finally {
    await worker.stop()
    await client.close()
  }
}
