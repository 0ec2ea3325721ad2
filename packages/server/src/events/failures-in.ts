// Failures that others report: `task.execution.failed`, for tasks of ours and for tasks that Reprise did not start.
//
// For a task of ours the event settles the attempt that it names, if it brings that attempt's token; without one it is only
// noted. A task of others becomes a task of ours, once for each idempotency key: its first attempt is the failure that was
// reported, reserved and settled here, and what follows is decided as for any failure. So it stands in the delay queue with its
// reason and retry token, or among the dead letters, and its record tells why.
//
// Every answer can be asked for again: an event that comes twice finds what it did the first time. One that was cut off between
// reserving and settling is completed when it comes again, and otherwise taken for lost like any attempt.

import { createHash } from 'node:crypto'
import {
  type ActionName,
  actionName,
  backoffMs,
  type Claimed,
  type Clock,
  checkedName,
  DEFAULT_POOL,
  DEFAULT_PRIORITY,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  type Engine,
  encodeJson,
  failed,
  isRepriseError,
  type JudgedAttempt,
  judgeThrown,
  knownName,
  type LeaseRef,
  PermanentError,
  type PolicySource,
  type PoolName,
  policyForTask,
  type Random,
  retryToken,
  type Snapshot,
  settingsUnder,
  systemClock,
  systemRandom,
  type Task,
  type TaskId,
  type TaskSettings,
  type TaskSpec,
  type TenantId,
  TransientError,
  taskId,
  tenantId,
  turnsOf,
  workerId,
} from '@reprise/core'
import { type LaneRoom, ownTask } from '@reprise/operations'
import { openLeaseCredentials } from '@reprise/orchestrator'
import type { CloudEvent } from './cloud-events.ts'
import { type FailureReport, readFailureReport } from './failure-report.ts'

const FAILED_EVENT_TYPE = 'task.execution.failed'

export type FailureOutcome =
  /** The attempt was settled as failed; `status` is where the task went. */
  | {
      readonly outcome: 'settled'
      readonly taskId: TaskId
      readonly attempt: number
      readonly status: Task['state']['status']
    }
  /** That attempt is not running under that token. Nothing was changed. */
  | { readonly outcome: 'superseded'; readonly taskId: TaskId; readonly attempt: number; readonly detail: string }
  /** Written to the journal of the task, and nothing else. */
  | { readonly outcome: 'noted'; readonly taskId: TaskId; readonly detail: string }
  /** A task of others: it waits for its next attempt here. */
  | { readonly outcome: 'retrying'; readonly taskId: TaskId }
  /** A task of others: its automatic retries have ended before they began. */
  | { readonly outcome: 'dead'; readonly taskId: TaskId }
  /** Not an event that is read here. */
  | { readonly outcome: 'ignored'; readonly detail: string }
  /** It will never be taken like this. */
  | { readonly outcome: 'refused'; readonly detail: string }
  /** Not now: send it again. */
  | { readonly outcome: 'unavailable'; readonly detail: string }

export interface Reporter {
  /** As the journal names them. */
  readonly actor: string
  /** The only tenants whose tasks they may report on; null for all. */
  readonly tenants: readonly TenantId[] | null
}

export interface FailuresInOptions {
  readonly engine: Pick<
    Engine,
    'collection' | 'now' | 'task' | 'execution' | 'reserve' | 'settle' | 'submit' | 'journal'
  >
  readonly policies: PolicySource
  /** What is known of an action; the usual settings if not given. */
  readonly actionOf?: (name: ActionName) => Promise<{ readonly pool: PoolName; readonly settings: TaskSettings }>
  /** Throws if a task may not come in, because its tenant has enough. */
  readonly admit?: (by: Reporter, spec: TaskSpec) => Promise<void>
  /** Throws if a note on a task may not come in now, because its tenant sent enough. */
  readonly admitNote?: (by: Reporter, tenant: TenantId) => void
  /** Bounds the lanes that reports may make; not if missing. */
  readonly room?: Pick<LaneRoom, 'admit'>
  /** Retries of a reported task whose action says nothing about them; 3 if not given. */
  readonly retries?: number
  readonly clock?: Clock
  readonly random?: Random
}

/** Long enough to settle right after reserving. */
const LEASE_MS = 30_000
const RETRIES = 3
const INTAKE = workerId('events')
const SOURCE_LABEL = 'event_source'
const EVENT_LABEL = 'event_id'
/** Reports that were only noted, of one task. As many entries are read for each report: it costs the same on every task. */
const NOTES_PER_TASK_MAX = 100
const UNKNOWN = { outcome: 'superseded', because: 'unknown' } as const

export class FailuresIn {
  readonly #options: FailuresInOptions
  readonly #clock: Clock
  readonly #random: Random

  constructor(options: FailuresInOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? systemRandom
  }

