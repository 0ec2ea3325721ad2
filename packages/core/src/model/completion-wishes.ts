// Whose end is an event. An action or a submission asks by itself; a webhook asks for all tasks of its tenant, or of some
// actions, that are submitted while it is there. Each way leads into the settings of the task (`notify`), so that a task
// nobody asked about costs nothing more. What webhooks ask for is kept in memory by those who submit. The first submission
// waits for it; later it is read anew beside the submissions, at most every few seconds.

import type { Document } from '../port/collection.ts'
import type { Engine } from '../port/engine.ts'
import type { Clock } from '../runtime/clock.ts'
import type { ActionName, TenantId } from './ids.ts'
import type { TaskSettings } from './task.ts'

/** How old a submitter's knowledge of webhooks may be. */
export const WISHES_FRESH_MS = 5_000
/** More webhooks than there may be. */
const WISHES_MAX = 500

/** What is known of a webhook here. */
interface WebhookWish extends Document {
  readonly types: readonly string[]
  /** Missing in webhooks of earlier versions: all actions. */
  readonly actions?: readonly string[]
  readonly tenant: TenantId | null
  readonly enabled: boolean
}

/** Asked for by these names. A webhook for all events, or for a family, gets only those that something else asked for. */
const ASKED_BY: ReadonlySet<string> = new Set([
  'task.succeeded',
  'task.dead',
  'reprise.task.succeeded',
  'reprise.task.dead',
])

const notified = new WeakMap<TaskSettings, TaskSettings>()

/** The same settings, with an event at the end of the task. One object for equal ones: stores tell settings apart by it. */
export function withNotify(settings: TaskSettings): TaskSettings {
  if (settings.notify === true) return settings
  let made = notified.get(settings)
  if (made === undefined) {
    made = { ...settings, notify: true }
    notified.set(settings, made)
  }
  return made
}

export class CompletionWishes {
  readonly #engine: Pick<Engine, 'collection'>
  readonly #clock: Clock
  #wishes: readonly WebhookWish[] = []
  #lookedAt: number | null = null
  #looking: Promise<void> | null = null

  constructor(engine: Pick<Engine, 'collection'>, clock: Clock) {
    this.#engine = engine
    this.#clock = clock
  }

  /** To be waited for by the first submission; null once anything is known. */
  look(): Promise<void> | null {
    const isFresh = this.#lookedAt !== null && this.#clock.monotonic() - this.#lookedAt < WISHES_FRESH_MS
    if (!isFresh && this.#looking === null) this.#looking = this.#read()
    return this.#lookedAt === null ? this.#looking : null
  }

  /** Whether no webhook asks, as far as is known. */
  get isEmpty(): boolean {
    return this.#wishes.length === 0
  }

  settingsFor(settings: TaskSettings, action: ActionName, tenant: TenantId): TaskSettings {
    const isAsked = this.#wishes.some(
      (wish) =>
        (wish.tenant === null || wish.tenant === tenant) &&
        (wish.actions === undefined || wish.actions.length === 0 || wish.actions.includes(action)),
    )
    return isAsked ? withNotify(settings) : settings
  }

  /** A store that is away answers the submission itself: nothing is said of it here. */
  async #read(): Promise<void> {
    try {
      const webhooks = this.#engine.collection<WebhookWish>({ name: 'webhooks', indexes: {} })
      const { items } = await webhooks.list({ limit: WISHES_MAX })
      this.#wishes = items
        .map(({ document }) => document)
        .filter(({ enabled, types }) => enabled && types.some((type) => ASKED_BY.has(type)))
    } catch {
      // What was known before counts on.
    } finally {
      this.#lookedAt = this.#clock.monotonic()
      this.#looking = null
    }
  }
}
