// How far each webhook has come in the journal, and which server is at it. One document per webhook holds both, so that only
// who has the lease can move the cursor. Takeover needs no common clock: a server that wants it watches the document, and takes it
// only if its version has stood still for longer than its owner would ever let it.

import {
  type Clock,
  type Collection,
  type CollectionDefinition,
  type Engine,
  isRepriseError,
  type Stored,
  stepDocument,
} from '@reprise/core'

export interface WebhookProgress {
  readonly id: string
  /** Everything before it is written down as a delivery, or was not wanted. */
  readonly cursor: string
  /** The server that delivers; null if none does. */
  readonly owner: string | null
  /** Counts up when somebody changed a delivery from outside. */
  readonly nudges: number
}

export const LEASE_MS = 15_000
const RENEW_MS = LEASE_MS / 3

const definition: CollectionDefinition<WebhookProgress> = { name: 'webhook-progress', indexes: {} }

export const progressCollection = (engine: Pick<Engine, 'collection'>): Collection<WebhookProgress> =>
  engine.collection(definition)

/** Tells the server that delivers for this webhook to look at its deliveries again. */
export async function nudge(collection: Collection<WebhookProgress>, id: string): Promise<void> {
  await stepDocument(collection, id, (progress) => ({ ...progress, nudges: progress.nudges + 1 }))
}

/** Takes leases for one server. */
export class LeaseTaker {
  readonly #collection: Collection<WebhookProgress>
  readonly #clock: Clock
  readonly #owner: string
  readonly #sightings = new Map<string, { readonly version: number; readonly at: number }>()

  constructor(collection: Collection<WebhookProgress>, clock: Clock, owner: string) {
    this.#collection = collection
    this.#clock = clock
    this.#owner = owner
  }

  /** Null if another server has it, or was just faster. */
  async take(id: string): Promise<WebhookLease | null> {
    const stored = await this.#collection.get(id)
    if (stored === null) return null
    const { owner } = stored.document
    if (owner !== null && owner !== this.#owner && !this.#isStill(stored)) return null
    try {
      const taken = await this.#collection.update({ ...stored.document, owner: this.#owner }, stored.version)
      this.#sightings.delete(id)
      return new WebhookLease(this.#collection, this.#clock, taken)
    } catch (error) {
      if (isLost(error)) return null
      throw error
    }
  }

  #isStill({ document: { id }, version }: Stored<WebhookProgress>): boolean {
    const seen = this.#sightings.get(id)
    const now = this.#clock.monotonic()
    if (seen?.version === version) return now - seen.at >= LEASE_MS
    this.#sightings.set(id, { version, at: now })
    return false
  }
}

/** Somebody else has it now, or the webhook is gone. */
export class LeaseLost extends Error {
  constructor() {
    super('Another server delivers for this webhook now.')
    this.name = 'LeaseLost'
  }
}

export class WebhookLease {
  readonly #collection: Collection<WebhookProgress>
  readonly #clock: Clock
  #stored: Stored<WebhookProgress>
  #cursor: string
  #writtenAt: number
  /** One change at a time. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(collection: Collection<WebhookProgress>, clock: Clock, stored: Stored<WebhookProgress>) {
    this.#collection = collection
    this.#clock = clock
    this.#stored = stored
    this.#cursor = stored.document.cursor
    this.#writtenAt = clock.monotonic()
  }

  get cursor(): string {
    return this.#cursor
  }

  get nudges(): number {
    return this.#stored.document.nudges
  }

  /** Written at once if something before it was written down, else with the next renewal. */
  async moveTo(cursor: string, isUrgent: boolean): Promise<void> {
    this.#cursor = cursor
    if (isUrgent) await this.#write({})
  }

  /** Renews when it is time, and sees what others changed. */
  async keep(): Promise<void> {
    if (this.#clock.monotonic() - this.#writtenAt >= RENEW_MS) return this.#write({})
    await this.#inTurn(() => this.#reload())
  }

  async release(): Promise<void> {
    await this.#write({ owner: null })
  }

  #write(change: Partial<WebhookProgress>): Promise<void> {
    return this.#inTurn(async () => {
      for (;;) {
        const document = { ...this.#stored.document, cursor: this.#cursor, ...change }
        try {
          this.#stored = await this.#collection.update(document, this.#stored.version)
          this.#writtenAt = this.#clock.monotonic()
          return
        } catch (error) {
          if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw isLost(error) ? new LeaseLost() : error
          await this.#reload()
        }
      }
    })
  }

  async #reload(): Promise<void> {
    const { owner, id } = this.#stored.document
    const stored = await this.#collection.get(id)
    if (stored === null || stored.document.owner !== owner) throw new LeaseLost()
    this.#stored = stored
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(step)
    this.#turn = turn.catch(() => undefined)
    return turn
  }
}

const isLost = (error: unknown): boolean =>
  isRepriseError(error, 'REPRISE_CONFLICT') || isRepriseError(error, 'REPRISE_NOT_FOUND')