  /** One after the other, in the order of the events: later ones may be about the same task. */
  async receive(events: readonly CloudEvent[], by: Reporter): Promise<readonly FailureOutcome[]> {
    const outcomes: FailureOutcome[] = []
    const turns = turnsOf(this.#clock)
    for (const event of events) {
      if (turns.isSpent) await turns.wait()
      outcomes.push(await this.#one(event, by))
    }
    return outcomes
  }

  async #one(event: CloudEvent, by: Reporter): Promise<FailureOutcome> {
    if (event.type !== FAILED_EVENT_TYPE) {
      return { outcome: 'ignored', detail: `Events of type '${event.type.slice(0, 100)}' are not read here.` }
    }
    try {
      return await this.#reported(event, readFailureReport(event.data), by)
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_NO_AVAILABLE_SLOT') || isRepriseError(error, 'REPRISE_RATE_LIMITED')) {
        return { outcome: 'unavailable', detail: error.message }
      }
      if (isRepriseError(error) && error.status >= 400 && error.status < 500) {
        return { outcome: 'refused', detail: error.message }
      }
      throw error
    }
  }

  async #reported(event: CloudEvent, report: FailureReport, by: Reporter): Promise<FailureOutcome> {
    // Another tenant's task does not exist for them.
    const id = report.taskId === undefined ? null : (knownName('task id', report.taskId) as TaskId)
    const ours = id === null ? null : await ownTask(this.#options.engine, by, id)
    if (ours !== null) {
      if (report.attempt === undefined || report.token === undefined) return this.#note(ours, event, report, by)
      return this.#settle(ours, report, report.attempt, report.token)
    }
    return this.#foreign(event, report, by)
  }

  async #settle(task: Task, report: FailureReport, attempt: number, credential: string): Promise<FailureOutcome> {
    // The reporter is an outsider, and has what outsiders are given: the store's own tokens can be guessed.
    const credentials = await openLeaseCredentials(this.#options.engine, this.#clock)
    const ref = credentials.read({ taskId: task.id, attempt, credential })
    const result = ref === null ? UNKNOWN : await this.#settleAs(ref, { ...task, snapshot: task }, report)
    if (result.outcome === 'settled') {
      return { outcome: 'settled', taskId: task.id, attempt, status: result.status }
    }
    const detail = `Attempt ${attempt} is not running under this token (${result.because}). Nothing was changed.`
    return { outcome: 'superseded', taskId: task.id, attempt, detail }
  }

  async #settleAs(ref: LeaseRef, attempt: JudgedAttempt, report: FailureReport) {
    const turns = turnsOf(this.#clock)
    if (turns.isSpent) await turns.wait()
    // By the store's clock it began not before it was accepted; ours may be behind.
    const circumstances = { now: Math.max(this.#clock.now(), attempt.acceptedAt), roll: this.#random.next() }
    const judged = judgeThrown(this.#options.policies.current(), attempt, thrownFor(report), circumstances)
    // Anybody may report anything: it counts for no breaker, no retry quota and no worker's health.
    const { failure, decision } = judged
    const [result] = await this.#options.engine.settle([failed(ref, failure, decision, { excusesWorker: true })])
    return result ?? UNKNOWN
  }

  async #note({ id, tenant }: Task, event: CloudEvent, report: FailureReport, by: Reporter): Promise<FailureOutcome> {
    this.#options.admitNote?.(by, tenant)
    if (!(await this.#write(id, event, report, by))) {
      const detail = `${NOTES_PER_TASK_MAX} reports about this task are in the journal already. Only the token of a running attempt can end it.`
      return { outcome: 'refused', detail }
    }
    return {
      outcome: 'noted',
      taskId: id,
      detail: 'It is in the journal. Only the token of a running attempt can end it.',
    }
  }

  /** Once for each event, as far as the end of the task's journal tells. False if that has enough of them. */
  async #write(id: TaskId, event: CloudEvent, report: FailureReport, by: Reporter): Promise<boolean> {
    const { journal } = this.#options.engine
    const key = digest(event.source, event.id)
    const { entries } = await journal.read({ taskId: id, limit: NOTES_PER_TASK_MAX, newest: true })
    const noted = entries.filter(({ type, data }) => type === 'note' && typeof data.event === 'string')
    if (noted.some(({ data }) => data.event === key)) return true
    if (noted.length >= NOTES_PER_TASK_MAX) return false
    await journal.append([
      {
        type: 'note',
        taskId: id,
        attempt: report.attempt ?? null,
        actor: by.actor,
        reason: `A failure was reported: ${report.errorCode}. No token came with it, so nothing was changed.`,
        data: { event: key, code: report.errorCode, retryable: report.retryable },
      },
    ])
    return true
  }

  async #foreign(event: CloudEvent, report: FailureReport, by: Reporter): Promise<FailureOutcome> {
    const spec = await this.#specFor(event, report, by)
    if (typeof spec === 'string') return { outcome: 'refused', detail: spec }
    await this.#options.room?.admit(spec, by)
    const { engine } = this.#options
    const existing = await engine.task(spec.id)
    if (existing !== null) return this.#again(existing, spec, event, report, by)
    await this.#options.admit?.(by, spec)
    let claimed: Claimed
    try {
      claimed = await engine.reserve({ task: spec, attempt: 1, maxRetries: 0, worker: INTAKE, leaseMs: LEASE_MS })
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_NO_AVAILABLE_SLOT') && report.retryable)
        return this.#wait(spec, event, report, by)
      const isTaken = isRepriseError(error, 'REPRISE_DUPLICATE_EXECUTION') || isRepriseError(error, 'REPRISE_CONFLICT')
      if (!isTaken) throw error
      // The same event, or another with its key, at the same time.
      const first = await engine.task(spec.id)
      if (first === null) throw error
      return this.#again(first, spec, event, report, by)
    }
    await this.#settleAs(claimed, claimed, report)
    return this.#answerFor(claimed.taskId)
  }

  /** Its lane is held or full, so no attempt of it can be reserved: it is submitted with the delay that it would have had. */
  async #wait(spec: TaskSpec, event: CloudEvent, report: FailureReport, by: Reporter): Promise<FailureOutcome> {
    const policy = policyForTask(this.#options.policies.current(), spec)?.policy ?? null
    const { backoff } = settingsUnder(policy, spec)
    await this.#options.engine.submit([{ ...spec, delayMs: Math.round(backoffMs(backoff, 0, this.#random.next())) }])
    await this.#write(spec.id, event, report, by)
    return this.#answerFor(spec.id)
  }

  /** There is a task for this idempotency key already. */
  async #again(
    task: Task,
    spec: TaskSpec,
    event: CloudEvent,
    report: FailureReport,
    by: Reporter,
  ): Promise<FailureOutcome> {
    if (task.labels[EVENT_LABEL] !== spec.labels[EVENT_LABEL]) return this.#note(task, event, report, by)
    const { state } = task
    if (state.status === 'running' && state.attempt === 1 && state.worker === INTAKE) {
      // The process that reserved it did not settle it, or is about to: one of the two takes effect.
      await this.#settleAs({ taskId: task.id, attempt: 1, token: state.token }, { ...task, snapshot: task }, report)
    }
    return this.#answerFor(task.id)
  }

