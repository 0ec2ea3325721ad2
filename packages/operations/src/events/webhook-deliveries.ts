// The delivery log: one document for each event that a webhook is to get, written before the webhook's cursor moves past it.
// What is pending survives any crash; what has ended is kept for people to look at, a bounded number per webhook.

import {
  type Collection,
  type CollectionDefinition,
  type Engine,
  type EventOut,
  isRepriseError,
  NotFoundError,
  type Page,
  type PageRequest,
  type Stored,
  stepDocument,
  type TaskId,
  type TenantId,
} from '@reprise/core'
import { visiblePage } from '../visible-page.ts'
import type { EntryTenants, SentEvent } from './event.ts'
import { nudge, progressCollection } from './webhook-lease.ts'

export type DeliveryStatus = 'pending' | 'delivered' | 'given_up'

/** One request and what came of it. */
export interface DeliveryTry {
  readonly at: number
  readonly durationMs: number
  /** Of the answer; null if there was none. */
  readonly status: number | null
  /** What went wrong, for people; null if nothing did. */
  readonly error: string | null
  /** How the answer begins. */
  readonly answer: string
}

export interface Delivery {
  readonly id: string
  readonly webhookId: string
  readonly eventId: string
  readonly type: string
  readonly taskId: string | null
  /** Whose event it tells of; null for what concerns all. Missing in those that were written before there was this field. */
  readonly tenant?: TenantId | null
  /** The event as JSON: every try sends the same bytes. */
  readonly body: string
  readonly status: DeliveryStatus
  /** Tries since it was last asked for. */
  readonly tries: number
  /** When the next one is due; null if it has ended. */
  readonly nextAt: number | null
  /** The latest ones, oldest first. */
  readonly log: readonly DeliveryTry[]
}

/** Ended ones that are kept for each webhook. */
const ENDED_KEPT = 200
/** How far above that it may get before the oldest go. */
const ENDED_SLACK = 50
const LOG_KEPT = 20
const BODY_BYTES_MAX = 65_536
const PAGE = 200

const definition: CollectionDefinition<Delivery> = {
  name: 'webhook-deliveries',
  indexes: {
    webhook: ({ webhookId }) => webhookId,
    status: ({ webhookId, status }) => statusKey(webhookId, status),
    ended: ({ webhookId, status }) => (status === 'pending' ? null : webhookId),
  },
}

const statusKey = (webhookId: string, status: DeliveryStatus): string => `${webhookId} ${status}`

/** A webhook, and the one tenant whose events it is about; null for all. */
export interface DeliveryOwner {
  readonly id: string
  readonly tenant: TenantId | null
}

export class WebhookDeliveries {
  readonly #engine: Pick<Engine, 'collection'>
  readonly #collection: Collection<Delivery>
  readonly #tenants: Pick<EntryTenants, 'of'>

  constructor(engine: Pick<Engine, 'collection'>, tenants: Pick<EntryTenants, 'of'>) {
    this.#engine = engine
    this.#collection = engine.collection(definition)
    this.#tenants = tenants
  }

  /** Written once, however often it is called for one event. */
  async write(webhookId: string, event: SentEvent, tenant: TenantId | null, now: number): Promise<string> {
    const draft = draftOf(webhookId, event, tenant)
    const delivery: Delivery = { ...draft, status: 'pending', tries: 0, nextAt: now, log: [] }
    try {
      await this.#collection.insert(delivery)
    } catch (error) {
      if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
    }
    return delivery.id
  }

  /** One that was sent right away and is over. */
  async writeEnded(
    { id, tenant }: DeliveryOwner,
    event: SentEvent,
    status: DeliveryStatus,
    log: DeliveryTry,
  ): Promise<Delivery> {
    const delivery: Delivery = { ...draftOf(id, event, tenant), status, tries: 1, nextAt: null, log: [log] }
    const { document } = await this.#collection.insert(delivery)
    return document
  }

  get(id: string): Promise<Stored<Delivery> | null> {
    return this.#collection.get(id)
  }

  /** What a try came to. Null if it is gone, or somebody asked for it anew meanwhile and it stays pending. */
  async record(
    { document, version }: Stored<Delivery>,
    result: Pick<Delivery, 'status' | 'tries' | 'nextAt'>,
    latest: DeliveryTry,
  ): Promise<Delivery | null> {
    try {
      const changed: Delivery = { ...document, ...result, log: [...document.log, latest].slice(-LOG_KEPT) }
      await this.#collection.update(changed, version)
      return changed
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_CONFLICT') || isRepriseError(error, 'REPRISE_NOT_FOUND')) return null
      throw error
    }
  }

