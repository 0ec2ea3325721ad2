// A rolling restart under load (fault 26): each worker process is asked to end while its handlers run, and another one takes its
// place. Nobody is rescued, and nothing runs twice. Real processes, on each engine.

import type { SubmittedTask } from '@reprise/client'
import { expect, test } from 'vitest'
import { heldAction } from '../outages/product/actions.ts'
import { submitAllTheTime, until, unusual } from '../outages/product/product.ts'
import { startWorkerChild, type WorkerChild } from '../outages/product/worker-child.ts'
import { ENGINES, processStage } from './process-stage.ts'

/** By each process when it is asked to end; less than its slots, so that other tasks go on beside them. */
const HELD = 5
const LEASE = '2s'
const RUN_MS_MAX = 60_000

test.each(ENGINES)(
  'fault 26: a rolling restart rescues nothing: what runs is finished, and the rest goes on elsewhere, on %s',
  async (on) => {
    const { address, engine, client, sweep } = await processStage(on)
    await sweep({ intervalMs: 100 })
    const load = submitAllTheTime(client)
    const held: SubmittedTask[] = []
    const workers = new Set<WorkerChild>()
    const start = async (): Promise<WorkerChild> => {
      const worker = await startWorkerChild(address, LEASE)
      workers.add(worker)
      return worker
    }
    const hold = async (worker: WorkerChild): Promise<void> => {
      const action = heldAction(async () => undefined)
      while (worker.begun.size < HELD) {
        const task = await client.submit(action, null)
        held.push(task)
        await until(() => [...workers].some(({ begun }) => begun.has(task.id)))
      }
    }

    const olds = await Promise.all([start(), start()])
    for (const old of olds) {
      await hold(old)
      // What it is given goes through at once: the next process is to be held up by the old ones only.
      ;(await start()).letGo()
      const before = load.count()
      const ended = old.expectToEndWell()
      await until(() => load.count() > before)
      old.letGo()
      await ended
    }
    const tasks = [...(await load.stop()), ...held]
    await Promise.all(tasks.map((task) => task.result({ timeout: '30s' })))
    // A claim that was under way when its worker was asked to end goes back uncharged; nothing else is out of the ordinary.
    expect((await unusual(engine)).filter((entry) => !entry.startsWith('execution.released'))).toEqual([])
    for (const { id } of held) {
      const { items } = await engine.executions(id)
      expect(items.map(({ status }) => status)).toEqual(['succeeded'])
    }
    const total = tasks.length
    expect(await engine.counts()).toMatchObject({
      accepted: total,
      succeeded: total,
      running: 0,
      queued: 0,
      waiting: 0,
    })
  },
  RUN_MS_MAX,
)