  /** What was decided about the failure that was reported, also long after. */
  async #answerFor(id: TaskId): Promise<FailureOutcome> {
    const first = await this.#options.engine.execution(id, 1)
    return { outcome: first?.decision?.kind === 'dead' ? 'dead' : 'retrying', taskId: id }
  }

  /** The task as it would have been submitted; a sentence if it can't be. */
  async #specFor(event: CloudEvent, report: FailureReport, by: Reporter): Promise<TaskSpec | string> {
    if (report.action === undefined) {
      return report.taskId === undefined
        ? "Name the 'action' that is to run it, or the 'taskId' of a task that is known here."
        : `There is no task '${report.taskId}' here. To have it run, name the 'action'.`
    }
    const tenant = this.#tenantFor(report, by)
    if (tenant === null) return `Name the 'tenant': one of ${(by.tenants ?? []).join(', ')}.`
    const action = actionName(report.action)
    const known = await this.#options.actionOf?.(action)
    const key = named('idempotency key', report.idempotencyKey)
    const dedupeKey = named('dedupe key', `event:${event.source}:${report.idempotencyKey}`)
    return {
      id: taskId(`event-${digest(tenant, event.source, report.idempotencyKey)}`),
      action,
      pool: known?.pool ?? DEFAULT_POOL,
      tenant,
      payload: encodeJson(report.payload, 'payload'),
      labels: { [SOURCE_LABEL]: named('source', event.source), [EVENT_LABEL]: named('event id', event.id) },
      priority: DEFAULT_PRIORITY,
      settings: this.#settingsFor(known?.settings ?? DEFAULT_SETTINGS, report),
      retryToken: retryToken(key),
      dedupeKey,
      delayMs: 0,
      dueAt: null,
      deadlineAt: null,
      deadlineMs: null,
    }
  }

  #settingsFor(settings: TaskSettings, { retryable }: FailureReport): Snapshot['settings'] {
    const retries = settings.maxRetries ?? this.#options.retries ?? RETRIES
    // If we are cut off before it is settled, what must not run again must not be run again for that reason either.
    return retryable ? { ...settings, maxRetries: retries } : { ...settings, onLost: 'hold' }
  }

  #tenantFor({ tenant }: FailureReport, by: Reporter): TenantId | null {
    if (by.tenants === null) return tenant === undefined ? DEFAULT_TENANT : tenantId(tenant)
    if (tenant === undefined) return by.tenants.length === 1 ? (by.tenants[0] ?? null) : null
    return by.tenants.find((one) => one === tenant) ?? null
  }
}

function thrownFor({ errorCode, errorMessage, retryable }: FailureReport): Error {
  const message = errorMessage ?? `It failed with ${errorCode}.`
  const code = { code: errorCode }
  // No stack: ours would point here, where nothing went wrong.
  return Object.assign(retryable ? new TransientError(message, code) : new PermanentError(message, code), { stack: '' })
}

const digest = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)

/** The text, or a digest of it where it can't be a name. */
function named(what: string, text: string): string {
  try {
    return checkedName(what, text)
  } catch {
    return `sha256:${digest(text)}`
  }
}
