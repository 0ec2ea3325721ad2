// A worker as a process: the actions of a module, run until somebody asks it to end. The first signal drains, a second one
// gives back at once what still runs.

import { dirname, resolve } from 'node:path'
import { present } from '@reprise/core'
import type { AnyAction, Worker } from '@reprise/worker'
import type { Resolved } from '../configuration/resolve.ts'
import type { Host } from '../host.ts'
import { serveRoleHealth } from './health-server.ts'
import { openRoleContext, type RoleContext, refuseDamage } from './role-context.ts'
import { loadActions } from './worker-module.ts'

/** Comes back when it has stopped. */
export async function runWorker(module: string, resolved: Resolved, host: Host): Promise<void> {
  const actions = await loadActions([module], host)
  const context = await openRoleContext(resolved, host, 'worker')
  try {
    let running: Worker | null = null
    const health = await serveRoleHealth(context, async () => {
      if (running?.state !== 'running') return `The worker is ${running?.state ?? 'starting'}.`
      return running.trouble === null ? null : `The worker claims nothing: ${running.trouble}.`
    })
    const worker = await startWorker(context, actions, {
      endpoint: `${health.url}/readyz`,
      sweep: true,
      modules: [module],
    })
    running = worker
    context.log.info('The worker takes tasks.', { worker: worker.id, health: health.url, module })
    const drain = (): void => void worker.stop({ signal: host.urged })
    if (host.asked.aborted) drain()
    else host.asked.addEventListener('abort', drain, { once: true })
    await worker.drained
    await health.close()
  } finally {
    await context.close()
  }
  refuseDamage(context)
}

interface WorkerParts {
  /** Where it can be asked whether it is well; null if nowhere. */
  readonly endpoint: string | null
  /** Whether it sweeps as well: not beside an orchestrator. */
  readonly sweep: boolean
  /** Where its actions come from. */
  readonly modules: readonly string[]
}

/** A worker that runs: what `up` runs beside the server as well. */
export async function startWorker(
  { resolved, host, engine, policies, log, onError }: RoleContext,
  actions: readonly AnyAction[],
  { endpoint, sweep, modules }: WorkerParts,
): Promise<Worker> {
  const { concurrency, stopGrace, workerId, workerVersion, pools, directedPools } = resolved.values
  const { applicationVersion, createWorker, UNKNOWN_VERSION } = await import('@reprise/worker')
  const folders = [...modules.map((module) => dirname(resolve(host.cwd, module))), host.cwd]
  return createWorker({
    engine,
    actions,
    policies,
    log,
    onError,
    // The observed engine tells of them, with the fields that operators know.
    logFailures: false,
    clock: host.clock,
    concurrency,
    stopGrace,
    sweep,
    version: workerVersion ?? applicationVersion(folders) ?? UNKNOWN_VERSION,
    ...present({ endpoint, id: workerId }),
    ...(pools.length === 0 ? {} : { pools }),
    ...(directedPools.length === 0 ? {} : { directedPools }),
  })
}
