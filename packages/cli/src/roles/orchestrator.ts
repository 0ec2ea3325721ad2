// The orchestrator as a process: the services that move tasks over one store, with the policies in force. It listens for
// nothing but health and metrics, on loopback (A13). SIGTERM ends it when what is under way has come to rest.

import { resolve } from 'node:path'
import {
  type Clock,
  configureAlertRules,
  createRedactor,
  type Engine,
  inTime,
  KnownActions,
  type Logger,
  openFlags,
  resolveDefaults,
  type Service,
} from '@reprise/core'
import type { OrchestratorOptions } from '@reprise/orchestrator'
import type { Resolved } from '../configuration/resolve.ts'
import { settingDefaults } from '../configuration/setting-defaults.ts'
import type { Configuration } from '../configuration/settings.ts'
import type { Host } from '../host.ts'
import { VERSION } from '../version.ts'
import { declaredActions } from './declared-actions.ts'
import { serveRoleHealth } from './health-server.ts'
import { callbackServers, launchPools, poolsWithoutCallback } from './launch-pools.ts'
import { redactionOf } from './log.ts'
import { openOutsideQueue } from './outside-queue.ts'
import { openRoleContext, type RoleContext, refuseDamage } from './role-context.ts'
import { tellOfOtherServers } from './shared-store.ts'

const NO_CALLBACK =
  'Launched workers get no address to call back to: set public_url to the address of the core, or callback_url of the pool. Without it only their exit codes and answers count.'

/** Comes back when it has stopped. */
export async function runOrchestrator(resolved: Resolved, host: Host): Promise<void> {
  const context = await openRoleContext(resolved, host, 'orchestrator')
  const { log, engine } = context
  try {
    const orchestrator = await startOrchestrator(context)
    const silent = poolsWithoutCallback(resolved)
    if (silent.length > 0) log.warn(NO_CALLBACK, { pools: silent })
    void tellOfOtherServers(context, callbackServers(resolved))
    const health = await serveRoleHealth(context, async () =>
      (await storeAnswers(engine, host.clock)) ? null : 'The store does not answer.',
    )
    log.info('The orchestrator runs.', { health: health.url })
    await context.untilEnd()
    log.info('The orchestrator stops.', host.asked.aborted ? { signal: String(host.asked.reason) } : {})
    await orchestrator.stop()
    await health.close()
  } finally {
    await context.close()
  }
  refuseDamage(context)
  log.info('The orchestrator has stopped.')
}

/** All services, running: what `up` runs beside the server as well, with the address of that. */
export async function startOrchestrator(context: RoleContext, serverUrl: string | null = null): Promise<Service> {
  const { createOrchestrator } = await import('@reprise/orchestrator')
  const { prometheusMeter, retryFailures } = await import('@reprise/telemetry')
  const { engine, policies, log, metrics, resolved, host } = context
  const configuration = await configured(resolved, host.clock, serverUrl, log)
  const queue = await queueOf(context, configuration)
  await configureAlertRules(engine, resolved.values.alertRules)
  const { auditFile } = resolved.values
  const { createContext, createRunbookHands } = await import('@reprise/operations')
  const flags = await openFlags({ engine, clock: host.clock })
  const { values } = resolved
  const runbooks = createRunbookHands({
    context: createContext({
      engine,
      policies,
      flags,
      log,
      clock: host.clock,
      maxRetries: values.maxRetries,
      discardUndoMs: values.discardUndo,
      redaction: createRedactor(redactionOf(values)),
      version: VERSION,
    }),
    allow: values.webhookAllow,
    ...(values.runbookScripts === null ? {} : { scripts: values.runbookScripts }),
  })
  const orchestrator = createOrchestrator({
    runbooks,
    engine,
    policies,
    log,
    clock: host.clock,
    meter: prometheusMeter(metrics),
    alerts: { retryFailures: (windowMs) => retryFailures(engine, windowMs) },
    ...configuration,
    ...queue,
    ...(auditFile === null
      ? {}
      : { audit: { file: auditFile, isStreaming: () => flags.current()['audit-streaming'] } }),
  })
  await flags.start()
  await orchestrator.start()
  return {
    ...orchestrator,
    async stop() {
      await orchestrator.stop()
      await flags.stop()
      queue.queue?.close()
    },
  }
}

/** Messages bring tasks for launch pools: without one, the queue is left to others. */
async function queueOf(
  { resolved, host, engine, log }: RoleContext,
  { launchPools: pools = [] }: Pick<OrchestratorOptions, 'launchPools'>,
): Promise<Pick<OrchestratorOptions, 'queue' | 'queueIntake'>> {
  const { values } = resolved
  if (values.sqsQueueUrl !== null && pools.length === 0) {
    log.warn('This process has no launch pool (pools.launch), so it takes nothing from the SQS queue.')
    return {}
  }
  const queue = await openOutsideQueue(resolved, host.clock)
  if (queue === undefined) return {}
  const actions = await declaredActions(values.packs)
  const catalogue = new KnownActions(engine, host.clock, actions, resolveDefaults(settingDefaults(values)))
  return { queue, queueIntake: { catalogue, visibilityMs: values.sqsVisibility } }
}

/** What the configuration says about it. */
export async function configured(
  resolved: Resolved,
  clock: Clock,
  serverUrl: string | null = null,
  log?: Logger,
): Promise<
  Pick<OrchestratorOptions, 'maxRetries' | 'dispatch' | 'directedPools' | 'launchPools' | 'probes' | 'retention'>
> {
  const { values } = resolved
  return {
    maxRetries: values.maxRetries,
    directedPools: values.directedPools,
    dispatch: { maxDispatchRetries: values.dispatchRetries, repickJitterMs: values.dispatchJitter },
    launchPools: await launchPools(resolved, clock, serverUrl, log),
    probes: values.probes,
    retention: withFolder(values.retention, resolved.folder),
  }
}

/** The folder of a file is meant from where that file is. */
const withFolder = ({ dead, ...kept }: Configuration['retention'], folder: string): Configuration['retention'] =>
  dead === undefined ? kept : { ...kept, dead: { ...dead, exportTo: resolve(folder, dead.exportTo) } }

const PATIENCE_MS = 2_000

/** For /readyz: one cheap question, with a limit on how long it may take. */
async function storeAnswers(engine: Engine, clock: Clock): Promise<boolean> {
  try {
    return (await inTime(clock, PATIENCE_MS, engine.workers({ limit: 1 }))) !== 'late'
  } catch {
    return false
  }
}