  /**
   * Whether a webhook could have had it as it is now. One that was narrowed to a tenant, or handed to another, has deliveries
   * from before: those of others are neither shown nor sent.
   */
  async isOf({ id, tenant }: DeliveryOwner, delivery: Delivery): Promise<boolean> {
    if (delivery.webhookId !== id) return false
    return tenant === null || (await this.#tenantOf(delivery)) === tenant
  }

  /** What a webhook could have had, oldest first. */
  shown(owner: DeliveryOwner, { status, ...page }: PageRequest & { readonly status?: DeliveryStatus }) {
    const wanted = status === undefined ? {} : { status }
    return visiblePage(
      page,
      (some) => this.list(owner.id, { ...some, ...wanted }),
      ({ document }) => this.isOf(owner, document),
    )
  }

  /** Of one that was written before deliveries said so, by the event that it sends. */
  async #tenantOf({ tenant, taskId, body }: Delivery): Promise<TenantId | null> {
    if (tenant !== undefined) return tenant
    const { time, data } = JSON.parse(body) as Pick<EventOut, 'time'> & { readonly data?: Partial<EventOut['data']> }
    return this.#tenants.of({ taskId: taskId as TaskId | null, data: data?.details ?? {}, at: Date.parse(time) })
  }

  /** All of a webhook, oldest first. */
  list(webhookId: string, { status, ...page }: PageRequest & { readonly status?: DeliveryStatus }) {
    return status === undefined
      ? this.#collection.find({ ...page, index: 'webhook', value: webhookId })
      : this.#collection.find({ ...page, index: 'status', value: statusKey(webhookId, status) })
  }

  /** Everything that is still to be delivered: who may have more pending reads on. */
  async *pending(webhookId: string): AsyncGenerator<Stored<Delivery>> {
    let cursor: string | null | undefined
    while (cursor !== null) {
      const page: Page<Stored<Delivery>> = await this.list(webhookId, {
        status: 'pending',
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      })
      yield* page.items
      cursor = page.next
    }
  }

  /** Sends it again as soon as its webhook is at it, whatever has come of it before. */
  async redeliver(owner: DeliveryOwner, id: string, now: number): Promise<Delivery> {
    const stored = await this.#collection.get(id)
    const isOwn = stored !== null && (await this.isOf(owner, stored.document))
    const again = (delivery: Delivery): Delivery => ({ ...delivery, status: 'pending', tries: 0, nextAt: now })
    const changed = isOwn ? await stepDocument(this.#collection, id, again) : null
    if (changed === null) throw new NotFoundError('delivery', id)
    await nudge(progressCollection(this.#engine), owner.id)
    return changed
  }

  /** Removes the oldest that have ended, if there are too many. Answers how many are left. */
  async trim(webhookId: string, ended: number): Promise<number> {
    if (ended <= ENDED_KEPT + ENDED_SLACK) return ended
    const limit = ended - ENDED_KEPT
    const { items } = await this.#collection.find({ index: 'ended', value: webhookId, limit })
    for (const { document, version } of items) {
      try {
        await this.#collection.remove(document.id, version)
      } catch (error) {
        if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
      }
    }
    return ended - items.length
  }

  async remove(id: string): Promise<void> {
    await this.#collection.remove(id)
  }

  /** How many have ended and are kept; counted up to what one trim can remove. */
  async countEnded(webhookId: string): Promise<number> {
    const { items } = await this.#collection.find({ index: 'ended', value: webhookId, limit: 1_000 })
    return items.length
  }

  async removeAll(webhookId: string): Promise<void> {
    for (;;) {
      const { items } = await this.#collection.find({ index: 'webhook', value: webhookId, limit: PAGE })
      if (items.length === 0) return
      for (const { document } of items) await this.#collection.remove(document.id)
    }
  }
}

function draftOf(webhookId: string, event: SentEvent, tenant: TenantId | null) {
  return {
    id: `${webhookId}.${event.id}`,
    webhookId,
    tenant,
    eventId: event.id,
    type: event.type,
    taskId: event.subject ?? null,
    body: bodyOf(event),
  }
}

/** A document has a limit: one event beyond it must not keep all later ones from being written. */
function bodyOf(event: SentEvent): string {
  const body = JSON.stringify(event)
  if (Buffer.byteLength(body) <= BODY_BYTES_MAX) return body
  return JSON.stringify({ ...event, data: { cut: `It takes more than ${BODY_BYTES_MAX} bytes: read it by its id.` } })
}
