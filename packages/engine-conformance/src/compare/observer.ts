// A witness of one run: it keeps what the engine said and checks, without any model, what must hold step by step. Which
// tokens were given out and settled, when each task is due, what ended and must stay so, what the journal must contain.

import { isDeepStrictEqual } from 'node:util'
import type {
  Claimed,
  ClaimRequest,
  Engine,
  Execution,
  JournalType,
  Overdue,
  Scope,
  Settlement,
  SettleResult,
  Task,
  TaskId,
  TaskSpec,
} from '@reprise/core'
import { keyUntil } from '@reprise/core/engine'
import { InvariantError } from './difference.ts'
import { readJournal } from './snapshot.ts'

const LASTING: ReadonlySet<string> = new Set(['succeeded', 'discarded', 'cancelled'])
const ENTRY_OF_KIND = {
  failed: 'execution.failed',
  lost: 'execution.lost',
  expired: 'execution.expired',
  released: 'execution.released',
} as const

/** The entries whose number follows from the answers alone. */
const TALLIED = [
  ...Object.values(ENTRY_OF_KIND),
  'task.succeeded',
  'task.recovered',
  'task.dead',
  'task.redriven',
  'task.discarded',
  'task.cancelled',
  'task.promoted',
  'task.reverted',
  'task.imported',
  'task.retried',
  'lanes.paused',
] as const satisfies JournalType[]

export class Observer {
  accepted = 0
  removed = 0
  /** By scope, as text. */
  readonly limits = new Map<string, { readonly scope: Scope; readonly concurrency: number }>()
  readonly holds = new Map<string, Scope>()
  /** Tasks that an outside message started: such a message may revive a dead letter, budget or not. */
  readonly reserved = new Set<TaskId>()
  /** Until when each task holds its dedupe key; null: until it has ended or died. */
  readonly #keyUntil = new Map<TaskId, number | null>()
  /** Tasks that an operator brought back: another may have their key. */
  readonly #broughtBack = new Set<TaskId>()
  readonly #engine: Engine
  readonly #tokens = new Set<string>()
  /** Tokens that a sweep saw: some of them nobody was given. */
  readonly #swept = new Set<string>()
  readonly #settled = new Set<string>()
  /**
   * The attempt of each task that was claimed for dispatch: its worker collects it, whatever limits say by then. A task that is
   * accepted anew is another, and told by the time of that: of calls made together, the claim may come here before the submission.
   */
  readonly #onTheWay = new Map<TaskId, Pick<Claimed, 'attempt' | 'acceptedAt'>>()
  readonly #dueAt = new Map<TaskId, number>()
  /** Tasks whose end is an event. */
  readonly #notified = new Set<TaskId>()
  /** Tasks of which an attempt ended badly: their success is a recovery. */
  readonly #failed = new Set<TaskId>()
  readonly #endedTasks = new Map<TaskId, Task>()
  readonly #endedExecutions = new Map<string, Execution>()
  readonly #owed = new Map<JournalType, number>()
  readonly #found = new Map<JournalType, number>()
  #cursor: string | null = null

  constructor(engine: Engine) {
    this.#engine = engine
  }

  acceptedOne(spec: TaskSpec, dueAt: number, now: number): void {
    const { id, settings } = spec
    this.accepted++
    this.#keyUntil.set(id, keyUntil(spec, now))
    this.#broughtBack.delete(id)
    if (settings.notify === true) this.#notified.add(id)
    else this.#notified.delete(id)
    if ((spec.past?.attempts.length ?? 0) > 0) this.#failed.add(id)
    else this.#failed.delete(id)
    this.#dueAt.set(id, dueAt)
    this.#endedTasks.delete(id)
  }

  /** An operator or a message said: now. */
  dueNow(id: TaskId): void {
    this.#broughtBack.add(id)
    this.#dueAt.delete(id)
  }

  /** An operator took its end back. */
  broughtBack(id: TaskId): void {
    this.#endedTasks.delete(id)
  }

  /** Whether this task must hold its dedupe key now. One that was brought back may: another task can have taken it meanwhile. */
  mustHoldKey({ id, dedupeKey, state: { status } }: Task, now: number): boolean {
    const until = this.#keyUntil.get(id) ?? null
    if (dedupeKey === null || until !== null) return until !== null && now < until
    return !LASTING.has(status) && status !== 'dead' && !this.#broughtBack.has(id)
  }

