// The worker as an application sees it: created running, stopped gracefully. It puts the parts together (execution
// loop, renewal, heartbeat, sweep) and owns their order of starting and stopping; what each does is in its own file.

import {
  type BeatReport,
  type ClaimRequest,
  type Duration,
  durationMs,
  inTime,
  isRepriseError,
  present,
  publishedSchema,
  type Service,
  StoreClosedError,
  WorkerFencedError,
  type WorkerId,
} from '@reprise/core'
import { createSweep, type HealthAnswer, type HealthServer, serveHealth, setbackLook } from '@reprise/orchestrator'
import { warnOfMissingHooks } from './action-registry.ts'
import type { ActiveExecution } from './active-execution.ts'
import { type AppliedPolicies, policiesOf } from './applied-policies.ts'
import { type WorkerConfiguration, type WorkerOptions, workerConfiguration } from './configuration.ts'
import { drainOrder } from './drain-order.ts'
import { EndWatch } from './end-watch.ts'
import { ExecutionLoop } from './execution-loop.ts'
import { Grace } from './grace.ts'
import { beatOnce, createHeartbeat, type HeartbeatOptions } from './heartbeat.ts'
import { callHook } from './hooks.ts'
import { LeaseNews } from './lease-news.ts'
import { createRenewal, renewLeases } from './renewal.ts'
import { type SettlementCounts, SettlementLog } from './settlement-log.ts'
import { type OpenedStore, openWorkerStore, type WorkerStore } from './store/worker-store.ts'
import { VitalSigns } from './vital-signs.ts'
import { BlockedLoop } from './vouching/blocked-loop.ts'

export type WorkerState = 'starting' | 'running' | 'draining' | 'stopped'

export interface StopOptions {
  /** How long to wait for running handlers; `stopGrace` of the worker if not given. */
  readonly grace?: Duration
  /** Ends the waiting early. */
  readonly signal?: AbortSignal
}

export interface WorkerStats extends SettlementCounts {
  readonly state: WorkerState
  /** Executions that run now. */
  readonly inFlight: number
  /** Finished, and not in the store yet. */
  readonly unsettled: number
  /** Handlers that run on after their timeout or the loss of their lease. */
  readonly abandoned: number
}

/** How long a worker that stops waits for a store that does not answer. */
const PARTING_MS = 3_000
const GRACE_MS_MIN = 5_000
const HEALTH_PATH = '/healthz'

/** Connects, registers and starts: the worker runs when this comes back. */
export async function createWorker(options: WorkerOptions): Promise<Worker> {
  const configuration = workerConfiguration(options)
  const { clock, log, server } = configuration
  const connection = await openWorkerStore(options.engine ?? null, server, present({ clock: options.clock }))
  try {
    const { engine } = connection
    const policies = configuration.policies ?? (await policiesOf(engine, clock, log))
    const worker = new Worker(configuration, connection, policies)
    await worker.begin()
    return worker
  } catch (error) {
    await connection.close()
    throw error
  }
}

/**
 * A state machine that only goes forward:
 *
 * - **starting**: connected, but not registered. Nothing is claimed. Left by begin(), for `running`.
 * - **running**: registered under an epoch; the execution loop claims and settles, renewal and heartbeat tick, the sweep
 *   runs if it is asked for. Left by stop(), or when the worker can't go on (its id was taken by a newer worker, or the
 *   engine was closed under it) or when an operator orders it, for `draining`.
 * - **draining**: nothing is claimed any more. Running handlers get the grace time, with their leases renewed. Shortly
 *   before its end their signals fire; at its end what still runs is released, back to the queue as if never claimed.
 *   A worker that can't go on drops what runs instead: the store has taken it away already. One that an operator has
 *   drained finishes what it has without a time limit, and stays like this until stop(). Left, when every settlement is
 *   in the store or has waited for a whole lease, for `stopped`.
 * - **stopped**: services at rest, deregistered, the engine closed if it was opened here. `drained` has resolved.
 *
 * Nothing here ends the process, and no error of the store ends the worker.
 */
