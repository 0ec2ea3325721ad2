// Sessions of browsers that have signed in. The browser keeps a random id, the store its digest and who it belongs to, so every
// server of one store knows every session, also after a restart. What a person may do is not stored: it is read off the role
// rules at each request, so a rule that is taken away takes effect at once.

import { type Clock, type Collection, type Engine, isRepriseError, type Stored } from '@reprise/core'
import { digestOf, isSecret, newSecret } from '@reprise/operations'
import { actorOf, type Identity } from './identity.ts'

export interface SessionTimes {
  /** From signing in, whatever happens. */
  readonly absoluteMs: number
  /** Without a request. */
  readonly idleMs: number
}

const SESSION_TIMES: SessionTimes = { absoluteMs: 12 * 3_600_000, idleMs: 2 * 3_600_000 }
export const SESSIONS_PER_PERSON_MAX = 10

/** How often a session's last use is written down, at most. */
const NOTE_EVERY_MS = 60_000
const PRUNED_AT_ONCE = 20

interface SessionDocument {
  readonly id: string
  readonly identity: Identity
  readonly startedAt: number
  readonly seenAt: number
}

export class Sessions {
  readonly #collection: Collection<SessionDocument>
  readonly #clock: Clock
  readonly #times: SessionTimes

  constructor(engine: Pick<Engine, 'collection'>, clock: Clock, times: SessionTimes = SESSION_TIMES) {
    this.#collection = engine.collection<SessionDocument>({
      name: 'sessions',
      indexes: { person: ({ identity }) => actorOf(identity) },
    })
    this.#clock = clock
    this.#times = times
  }

  get absoluteMs(): number {
    return this.#times.absoluteMs
  }

  /** Returns what the browser has to show from now on. */
  async begin(identity: Identity): Promise<string> {
    const secret = newSecret()
    const now = this.#clock.now()
    await this.#collection.insert({ id: digestOf(secret), identity, startedAt: now, seenAt: now })
    await this.#dropSurplus(identity)
    await this.#dropExpired()
    return secret
  }

  /** Null if there is no such session, or it is over. */
  async find(secret: string): Promise<Identity | null> {
    if (!isSecret(secret)) return null
    const stored = await this.#collection.get(digestOf(secret))
    if (stored === null) return null
    if (this.#isOver(stored.document)) {
      await this.#collection.remove(stored.document.id)
      return null
    }
    if (this.#clock.now() - stored.document.seenAt >= NOTE_EVERY_MS) await this.#noteUse(stored)
    return stored.document.identity
  }

  async end(secret: string): Promise<void> {
    if (isSecret(secret)) await this.#collection.remove(digestOf(secret))
  }

  #isOver({ startedAt, seenAt }: SessionDocument): boolean {
    const now = this.#clock.now()
    return now >= startedAt + this.#times.absoluteMs || now >= seenAt + this.#times.idleMs
  }

  async #noteUse({ document, version }: Stored<SessionDocument>): Promise<void> {
    try {
      await this.#collection.update({ ...document, seenAt: this.#clock.now() }, version)
    } catch (error) {
      // Another request noted it first, or signed out meanwhile.
      if (!isRepriseError(error, 'REPRISE_CONFLICT') && !isRepriseError(error, 'REPRISE_NOT_FOUND')) throw error
    }
  }

  /** The oldest go first. */
  async #dropSurplus(identity: Identity): Promise<void> {
    const { items } = await this.#collection.find({ index: 'person', value: actorOf(identity), limit: 100 })
    const surplus = items.slice(0, Math.max(items.length - SESSIONS_PER_PERSON_MAX, 0))
    for (const { document } of surplus) await this.#collection.remove(document.id)
  }

  /** Sessions of people who never came back: a few at each sign-in, the oldest first, are enough to keep the store small. */
  async #dropExpired(): Promise<void> {
    const { items } = await this.#collection.list({ limit: PRUNED_AT_ONCE })
    for (const { document } of items) if (this.#isOver(document)) await this.#collection.remove(document.id)
  }
}
