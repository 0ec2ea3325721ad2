// All services that move tasks, in one piece: what runs beside the workers, in any number of processes. Each service is
// its own file with one start/stop contract; here they are put together, started and stopped in order.

import {
  check,
  createService,
  type Engine,
  InvalidError,
  KnownActions,
  type Launcher,
  type Meter,
  type OutsideQueue,
  type PolicySource,
  poolName,
  present,
  type RetentionOptions,
  refuseNoEngine,
  retentionRules,
  type Service,
  sleep,
  systemClock,
} from '@reprise/core'
import { type AlertsOptions, createAlerts } from './alerts.ts'
import { createAudit } from './audit/sealer.ts'
import { createCases } from './cases.ts'
import { createClockWatch } from './clock-watch.ts'
import { createDeadLetterRetention, type DeadLetterRule } from './dead-letters/retention.ts'
import { createDispatch, DISPATCH_CHECKS, type DispatchOptions } from './dispatch.ts'
import { createHealthWatch } from './health-watch.ts'
import { createJobs } from './jobs.ts'
import { createLaunch, type LaunchMessage, type LaunchService, type MessageOutcome } from './launch.ts'
import { LaunchLedger } from './launch-ledger.ts'
import { isLauncher, LAUNCH_CHECKS, type LaunchOptions } from './launch-settings.ts'
import { createLedger } from './ledger.ts'
import { createProbe, PROBE_CHECKS, type ProbeOptions } from './probe.ts'
import { createQueueIntake, type QueueIntakeOptions } from './queue-intake.ts'
import { createQueueOutbox } from './queue-outbox.ts'
import { createReconcile } from './reconcile.ts'
import { createRedrives } from './redrives/redrives.ts'
import { createReminders } from './reminders.ts'
import { createRetentionNotice } from './retention-notice.ts'
import type { RunbookHands } from './runbooks/actions.ts'
import { createRunbooks } from './runbooks/runner.ts'
import { errorHook, type ServiceOptions } from './service.ts'
import { SERVICE_CHECKS } from './service-checks.ts'
import { createSetbackWatch } from './setback-watch.ts'
import { createSweep } from './sweep.ts'
import { createWorkOrders } from './work-orders.ts'

export interface LaunchPool {
  readonly pool: string
  readonly launcher: Launcher
  /** How many launches of this process may live at once. */
  readonly slots: number
}

type Tuned<Options, Key extends keyof Options> = Partial<Pick<Options, Key>>

export interface OrchestratorOptions extends ServiceOptions {
  readonly engine: Engine
  readonly policies?: PolicySource | undefined
  /** Pools whose tasks are handed to one worker each. */
  readonly directedPools?: readonly string[]
  readonly dispatch?: Tuned<
    DispatchOptions,
    'maxDispatchRetries' | 'repickJitterMs' | 'inboxTtlMs' | 'leaseMs' | 'backoff'
  >
  /** Pools whose tasks get an ephemeral worker each. */
  readonly launchPools?: readonly LaunchPool[]
  readonly launch?: Tuned<
    LaunchOptions,
    'leaseMs' | 'backoff' | 'maxLaunchFailures' | 'endGraceMs' | 'systemMonotonic' | 'at' | 'intervalMs' | 'graceMs'
  >
  /** By which tasks come in, and operators' retries of them go out; it needs a launch pool. */
  readonly queue?: OutsideQueue
  readonly queueIntake?: Tuned<QueueIntakeOptions, 'catalogue' | 'visibilityMs' | 'waitMs' | 'backoff' | 'at'>
  /** MAX_RETRIES (A14): messages for attempts above `maxRetries + 1` are dropped (A6); 1 if not given. */
  readonly maxRetries?: number
  /** Whether workers with an endpoint are asked; not if left out. */
  readonly probes?: boolean | Tuned<ProbeOptions, 'intervalMs' | 'timeoutMs' | 'concurrency' | 'ask'>
  /**
   * How long ended tasks are kept, as in `{ succeeded: '7d', journal: '90d' }`; without it nothing is deleted. Dead letters are
   * discarded only by `dead`, which writes them to files first.
   */
  readonly retention?: RetentionOptions & { readonly dead?: DeadLetterRule }
  /** Figures that alerts watch, and that the store alone does not tell. */
  readonly alerts?: Tuned<AlertsOptions, 'retryFailures' | 'intervalMs'>
  /**
   * Whether it looks after the store: sweeps, keeps cases, work orders, alerts and the ledger, seals the journal, reminds people
   * of cases, and moves redrives; true if not given. At least one process must.
   */
  readonly sweep?: boolean
  /** Sealed entries of the journal are written to this file as well, while `isStreaming` says so. */
  readonly audit?: { readonly file?: string; readonly isStreaming?: () => boolean }
  /** What does the steps of runbooks; runs of them are not moved without it. */
  readonly runbooks?: RunbookHands
  /** Whether it moves durable jobs; true if not given. */
  readonly jobs?: boolean
  readonly meter?: Meter
}