export class Worker {
  readonly id: WorkerId
  readonly #config: WorkerConfiguration
  readonly #connection: OpenedStore
  readonly #engine: WorkerStore
  readonly #policies: AppliedPolicies
  readonly #executions: ExecutionLoop
  readonly #settlementLog: SettlementLog
  readonly #leaseNews: LeaseNews
  readonly #vitalSigns: VitalSigns
  readonly #heartbeat: HeartbeatOptions
  readonly #blockedLoop: BlockedLoop
  readonly #services: readonly Service[]
  readonly #grace: Grace
  #state: WorkerState = 'starting'
  #epoch = 0
  #healthServer: HealthServer | null = null
  #registering: Promise<void> | null = null
  #running: Promise<void> = Promise.resolve()
  #stopping: Promise<void> | null = null
  readonly #drained = Promise.withResolvers<void>()

  constructor(config: WorkerConfiguration, connection: OpenedStore, policies: AppliedPolicies) {
    const { clock, random, log } = config
    const { store: engine } = connection
    // The services log what they meet, with their own words.
    const onError = (error: unknown): void => callHook(config.hooks.onError, error, log)
    const shared = { engine, clock, random, log, onError }
    this.id = config.id
    this.#config = config
    this.#grace = new Grace(clock)
    this.#connection = connection
    this.#engine = engine
    this.#policies = policies
    this.#settlementLog = new SettlementLog(config.hooks, log, config.logFailures ? config.handlerLog : null)
    this.#executions = new ExecutionLoop({
      ...shared,
      onError: (error) => this.#report(error),
      actions: config.registry,
      handlerLog: config.handlerLog,
      concurrency: config.concurrency,
      settlementLog: this.#settlementLog,
      policies,
      claimant: () => this.#claimant(),
      onUnknown: () => this.#register(),
      onFenced: (epoch) => this.#fenced(epoch),
      onFatal: (error) => this.#giveUp(error),
      onStarted: () => endWatch.started(),
      onNews: (execution) => this.#leaseNews.add(execution),
      leaseEnd: (endsAt) => this.#blockedLoop.leaseEnd(endsAt),
      renewNow: (execution) => renew([execution]),
    })
    const { active } = this.#executions
    this.#blockedLoop = new BlockedLoop({
      ...config,
      worker: config.id,
      active,
      voucher: () => engine.voucher(),
      goesOn: () => void beatOnce(this.#heartbeat),
    })
    const renew = (executions: readonly ActiveExecution[]) => renewLeases({ ...config, engine }, executions)
    const endWatch = new EndWatch({ engine, clock, active, renew })
    this.#leaseNews = new LeaseNews(clock, renew)
    const thresholds = engine.healthThresholds
    const trouble = (): string | null => this.trouble
    this.#vitalSigns = new VitalSigns({ clock, active, settlementLog: this.#settlementLog, thresholds, trouble })
    const lookForOrder = drainOrder({ ...shared, worker: config.id, onOrdered: () => this.#drainAsOrdered() })
    const actor = `worker:${config.id}`
    const lookBack = connection.engine === null ? null : setbackLook({ engine: connection.engine, clock, log, actor })
    this.#heartbeat = {
      ...shared,
      intervalMs: config.heartbeatMs,
      lag: this.#vitalSigns.lag,
      report: () => this.#beatReport(),
      onReplaced: (epoch) => this.#fenced(epoch),
      onUnknown: () => this.#register(),
      onCurrent: async (epoch) => {
        if (this.#state === 'running') await lookForOrder(epoch)
        await lookBack?.()
        // Nobody has to wait for the next heartbeat to see which version is applied here.
        if (await policies.follow()) await beatOnce(this.#heartbeat)
      },
    }
    // After a pause, live workers get the time of a renewal before they count as lost.
    const graceMs = Math.max(GRACE_MS_MIN, Math.ceil(config.leaseMs / 2))
    const retention = config.retention ?? undefined
    this.#services = [
      createHeartbeat(this.#heartbeat),
      createRenewal({ ...shared, active, leaseMs: config.leaseMs }),
      endWatch,
      ...(config.sweep && connection.engine !== null
        ? [createSweep({ ...shared, engine: connection.engine, graceMs, policies, retention })]
        : []),
    ]
  }

  /** Resolves when the worker has stopped, for any reason. Never rejects. */
  get drained(): Promise<void> {
    return this.#drained.promise
  }

  get state(): WorkerState {
    return this.#state
  }

  /** Why it takes no tasks though it runs; null if nothing is wrong. */
  get trouble(): string | null {
    return this.#executions.trouble
  }

  /** Where it answers probes; null if it was not asked to. */
  get endpoint(): string | null {
    return this.#healthServer === null ? null : this.#healthServer.url + HEALTH_PATH
  }

  /** Called once, by createWorker. */
  async begin(): Promise<void> {
    const { health, host } = this.#config
    const paths = { [HEALTH_PATH]: () => this.#healthAnswer() }
    if (health !== null) this.#healthServer = await serveHealth(health, paths, host)
    this.#blockedLoop.start()
    try {
      await this.#register()
    } catch (error) {
      this.#blockedLoop.stop()
      await this.#healthServer?.close()
      throw error
    }
    await this.#publishActions()
    this.#state = 'running'
    for (const service of this.#services) await service.start()
    this.#running = this.#executions.run().catch((error: unknown) => this.#giveUp(error))
    const { log, actions, pools, directedPools, concurrency } = this.#config
    warnOfMissingHooks(this.#config.registry, this.#policies, log)
    const engine = this.#engine.info.kind
    log.info('The worker runs.', { worker: this.id, actions, pools, directedPools, concurrency, engine })
  }

  /**
   * Stops gracefully, within the grace time, and comes back when the worker has stopped. Called again, it only makes
   * the stop faster. Never rejects: what goes wrong is reported to onError.
   */
  stop(options: StopOptions = {}): Promise<void> {
    const graceMs = options.grace === undefined ? this.#config.stopGraceMs : durationMs(options.grace, 'grace')
    if (this.#state === 'stopped') return this.drained
    this.#grace.endAfter(graceMs, options.signal)
    this.#stopping ??= this.#drainAndStop()
    return this.#stopping
  }

  stats(): WorkerStats {
    return {
      state: this.#state,
      inFlight: this.#executions.active.size,
      unsettled: this.#executions.unsettled,
      abandoned: this.#executions.abandoned,
      ...this.#settlementLog.counts,
    }
  }

  /** The heartbeat and the execution loop may both find that the store has forgotten this worker: one registration for both. */
  #register(): Promise<void> {
    this.#registering ??= this.#registerOnce().finally(() => {
      this.#registering = null
    })
    return this.#registering
  }

  async #registerOnce(): Promise<void> {
    const { id, actions, host, version, concurrency } = this.#config
    const pools = [...this.#config.pools, ...this.#config.directedPools]
    const runtimes = [`node ${process.versions.node}`]
    const endpoint = this.#config.endpoint ?? this.endpoint
    const registration = { worker: id, pools, actions, host, version, runtimes, endpoint, concurrency }
    const { epoch } = await this.#engine.register(registration)
    this.#epoch = epoch
    this.#blockedLoop.registered(epoch)
  }

  /** Tasks that are submitted by name alone get these settings. It runs as well without: nothing here may keep it from starting. */
  async #publishActions(): Promise<void> {
    const { registry, log } = this.#config
    try {
      const actions = [...registry.values()].map((action) => ({
        ...action,
        inputSchema: publishedSchema(action.input),
      }))
      await this.#engine.publishActions(actions)
    } catch (error) {
      log.warn('The actions could not be published: tasks that are submitted by name get the usual settings.', {
        worker: this.id,
        error,
      })
    }
  }

  /** An answer to a call of an earlier epoch says nothing about the present one. */
  #fenced(epoch: number): void {
    if (this.#registering === null && epoch === this.#epoch) this.#giveUp(new WorkerFencedError(this.id, epoch))
  }

  #claimant(): Omit<ClaimRequest, 'limit'> {
    const { id, pools, actions, leaseMs } = this.#config
    return { worker: id, epoch: this.#epoch, pools, actions, leaseMs }
  }

  #beatReport(): BeatReport {
    const draining = this.#state !== 'running'
    const policyVersion = this.#policies.current().version
    return { worker: this.id, epoch: this.#epoch, draining, policyVersion, ...this.#vitalSigns.read() }
  }

  #healthAnswer(): HealthAnswer {
    const { inFlight, lag } = this.#vitalSigns
    const { trouble } = this
    const eventLoopBlocked = this.#blockedLoop.last
    const body = { state: this.#state, inFlight, loopLagMs: lag.ms, ...present({ trouble, eventLoopBlocked }) }
    return { ok: this.#state === 'running' && trouble === null, body }
  }

  /** An operator wants it to finish what it has and take nothing new. It stays registered, as draining, until it is stopped. */
  #drainAsOrdered(): void {
    if (this.#state !== 'running') return
    this.#state = 'draining'
    const inFlight = this.#executions.active.size
    this.#config.log.info('The worker drains, as an operator has ordered.', { worker: this.id, inFlight })
    this.#executions.drain()
    void beatOnce(this.#heartbeat)
  }

  async #drainAndStop(): Promise<void> {
    const { active } = this.#executions
    this.#state = 'draining'
    this.#config.log.info('The worker drains.', { worker: this.id, inFlight: active.size })
    this.#executions.drain()
    void beatOnce(this.#heartbeat)
    await Promise.race([this.#executions.whenIdle(), this.#grace.nearlyOver])
    for (const execution of active) execution.askToStop()
    await Promise.race([this.#executions.whenIdle(), this.#grace.over])
    for (const execution of active) execution.release()
    await this.#settleAll()
    await this.#shutDown('deregister')
  }

  /** Everything reaches the store, or has waited for a lease: by then the sweep has taken it. */
  async #settleAll(): Promise<void> {
    const { clock, leaseMs, log } = this.#config
    const { unsettled } = this.#executions
    // With nothing to settle, only a claim can be under way that a store out of reach does not answer.
    const patienceMs = unsettled === 0 ? Math.min(PARTING_MS, leaseMs) : leaseMs
    if ((await inTime(clock, patienceMs, this.#running)) !== 'late') return
    if (unsettled > 0) {
      log.error('The store took no settlement for a whole lease; these are left to the sweep.', { unsettled })
    }
    this.#executions.halt(new StoreClosedError())
  }

  /** This worker can't go on: its id is somebody else's, or its engine is closed. */
  #giveUp(error: unknown): void {
    if (this.#state === 'stopped') return
    const reason = error instanceof Error ? error : new StoreClosedError()
    this.#executions.halt(reason)
    this.#report(error)
    if (this.#stopping !== null) return
    this.#state = 'draining'
    this.#stopping = this.#shutDown('leave')
  }

  async #shutDown(registration: 'deregister' | 'leave'): Promise<void> {
    await this.#leaveStore(registration)
    await this.#healthServer?.close()
    try {
      await this.#connection.close()
    } catch (error) {
      this.#report(error)
    }
    this.#state = 'stopped'
    // Ends timers of a grace time that was not used up.
    this.#grace.end()
    this.#config.log.info('The worker has stopped.', { worker: this.id, ...this.#settlementLog.counts })
    this.#drained.resolve()
  }

  /** Ends the services and leaves the registry; a store that is out of reach is not waited for. */
  async #leaveStore(registration: 'deregister' | 'leave'): Promise<void> {
    this.#leaseNews.stop()
    this.#blockedLoop.stop()
    const leaving = async (): Promise<void> => {
      await Promise.all(this.#services.map((service) => service.stop()))
      try {
        if (registration === 'deregister') await this.#engine.deregister(this.id, this.#epoch)
      } catch (error) {
        this.#report(error)
      }
    }
    const { clock, log } = this.#config
    if ((await inTime(clock, PARTING_MS, leaving())) !== 'late') return
    log.warn('The store does not answer; the worker stops without it.', { worker: this.id })
  }

  #report(error: unknown): void {
    // A closed engine is news only once, and giveUp tells it.
    if (this.#state !== 'running' && isRepriseError(error, 'REPRISE_STORE_CLOSED')) return
    this.#config.log.error('The worker met an error.', { worker: this.id, error })
    callHook(this.#config.hooks.onError, error, this.#config.log)
  }
}
