// A large batch of dead letters, brought in with their past, replayed by a redrive with its canary: all of them recover, each once.

import { createClient, defineAction } from '@reprise/client'
import { connectEngine } from '@reprise/connect'
import {
  actionName,
  DEFAULT_POOL,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  describeFailure,
  encodeJson,
  retryToken,
  type TaskSpec,
  taskId,
} from '@reprise/core'
import { createRedrives } from '@reprise/orchestrator'
import { consoleLogger, createWorker } from '@reprise/worker'
import { type Bounds, type Row, until } from './row.ts'

const ACTION = actionName('acceptance.replay')
const BATCH = 500

export async function replayedBatch(engine: string, { deadLetters }: Bounds): Promise<Row> {
  const client = await createClient({ engine })
  const connection = await connectEngine(engine)
  const runs = new Map<number, number>()
  const replayed = defineAction<{ readonly number: number }>({
    name: ACTION,
    run: ({ number }) => void runs.set(number, (runs.get(number) ?? 0) + 1),
  })
  for (let at = 0; at < deadLetters; at += BATCH) {
    const count = Math.min(BATCH, deadLetters - at)
    await connection.engine.submit(Array.from({ length: count }, (_, index) => deadLetter(at + index)))
  }
  const worker = await createWorker({
    engine,
    actions: [replayed],
    concurrency: 50,
    log: consoleLogger({ level: 'error' }),
  })
  const redrives = createRedrives({ engine: connection.engine, intervalMs: 100 })
  await redrives.start()
  try {
    const began = performance.now()
    let redrive = await client.createRedrive({ action: ACTION, start: true, reason: 'acceptance' })
    const { id } = redrive
    while (redrive.state === 'collecting') redrive = await client.collectRedrive({ id })
    redrive = await until(
      'the redrive is over',
      () => client.getRedrive({ id }),
      ({ state }) => state === 'done' || state === 'halted',
    )
    const seconds = (performance.now() - began) / 1_000
    const twice = [...runs.values()].filter((count) => count > 1).length
    const { recovered } = redrive.counts
    return {
      criterion: 'large dead-letter batch replayed',
      wanted: `${deadLetters} of ${deadLetters}`,
      measured: `${recovered} of ${deadLetters}`,
      value: recovered / deadLetters,
      isMet: recovered === deadLetters && runs.size === deadLetters && twice === 0,
      note: `${twice} ran twice; ${seconds.toFixed(1)} s with a canary of 1, 10, 100`,
    }
  } finally {
    await redrives.stop()
    await worker.stop()
    await connection.close()
    await client.close()
  }
}

/** One that died a minute ago, of this cause. */
export function deadLetter(number: number, cause = 'the currency is missing'): TaskSpec {
  const failure = describeFailure(new TypeError(cause), ACTION)
  const at = Date.now() - 60_000
  return {
    id: taskId(`replay-${number}`),
    action: ACTION,
    pool: DEFAULT_POOL,
    tenant: DEFAULT_TENANT,
    payload: encodeJson({ number }, 'payload'),
    labels: {},
    priority: 5,
    settings: DEFAULT_SETTINGS,
    retryToken: retryToken(`replay-${number}`),
    dedupeKey: null,
    deadlineAt: null,
    deadlineMs: null,
    delayMs: 0,
    dueAt: null,
    past: {
      by: { actor: 'acceptance', reason: 'a batch to replay' },
      generation: 1,
      isDead: true,
      attempts: [
        {
          attempt: 1,
          generation: 1,
          status: 'failed',
          worker: null,
          build: null,
          dispatchedAt: at,
          resolvedAt: at,
          retryReason: null,
          failure,
          decision: { kind: 'dead', reason: 'not_retriable', rule: failure.rule, sentence: 'A bug does not go away.' },
        },
      ],
    },
  }
}