  async claimed(leases: readonly Claimed[], stage: NonNullable<ClaimRequest['stage']>): Promise<void> {
    const asked: Claimed[] = []
    for (const lease of leases) {
      const { taskId, attempt, acceptedAt, token, startedAt } = lease
      const known = this.#onTheWay.get(taskId)
      if (known?.attempt !== attempt || known.acceptedAt !== acceptedAt) asked.push(lease)
      this.#onTheWay.delete(taskId)
      if (stage === 'dispatch') this.#onTheWay.set(taskId, { attempt, acceptedAt })
      if (this.#tokens.has(token))
        throw new InvariantError(3, `the token of ${taskId}, attempt ${attempt}, was used before.`)
      this.#tokens.add(token)
      const dueAt = this.#dueAt.get(taskId)
      if (dueAt !== undefined && startedAt < dueAt)
        throw new InvariantError(7, `${taskId} runs ${dueAt - startedAt} ms before it is due.`)
    }
    for (const { scope, concurrency } of asked.length === 0 ? [] : this.limits.values()) {
      const isConcerned = asked.some(({ snapshot }) => covers(scope, snapshot))
      const { running } = await this.#engine.counts(scope)
      if (isConcerned && running > concurrency)
        throw new InvariantError(6, `${running} tasks run under a limit of ${concurrency}.`)
    }
  }

  swept(overdue: readonly Overdue[]): void {
    for (const { ref } of overdue) if ('token' in ref) this.#swept.add(ref.token)
  }

  settled(settlements: readonly Settlement[], results: readonly SettleResult[], now: number): void {
    settlements.forEach((settlement, index) => {
      const result = results[index]
      if (result?.outcome !== 'settled' || result.repeated) return
      const { kind, ref } = settlement
      if ('token' in ref) {
        if (!this.#tokens.has(ref.token) && !this.#swept.has(ref.token))
          throw new InvariantError(5, `a token that nobody was given settled ${ref.taskId}.`)
        if (this.#settled.has(ref.token)) throw new InvariantError(5, `one token settled ${ref.taskId} twice.`)
        this.#settled.add(ref.token)
      }
      if (kind !== 'succeeded') this.owe(ENTRY_OF_KIND[kind])
      const { status } = result
      if (status === 'succeeded' && this.#failed.has(ref.taskId)) this.owe('task.recovered')
      if (kind === 'failed' || kind === 'lost' || kind === 'expired') this.#failed.add(ref.taskId)
      if (this.#notified.has(ref.taskId) && (status === 'succeeded' || status === 'dead')) this.owe(`task.${status}`)
      const delayMs = delayOf(settlement)
      if (status === 'waiting' && delayMs !== null) this.#dueAt.set(ref.taskId, now + delayMs)
      if (kind === 'released') this.#onTheWay.delete(ref.taskId)
    })
  }

  /** How many journal entries of this type must be found. */
  owe(type: JournalType, count = 1): void {
    this.#owed.set(type, (this.#owed.get(type) ?? 0) + count)
  }

  /** Reads on in the journal; must be called before old entries are deleted. */
  async readOn(): Promise<void> {
    const { entries, cursor } = await readJournal(this.#engine, this.#cursor)
    this.#cursor = cursor
    for (const { type, actor, reason } of entries) {
      if (actor === '' || reason === '') throw new InvariantError(9, `an entry ${type} lacks its actor or reason.`)
      this.#found.set(type, (this.#found.get(type) ?? 0) + 1)
    }
  }

  checkJournal(): void {
    for (const type of TALLIED) {
      const owed = this.#owed.get(type) ?? 0
      const found = this.#found.get(type) ?? 0
      if (found !== owed) throw new InvariantError(9, `${owed} entries ${type} are due, ${found} were written.`)
    }
  }

  /** What has ended must look the same whenever it is seen again. */
  checkEnded(tasks: readonly Task[], executions: readonly Execution[]): void {
    for (const task of tasks) {
      const before = this.#endedTasks.get(task.id)
      if (before !== undefined && !isDeepStrictEqual(before, task))
        throw new InvariantError(4, `${task.id} had ended as ${before.state.status} and changed.`)
      if (LASTING.has(task.state.status)) this.#endedTasks.set(task.id, task)
    }
    for (const execution of executions) {
      const { taskId, attempt, token, status } = execution
      const before = this.#endedExecutions.get(token)
      if (before !== undefined && !isDeepStrictEqual(before, execution))
        throw new InvariantError(4, `attempt ${attempt} of ${taskId} had ended as ${before.status} and changed.`)
      if (status !== 'running') this.#endedExecutions.set(token, execution)
    }
  }
}

/** How long the task is to wait, if it is to wait at all; a quota may make it longer. */
function delayOf(settlement: Settlement): number | null {
  if (settlement.kind === 'released') return settlement.deferral?.delayMs ?? null
  return 'decision' in settlement && settlement.decision.kind === 'retry' ? settlement.decision.delayMs : null
}

function covers(scope: Scope, lane: Required<Scope>): boolean {
  return (['pool', 'action', 'tenant'] as const).every(
    (part) => scope[part] === undefined || scope[part] === lane[part],
  )
}