export interface OrchestratorStatus {
  readonly state: 'running' | 'stopped'
  /** The names of its services, in the order they are started. */
  readonly services: readonly string[]
  readonly launchPools: readonly { readonly pool: string; readonly slots: number; readonly taken: number }[]
}

export interface Orchestrator extends Service {
  status(): OrchestratorStatus
  /** Takes a message of an outside queue to the launch pool of its task, through the same funnel as everything else (A7). */
  receive(message: LaunchMessage): Promise<MessageOutcome>
}

const LAUNCH_POOL_CHECKS: check.Table<LaunchPool> = {
  pool: check.text,
  launcher: isLauncher,
  slots: check.whole(1),
}

const CHECKS: check.Table<OrchestratorOptions> = {
  ...SERVICE_CHECKS,
  directedPools: check.list,
  dispatch: check.within(DISPATCH_CHECKS, 'dispatch option'),
  launchPools(value) {
    if (!Array.isArray(value)) return "a list, such as [{ pool: 'render', launcher, slots: 4 }]"
    for (const entry of value as readonly LaunchPool[]) {
      check.options(entry, LAUNCH_POOL_CHECKS, 'launch pool option', ['pool', 'launcher', 'slots'])
    }
    return null
  },
  queue: check.having('receive', 'remove', 'hide', 'send'),
  queueIntake: check.anything,
  maxRetries: check.whole(0),
  launch: check.within(LAUNCH_CHECKS, 'launch option'),
  probes(value, name) {
    if (typeof value === 'boolean') return null
    return typeof value === 'object'
      ? check.within(PROBE_CHECKS, 'probe option')(value, name)
      : 'true, false or an object'
  },
  // Resolved, and refused in its own words, further down.
  retention: check.anything,
  alerts: check.anything,
  sweep: check.flag,
  audit: check.anything,
  runbooks: check.having('operation', 'http', 'script'),
  jobs: check.flag,
}

const PRESENCE_MS = 60_000

