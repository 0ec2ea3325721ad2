// From an entry of the journal to an event that leaves the system: a CloudEvent, the same for everybody who gets it. What a
// rule redacts is redacted here, once, before anything is sent or stored. Who may see an event is asked here as well: each
// belongs to the tenant of its task, and entries about no task to nobody in particular.

import {
  CLOCK_STEP_BACK_MS,
  type Clock,
  type Engine,
  type EventOut,
  eventOf,
  type JournalEntry,
  systemClock,
  type Task,
  type TaskId,
  type TenantId,
} from '@reprise/core'

/** Takes out what must not be seen. */
export type Redact = (value: unknown) => unknown

/** `tenants` are those that its reader may see; null for all. */
export type MakeEvent = (entry: JournalEntry, tenants: readonly TenantId[] | null) => EventOut

/** What it is about and who did it stay as they are: `token:deploys` is the name of somebody, and no token. */
export const eventMaker =
  (redact: Redact): MakeEvent =>
  (entry, tenants) => {
    const event = eventOf(entry)
    const { reason, details } = event.data
    const redacted = redact({ reason, details })
    const parts = typeof redacted === 'object' && redacted !== null ? redacted : { reason: '', details: {} }
    const actor = tenants === null ? event.data.actor : withoutWorker(event.data.actor)
    return { ...event, data: { ...event.data, actor, ...parts } }
  }

/** Before the id of a worker, as the journal names who did something. */
const WORKER = 'worker:'

/** Workers work for all tenants: who may see some of them is not told which there are. */
const withoutWorker = (actor: string): string => (actor.startsWith(WORKER) ? 'worker' : actor)

/** An event, or a ping. */
export type SentEvent = Omit<EventOut, 'data'> & { readonly data: unknown }

/** What a webhook's owner sends to see whether the receiver works. */
export const pingEvent = (id: string, now: number, webhookId: string): SentEvent => ({
  specversion: '1.0',
  id,
  source: 'reprise',
  type: 'reprise.ping',
  time: new Date(now).toISOString(),
  datacontenttype: 'application/json',
  data: { webhookId },
})

const TASKS_KEPT_MAX = 10_000
/** How often the store is asked for its time, at most. An older answer only means more look-ups. */
const STORE_TIME_MS = 1_000

/** What a look-up told about an id. It counts for entries up to `checkedAt`: later, another task may have the id. */
interface LookUp {
  /** Null if there was no such task. */
  readonly task: Pick<Task, 'tenant' | 'action' | 'acceptedAt'> | null
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
    return (await this.#taskOf(taskId, at))?.tenant ?? null
  }

  /** The action that an entry is about; null if it is about none, and for a task that is gone. */
  async actionOf({ taskId, data, at }: Pick<JournalEntry, 'taskId' | 'data' | 'at'>): Promise<string | null> {
    if (typeof data.action === 'string') return data.action
    return taskId === null ? null : ((await this.#taskOf(taskId, at))?.action ?? null)
  }

  async #taskOf(id: TaskId, at: number): Promise<LookUp['task']> {
    const { task } = await this.#lookUpFor(id, at)
    return task !== null && task.acceptedAt <= at ? task : null
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
    const task = await this.#engine.task(id, { light: true })
    return {
      task: task === null ? null : { tenant: task.tenant, action: task.action, acceptedAt: task.acceptedAt },
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
