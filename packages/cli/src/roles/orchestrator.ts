// The orchestrator as a process: the services that move tasks over one store, with the policies in force. It listens for
// nothing but health and metrics, on loopback (A13). SIGTERM ends it when what is under way has come to rest.

import { type Clock, type Engine, type Service, sleep } from '@reprise/core'
import type { Resolved } from '../configuration/resolve.ts'
import type { Host } from '../host.ts'
import { untilAskedToEnd } from './asked-to-end.ts'
import { serveRoleHealth } from './health-server.ts'
import { launchPools } from './launch-pools.ts'
import { openRoleContext, type RoleContext } from './role-context.ts'

/** Comes back when it has stopped. */
export async function runOrchestrator(resolved: Resolved, host: Host): Promise<void> {
  const context = await openRoleContext(resolved, host, 'orchestrator')
  const { log, engine } = context
  try {
    const orchestrator = await startOrchestrator(context)
    const health = await serveRoleHealth(context, async () =>
      (await storeAnswers(engine, host.clock)) ? null : 'The store does not answer.',
    )
    log.info('The orchestrator runs.', { health: health.url })
    await untilAskedToEnd(host)
    log.info('The orchestrator stops.', { signal: String(host.asked.reason) })
    await orchestrator.stop()
    await health.close()
  } finally {
    await context.close()
  }
  log.info('The orchestrator has stopped.')
}

/** All services, running: what `up` runs beside the server as well. */
export async function startOrchestrator({
  resolved,
  host,
  engine,
  policies,
  log,
  metrics,
}: RoleContext): Promise<Service> {
  const { values } = resolved
  const { clock } = host
  const { createOrchestrator } = await import('@reprise/orchestrator')
  const { prometheusMeter } = await import('@reprise/telemetry')
  const orchestrator = createOrchestrator({
    engine,
    policies,
    log,
    clock,
    meter: prometheusMeter(metrics),
    directedPools: values.directedPools,
    launchPools: await launchPools(resolved, clock),
    probes: values.probes,
    retention: values.retention,
  })
  await orchestrator.start()
  return orchestrator
}

const PATIENCE_MS = 2_000

/** For /readyz: one cheap question, with a limit on how long it may take. */
async function storeAnswers(engine: Engine, clock: Clock): Promise<boolean> {
  const answered = new AbortController()
  const question = engine.workers({ limit: 1 }).then(
    () => true,
    () => false,
  )
  const tooLate = sleep(clock, PATIENCE_MS, answered.signal).then(() => false)
  const result = await Promise.race([question, tooLate])
  answered.abort()
  return result
}
