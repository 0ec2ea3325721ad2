// Stale dispatch: tasks for one certain worker, while the dispatcher's picture of the workers is out of date. Run it with
//
//   npm run example:stale-dispatch
//
// It takes a few seconds, keeps everything in a temporary folder and ends by itself. With --engine redis://localhost:6379 it
// uses another store.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createClient } from '@reprise/client'
import { connectEngine } from '@reprise/connect'
import { isAlive, silentLogger, type TaskId, type WorkerView } from '@reprise/core'
import {
  createOrchestrator,
  HEARTBEAT_LAG_SECONDS,
  type Meter,
  registrySnapshot,
  STALE_WORKER_RETRY_TOTAL,
} from '@reprise/orchestrator'
import { createWorker, type Worker } from '@reprise/worker'
import { laggingRegistry } from './lagging-registry.ts'
import { LIVENESS, renderOn } from './render.ts'

const HOUR_MS = 3_600_000
const IDS = ['gpu-1', 'gpu-2', 'gpu-3', 'gpu-4']

const { values } = parseArgs({ options: { engine: { type: 'string' } } })
const folder = mkdtempSync(join(tmpdir(), 'reprise-stale-dispatch-'))
const address = values.engine ?? `sqlite:${join(folder, 'reprise.db')}`
const connection = await connectEngine(address, LIVENESS)
const { engine } = connection
const client = await createClient({ engine })

// The dispatcher: at most three re-picks, then the task is put off (D2). Here for long, so that each is told by itself.
const repicks: string[] = []
const lag = new Map<string, number>()
const meter: Meter = {
  count: (name, { topic = '', worker = '' }) =>
    void (name === STALE_WORKER_RETRY_TOTAL && repicks.push(`${topic} on ${worker}`)),
  observe: (name, { statistic = '' }, value) => void (name === HEARTBEAT_LAG_SECONDS && lag.set(statistic, value)),
}
const registry = laggingRegistry(engine)
const backoff = { kind: 'fixed', delayMs: HOUR_MS, jitter: 0 } as const
const dispatch = { maxDispatchRetries: 3, backoff }
const orchestrator = createOrchestrator({
  engine: registry.engine,
  meter,
  directedPools: ['gpu'],
  dispatch,
  log: silentLogger,
})
await orchestrator.start()

const workers = async (): Promise<readonly WorkerView[]> =>
  (await registrySnapshot(engine)).filter(({ pools }) => pools.length > 0)
const alive = async (): Promise<number> => {
  const now = await engine.now()
  return (await workers()).filter((view) => isAlive(view, now, LIVENESS.healthThresholds.heartbeatStaleMs)).length
}
/** Looks again whenever something may have changed, for a minute at most. */
async function until<T>(look: () => Promise<T | null>): Promise<T> {
  for (let tries = 0; tries < 600; tries++) {
    const found = await look()
    if (found !== null) return found
    await engine.wait({ tasks: [] }, 100)
  }
  throw new Error('It did not happen within a minute.')
}
const submit = (scene: string) => client.submit(renderOn(''), scene, { preferredWorker: 'gpu-2' })
const putOff = (id: string): Promise<string> =>
  until(async () => {
    const task = await engine.task(id as TaskId)
    return task?.state.status === 'waiting' ? task.state.reason : null
  })

const host = fork(fileURLToPath(new URL('./worker-process.ts', import.meta.url)), [address, ...IDS])
const exited = once(host, 'exit')
let fresh: Worker | null = null
try {
  const known = await until(async () => ((await alive()) === IDS.length ? workers() : null))
  console.log(`${known.length} workers are alive. A task for gpu-2: ${await (await submit('dragon')).result()}`)

  host.kill('SIGKILL')
  await exited
  await until(async () => ((await alive()) === 0 ? true : null))
  console.log(`Their host was killed. The registry still has ${(await workers()).length} workers; none is alive.`)

  registry.show(known, Number.POSITIVE_INFINITY)
  const stale = await submit('castle')
  console.log(
    `With the old picture: put off as ${await putOff(stale.id)} after ${repicks.length} re-picks (${repicks.join(', ')}).`,
  )
  const staleRepicks = repicks.length

  registry.show([], 0)
  const nobody = await submit('forest')
  console.log(`With the true picture: put off as ${await putOff(nobody.id)}, without a re-pick.`)

  registry.show(known, 2)
  registry.onLooks(3, async () => {
    const options = { engine, id: 'gpu-9', actions: [renderOn('gpu-9')], directedPools: ['gpu'] }
    fresh = await createWorker({ ...options, heartbeat: '500ms', log: silentLogger })
  })
  const rescued = await (await submit('harbour')).result()
  console.log(`gpu-9 appears while the dispatcher picks again: ${rescued}`)

  await client.promoteTasks({ ids: [stale.id, nobody.id], reason: 'there is a worker again' })
  console.log(`Those that were put off: ${await stale.result()}, ${await nobody.result()}`)
  console.log(
    `Heartbeats are late by ${[...lag].map(([name, seconds]) => `${name} ${seconds.toFixed(1)} s`).join(', ')}.`,
  )
  console.log(
    `Shown: ${staleRepicks} re-picks, then stale_worker, apart from no_workers; a worker that appeared during the loop ran the task; ${(await client.counts()).succeeded} of 4 tasks succeeded.`,
  )
} finally {
  host.kill('SIGKILL')
  await (fresh as Worker | null)?.stop()
  await orchestrator.stop()
  await client.close()
  await connection.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
