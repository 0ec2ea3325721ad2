// Sessions of browsers that have signed in. The browser keeps a random id, the store its digest and who it belongs to, so every
// server of one store knows every session, also after a restart. What a person may do is not stored: it is read off the role
// rules at each request, so a rule that is taken away takes effect at once. A session of a store that is older than subjects
// says no subject, and is over: its owner signs in again.

import {
  type Clock,
  type Collection,
  type Engine,
  isRepriseError,
  NotFoundError,
  type Page,
  type PageRequest,
  type Stored,
} from '@reprise/core'
import type { Caller } from './caller.ts'
import { actorOf, type Identity, personOf } from './identity.ts'
import { Seals } from './seals.ts'
import { digestOf, isSecret, newId } from './secrets.ts'

export interface SessionTimes {
  /** From signing in, whatever happens. */
  readonly absoluteMs: number
  /** Without a request. */
  readonly idleMs: number
}

/** A session as people may see it. */
export interface SessionFacts {
  /** To revoke it by; the browser's secret is another. */
  readonly id: string
  readonly actor: string
  readonly name: string
  readonly startedAt: number
  /** To the minute. */
  readonly seenAt: number
  /** When it ends at the latest. */
  readonly endsAt: number
}

const SESSION_TIMES: SessionTimes = { absoluteMs: 12 * 3_600_000, idleMs: 2 * 3_600_000 }
export const SESSIONS_PER_PERSON_MAX = 10

/** How often a session's last use is written down, at most. */
const NOTE_EVERY_MS = 60_000
const PRUNED_AT_ONCE = 20

interface SessionDocument {
  /** The digest of what the browser has. */
  readonly id: string
  /** What the session is called. */
  readonly handle: string
  readonly identity: Identity
  readonly startedAt: number
  readonly seenAt: number
}

export class Sessions {
  readonly #collection: Collection<SessionDocument>
  readonly #journal: Pick<Engine['journal'], 'append'>
  readonly #clock: Clock
  readonly #times: SessionTimes
  readonly seals: Seals

  constructor(
    engine: Pick<Engine, 'collection' | 'journal' | 'now'>,
    clock: Clock,
    times: SessionTimes = SESSION_TIMES,
  ) {
    this.#collection = engine.collection<SessionDocument>({
      name: 'sessions',
      indexes: { person: ({ identity }) => personOf(identity), handle: ({ handle }) => handle },
    })
    this.#journal = engine.journal
    this.#clock = clock
    this.#times = times
    this.seals = new Seals(engine, clock, 'session')
  }

  get absoluteMs(): number {
    return this.#times.absoluteMs
  }

  /** Returns what the browser has to show from now on. */
  async begin(identity: Identity): Promise<string> {
    const secret = await this.seals.newSecret()
    const now = this.#clock.now()
    await this.#collection.insert({ id: digestOf(secret), handle: newId(), identity, startedAt: now, seenAt: now })
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

  /** Those that are not over. */
  async list(page?: PageRequest): Promise<Page<SessionFacts>> {
    const { items, next } = await this.#collection.list(page)
    const live = items.map(({ document }) => document).filter((document) => !this.#isOver(document))
    return { items: live.map((document) => this.#factsOf(document)), next }
  }

  /** The browser that has it is signed out at its next request, on every server. */
  async revoke(id: string, { actor }: Caller): Promise<void> {
    const { items } = await this.#collection.find({ index: 'handle', value: id, limit: 1 })
    const [stored] = items
    if (stored === undefined || !(await this.#collection.remove(stored.document.id))) {
      throw new NotFoundError('session', id)
    }
    const owner = actorOf(stored.document.identity)
    const entry = { type: 'note', taskId: null, attempt: null, actor } as const
    await this.#journal.append([{ ...entry, reason: `A session of ${owner} was revoked.`, data: { id, owner } }])
  }

  #factsOf({ handle, identity, startedAt, seenAt }: SessionDocument): SessionFacts {
    const endsAt = startedAt + this.#times.absoluteMs
    return { id: handle, actor: actorOf(identity), name: identity.name, startedAt, seenAt, endsAt }
  }

  #isOver({ startedAt, seenAt, identity }: SessionDocument): boolean {
    const now = this.#clock.now()
    const isOld = now >= startedAt + this.#times.absoluteMs || now >= seenAt + this.#times.idleMs
    return isOld || identity.subject === undefined
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
    const { items } = await this.#collection.find({ index: 'person', value: personOf(identity), limit: 100 })
    const surplus = items.slice(0, Math.max(items.length - SESSIONS_PER_PERSON_MAX, 0))
    for (const { document } of surplus) await this.#collection.remove(document.id)
  }

  /** Sessions of people who never came back: a few at each sign-in, the oldest first, are enough to keep the store small. */
  async #dropExpired(): Promise<void> {
    const { items } = await this.#collection.list({ limit: PRUNED_AT_ONCE })
    for (const { document } of items) if (this.#isOver(document)) await this.#collection.remove(document.id)
  }
}
