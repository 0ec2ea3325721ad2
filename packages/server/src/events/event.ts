// From an entry of the journal to an event that leaves the system: a CloudEvent, the same for everybody who gets it. What a
// rule redacts is redacted here, once, before anything is sent or stored. Who may see an event is asked here as well: each
// belongs to the tenant of its task, and entries about no task to nobody in particular.

import {
  CLOCK_STEP_BACK_MS,
  type Clock,
  type Engine,
  type JournalEntry,
  systemClock,
  type Task,
  type TaskId,
  type TenantId,
} from '@reprise/core'

/** Takes out what must not be seen. */
export type Redact = (value: unknown) => unknown

const EVENT_TYPE_PREFIX = 'reprise.'
const PING_TYPE = 'reprise.ping'

export interface EventOut {
  readonly specversion: '1.0'
  /** Of the entry, for receivers that must not act twice. */
  readonly id: string
  readonly source: string
  /** Such as `reprise.execution.failed`. */
  readonly type: string
  /** RFC 3339. */
  readonly time: string
  /** The task; missing if it is about none. */
  readonly subject?: string
  readonly datacontenttype: 'application/json'
  readonly data: unknown
}

export interface EventOptions {
  /** Which Reprise it comes from, if there are several; `reprise` if not given. */
  readonly source?: string
  readonly redact?: Redact
}

export type MakeEvent = (entry: JournalEntry) => EventOut

export function eventMaker({ source = 'reprise', redact = (value) => value }: EventOptions = {}): MakeEvent {
  return ({ id, type, at, taskId, attempt, actor, reason, data }) => ({
    specversion: '1.0',
    id,
    source,
    type: `${EVENT_TYPE_PREFIX}${type}`,
    time: new Date(at).toISOString(),
    ...(taskId === null ? {} : { subject: taskId }),
    datacontenttype: 'application/json',
    // What it is about and who did it stay as they are: `token:deploys` is the name of somebody, and no token.
    data: { taskId, attempt, actor, ...redactedParts(redact({ reason, details: data })) },
  })
}

const redactedParts = (parts: unknown): object =>
  typeof parts === 'object' && parts !== null ? parts : { details: parts }

/** What somebody sends to see whether a receiver works. */
export function pingEvent(id: string, now: number, webhookId: string, source = 'reprise'): EventOut {
  return {
    specversion: '1.0',
    id,
    source,
    type: PING_TYPE,
    time: new Date(now).toISOString(),
    datacontenttype: 'application/json',
    data: { webhookId },
  }
}

/** Which types are wanted: `reprise.execution.failed`, or `reprise.execution.*` for a family. None given means all. */
export function typeFilter(patterns: readonly string[]): (type: string) => boolean {
  if (patterns.length === 0) return () => true
  const exact = new Set<string>()
  const families: string[] = []
  for (const pattern of patterns) {
    const full = pattern.startsWith(EVENT_TYPE_PREFIX) || pattern === '*' ? pattern : `${EVENT_TYPE_PREFIX}${pattern}`
    if (full.endsWith('*')) families.push(full.slice(0, -1))
    else exact.add(full)
  }
  return (type) => exact.has(type) || families.some((family) => type.startsWith(family))
}

const TASKS_KEPT_MAX = 10_000
/** How often the store is asked for its time, at most. An older answer only means more look-ups. */
const STORE_TIME_MS = 1_000

/** What a look-up told about an id. It counts for entries up to `checkedAt`: later, another task may have the id. */
interface LookUp {
  /** Null if there was no such task. */
  readonly task: Pick<Task, 'tenant' | 'acceptedAt'> | null
  readonly checkedAt: number
}

/**
 * Whose task an entry is about. Ids are used again once their task was removed, by another tenant too: an entry belongs to the
 * task that has the id now only if it was written since that was accepted. Look-ups are kept in mind for the entries before them.
 */
export class EntryTenants {
  readonly #engine: Engine
  readonly #clock: Clock
  readonly #lookUps = new Map<TaskId, Promise<LookUp>>()
  #storeTime: { readonly askedAt: number; readonly answer: Promise<number> } | null = null

  constructor(engine: Engine, clock: Clock = systemClock) {
    this.#engine = engine
    this.#clock = clock
  }

  /** Null for what concerns all tenants, and for a task that is gone: only who may see everything sees those. */
  async of({ taskId, data, at }: Pick<JournalEntry, 'taskId' | 'data' | 'at'>): Promise<TenantId | null> {
    if (taskId === null) return typeof data.tenant === 'string' ? (data.tenant as TenantId) : null
    const { task } = await this.#lookUpFor(taskId, at)
    return task !== null && task.acceptedAt <= at ? task.tenant : null
  }

  /** Null in `tenants` for all of them. */
  async maySee(entry: JournalEntry, tenants: readonly TenantId[] | null): Promise<boolean> {
    if (tenants === null) return true
    const tenant = await this.of(entry)
    return tenant !== null && tenants.includes(tenant)
  }

  /** One that was made after an entry of this moment was read. Those who want it at once share it. */
  async #lookUpFor(id: TaskId, at: number): Promise<LookUp> {
    const kept = this.#lookUps.get(id)
    if (kept !== undefined) {
      const lookUp = await kept
      if (at <= lookUp.checkedAt) return lookUp
      // Somebody else may have looked meanwhile.
      if (this.#lookUps.get(id) !== kept) return this.#lookUpFor(id, at)
    }
    const made = this.#lookUp(id, at)
    // To the end: the oldest is what goes first.
    this.#lookUps.delete(id)
    this.#lookUps.set(id, made)
    made.catch(() => {
      if (this.#lookUps.get(id) === made) this.#lookUps.delete(id)
    })
    if (this.#lookUps.size > TASKS_KEPT_MAX) {
      const [oldest] = this.#lookUps.keys()
      if (oldest !== undefined) this.#lookUps.delete(oldest)
    }
    return made
  }

  async #lookUp(id: TaskId, at: number): Promise<LookUp> {
    // Before the task, and less what clocks may differ by: at this moment the id was surely not used again.
    const sureAt = (await this.#now()) - CLOCK_STEP_BACK_MS
    const task = await this.#engine.task(id)
    return {
      task: task === null ? null : { tenant: task.tenant, acceptedAt: task.acceptedAt },
      checkedAt: Math.max(sureAt, at),
    }
  }

  #now(): Promise<number> {
    const askedAt = this.#clock.monotonic()
    if (this.#storeTime !== null && askedAt - this.#storeTime.askedAt < STORE_TIME_MS) return this.#storeTime.answer
    const asked = { askedAt, answer: this.#engine.now() }
    this.#storeTime = asked
    asked.answer.catch(() => {
      if (this.#storeTime === asked) this.#storeTime = null
    })
    return asked.answer
  }
}