export function createOrchestrator(options: OrchestratorOptions): Orchestrator {
  check.options(options, CHECKS, 'orchestrator option')
  refuseNoEngine(options.engine, 'claim', 'createOrchestrator')
  const { engine, clock = systemClock, random, log, policies, meter, directedPools = [], probes = false } = options
  // One hook for all: what the store does to each service is told once.
  const shared = { engine, clock, random, log, policies, meter, onError: errorHook('orchestrator', options) }
  const { dead, ...kept } = options.retention ?? {}
  const retention = options.retention === undefined ? undefined : retentionRules(kept)
  const { ledgers, launches, reconciliations } = launchServices(options, shared)
  // What takes work comes last and goes first, so that nothing is taken that nobody looks after.
  const services: readonly Service[] = [
    createSetbackWatch(shared),
    ...(options.sweep === false
      ? []
      : [
          createSweep({ ...shared, retention }),
          createCases(shared),
          createWorkOrders(shared),
          createAlerts({ ...shared, ...options.alerts }),
          createLedger(shared),
          createAudit({ ...shared, ...present({ journalMs: retention?.journalMs }), ...options.audit }),
          createRedrives(shared),
          createReminders(shared),
          createRetentionNotice({ ...shared, rules: retention ?? {}, dead }),
          createClockWatch(shared),
          createHealthWatch(shared),
          ...(dead === undefined ? [] : [createDeadLetterRetention({ ...shared, ...dead })]),
        ]),
    ...reconciliations,
    ...(probes === false ? [] : [createProbe({ ...shared, ...(probes === true ? {} : probes) })]),
    ...(directedPools.length === 0 ? [] : [createDispatch({ ...shared, ...options.dispatch, pools: directedPools })]),
    ...launches.values(),
    ...queueServices(options, shared, { ledgers, launches }),
    ...(options.runbooks === undefined ? [] : [createRunbooks({ ...shared, hands: options.runbooks })]),
    ...(options.jobs === false ? [] : [createJobs(shared)]),
  ]
  let state: OrchestratorStatus['state'] = 'stopped'
  const service = createService(
    'orchestrator',
    async (signal) => {
      state = 'running'
      for (const service of services) await service.start()
      // Keeps a process alive that does nothing else: the timers of the services do not.
      while (!signal.aborted) await sleep(clock, PRESENCE_MS, signal, { hold: true })
      // At once, so that a store out of reach costs its patience once. Only what looks after launches waits for them.
      const last = new Set(reconciliations)
      await Promise.all(services.filter((service) => !last.has(service)).map((service) => service.stop()))
      await Promise.all(reconciliations.map((service) => service.stop()))
      state = 'stopped'
    },
    () => undefined,
  )
  return {
    ...service,
    status: () => ({
      state,
      services: services.map(({ name }) => name),
      launchPools: ledgers.map(({ pool, slots, taken }) => ({ pool, slots, taken })),
    }),
    async receive(message) {
      const launch = launches.get(message.task.pool)
      if (launch === undefined) {
        throw new InvalidError(`'${message.task.pool}' is no launch pool here. Name it in launchPools first.`)
      }
      return launch.receive(message)
    },
  }
}

function launchServices(options: OrchestratorOptions, shared: ServiceOptions & { readonly engine: Engine }) {
  const directed = new Set(options.directedPools)
  const launches = new Map<string, LaunchService>()
  const ledgers: LaunchLedger[] = []
  const reconciliations: Service[] = []
  for (const { pool, launcher, slots } of options.launchPools ?? []) {
    if (launches.has(pool)) throw new InvalidError(`The launch pool '${pool}' is named twice.`)
    if (directed.has(pool)) {
      throw new InvalidError(
        `Pool '${pool}' is named in directedPools and in launchPools: its tasks would go the one way or the other by chance. Name it in one of them.`,
      )
    }
    const ledger = new LaunchLedger(poolName(pool), slots)
    const settings = { ...shared, ...options.launch, ...present({ maxRetries: options.maxRetries }), launcher, ledger }
    ledgers.push(ledger)
    launches.set(pool, createLaunch(settings))
    reconciliations.push(createReconcile(settings))
  }
  return { ledgers, launches, reconciliations }
}

function queueServices(
  { queue, queueIntake = {} }: OrchestratorOptions,
  shared: ServiceOptions & { readonly engine: Engine; readonly meter: Meter | undefined },
  { ledgers, launches }: Pick<ReturnType<typeof launchServices>, 'ledgers' | 'launches'>,
): readonly Service[] {
  if (queue === undefined) return []
  if (ledgers.length === 0) {
    throw new InvalidError(`The queue '${queue.name}' brings tasks for launch pools. Name one in launchPools first.`)
  }
  const { catalogue = new KnownActions(shared.engine, shared.clock ?? systemClock), ...tuned } = queueIntake
  const pools = new Map(
    ledgers.flatMap((ledger) => {
      const launch = launches.get(ledger.pool)
      return launch === undefined ? [] : [[ledger.pool, { launch, ledger }] as const]
    }),
  )
  return [createQueueOutbox({ ...shared, queue }), createQueueIntake({ ...shared, ...tuned, queue, catalogue, pools })]
}
