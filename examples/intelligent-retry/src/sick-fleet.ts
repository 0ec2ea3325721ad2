// Four workers: two are well, one fails every task, one never finishes any. The store judges them by what they do (C5). The
// sick ones get little and then nothing, and a retry goes to another worker than the one that failed (C6).

import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@reprise/client'
import type { Engine } from '@reprise/core'
import { createWorker, defineAction, silentLogger, TransientError, type Worker } from '@reprise/worker'

const TASKS = 400
const CONCURRENCY = 5
const WORK_MS = 10

type Condition = 'well' | 'failing' | 'stalling'
const FLEET: readonly Condition[] = ['well', 'well', 'failing', 'stalling']

export async function sickFleet(engine: Engine, client: Client, tell: (line: string) => void) {
  const attempts = new Map<string, number>()
  const start = (condition: Condition, index: number): Promise<Worker> => {
    const id = `${condition}-${index + 1}`
    const convert = defineAction({
      name: 'image.convert',
      retry: { max: 4, backoff: { kind: 'exponential', base: '50ms', max: '1s' } },
      timeout: '1s',
      async run(_: number, { signal }) {
        attempts.set(id, (attempts.get(id) ?? 0) + 1)
        if (condition === 'stalling') await sleep(60_000, undefined, { signal })
        await sleep(WORK_MS)
        if (condition === 'failing') throw new TransientError('the disk of this host is full')
        return 'converted'
      },
    })
    return createWorker({
      engine,
      id,
      host: `host-${index + 1}`,
      actions: [convert],
      concurrency: CONCURRENCY,
      heartbeat: '500ms',
      log: silentLogger,
    })
  }
  const fleet = await Promise.all(FLEET.map(start))
  const handles = await client.submitMany(
    'image.convert',
    Array.from({ length: TASKS }, (_, index) => index),
  )
  const results = await Promise.allSettled(handles.map((task) => task.result()))
  const { items: views } = await client.listWorkers()
  tell(`image.convert, ${TASKS} tasks on ${FLEET.length} workers:`)
  for (const { worker, health } of views) {
    const reasons = health.reasons.length === 0 ? '' : ` (${health.reasons.join('; ')})`
    tell(`  ${worker} got ${attempts.get(worker) ?? 0} attempts and is ${health.status}${reasons}`)
  }
  await Promise.all(fleet.map((worker) => worker.stop({ grace: 0 })))
  const sum = (isMeant: (id: string) => boolean): number =>
    [...attempts].reduce((all, [id, count]) => all + (isMeant(id) ? count : 0), 0)
  return {
    tasks: TASKS,
    succeeded: results.filter(({ status }) => status === 'fulfilled').length,
    attempts: sum(() => true),
    onSick: sum((id) => !id.startsWith('well')),
  }
}
