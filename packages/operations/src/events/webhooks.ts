// Webhooks: who wants to be told of which events, and where. This keeps them and checks their addresses; sending is the
// business of webhook-delivery. The secret is stored as it was drawn, since every request is signed with it; it is shown
// once, to the caller that made the webhook or renewed the secret, and never again. Addresses may hold secrets too: only their
// origin is ever logged.

import { randomBytes, randomUUID } from 'node:crypto'
import {
  type ActionName,
  type Clock,
  type Collection,
  type CollectionDefinition,
  ConflictError,
  type Engine,
  InvalidError,
  NotFoundError,
  type Page,
  type PageRequest,
  type Stored,
  stepDocument,
  systemClock,
  type TenantId,
} from '@reprise/core'
import type { AddressPolicy } from '@reprise/launchers'
import { visiblePage } from '../visible-page.ts'
import { checkedUrl } from './checked-url.ts'
import type { EntryTenants } from './event.ts'
import type { EventFeed } from './feed.ts'
import { WebhookDeliveries } from './webhook-deliveries.ts'
import { progressCollection } from './webhook-lease.ts'

export interface Webhook {
  readonly id: string
  readonly url: string
  /** Types, or families such as `reprise.execution.*`; all if empty. */
  readonly types: readonly string[]
  /** Only events about these; missing or empty for all, also for events that are about no action. */
  readonly actions?: readonly ActionName[]
  /** Only events of this tenant; null for all. */
  readonly tenant: TenantId | null
  readonly secret: string
  readonly enabled: boolean
  /** Why it was switched off, if nobody did it by hand. */
  readonly disabledBecause: string | null
  readonly description: string
  readonly createdBy: string
}

export interface WebhookInput {
  readonly url: string
  readonly types?: readonly string[] | undefined
  readonly actions?: readonly ActionName[] | undefined
  readonly tenant?: TenantId | null | undefined
  readonly description?: string | undefined
  readonly enabled?: boolean | undefined
}

export interface WebhookChange extends Omit<WebhookInput, 'url'> {
  readonly url?: string | undefined
  /** Draws a new secret; the old one counts no more. */
  readonly renewSecret?: boolean | undefined
}

/** As it is shown: without the secret. */
export interface ShownWebhook extends Required<Omit<Webhook, 'secret'>> {
  readonly createdAt: number
  readonly updatedAt: number
}

/** A webhook as a caller may see it, and its secret if it has just been drawn. */
export interface WebhookWithSecret {
  readonly webhook: ShownWebhook
  readonly secret: string | null
}

export interface WebhooksOptions {
  readonly engine: Pick<Engine, 'collection' | 'journal'>
  readonly feed: EventFeed
  readonly tenants: EntryTenants
  /** Where requests may go. */
  readonly policy: AddressPolicy
  readonly clock?: Clock
}

/** Each runs a loop of its own. */
export const WEBHOOKS_MAX = 250
/** So that no tenant takes the place of all others. */
export const WEBHOOKS_PER_TENANT_MAX = 25
/** Those that are about all tenants. */
export const WEBHOOKS_OF_ALL_MAX = 100
const SECRET_BYTES = 32

const webhookDefinition: CollectionDefinition<Webhook> = { name: 'webhooks', indexes: {} }

/** For callers who may see only some tenants: what they may not see does not exist. */
export type Sees = readonly TenantId[] | null

export class Webhooks {
  readonly #options: WebhooksOptions
  readonly #collection: Collection<Webhook>
  readonly #deliveries: WebhookDeliveries

  constructor(options: WebhooksOptions) {
    this.#options = options
    this.#collection = options.engine.collection(webhookDefinition)
    this.#deliveries = new WebhookDeliveries(options.engine, options.tenants)
  }

  async create(input: WebhookInput, by: string, sees: Sees = null): Promise<WebhookWithSecret> {
    const tenant = input.tenant ?? null
    this.#checkTenant(tenant, sees)
    const url = await this.#checkedUrl(input.url, sees)
    await this.#checkRoom(tenant, 'create')
    const secret = drawSecret()
    const webhook: Webhook = {
      id: randomUUID(),
      url,
      types: input.types ?? [],
      actions: input.actions ?? [],
      tenant,
      secret,
      enabled: input.enabled ?? true,
      disabledBecause: null,
      description: input.description ?? '',
      createdBy: by,
    }
    // Its place in the journal stands before it does: a server that sees the webhook knows from where to deliver.
    const cursor = await this.#options.feed.tail()
    await progressCollection(this.#options.engine).insert({ id: webhook.id, cursor, owner: null, nudges: 0 })
    const stored = await this.#collection.insert(webhook)
    await this.#note(webhook, by, 'created')
    return { webhook: shown(stored), secret }
  }

  async get(id: string, sees: Sees = null): Promise<ShownWebhook> {
    return shown(await this.stored(id, sees))
  }

  async list(page: PageRequest, sees: Sees = null): Promise<Page<ShownWebhook>> {
    const read = (some: PageRequest): Promise<Page<Stored<Webhook>>> => this.#collection.list(some)
    const { items, next } = await visiblePage(page, read, ({ document }) => maySee(document, sees))
    return { items: items.map(shown), next }
  }

  async update(id: string, change: WebhookChange, by: string, sees: Sees = null): Promise<WebhookWithSecret> {
    const { document, version } = await this.stored(id, sees)
    const { url, types, actions, tenant, description, enabled, renewSecret } = change
    if (tenant !== undefined) this.#checkTenant(tenant, sees)
    if (tenant !== undefined && tenant !== document.tenant) await this.#checkRoom(tenant, 'move')
    const secret = renewSecret === true ? drawSecret() : null
    const changed: Webhook = {
      ...document,
      ...(url === undefined ? {} : { url: await this.#checkedUrl(url, sees) }),
      ...(types === undefined ? {} : { types }),
      ...(actions === undefined ? {} : { actions }),
      ...(tenant === undefined ? {} : { tenant }),
      ...(description === undefined ? {} : { description }),
      ...(enabled === undefined ? {} : { enabled, disabledBecause: null }),
      ...(secret === null ? {} : { secret }),
    }
    const stored = await this.#collection.update(changed, version)
    await this.#note(changed, by, 'changed')
    return { webhook: shown(stored), secret }
  }

  async remove(id: string, by: string, sees: Sees = null): Promise<void> {
    const { document } = await this.stored(id, sees)
    await this.#collection.remove(id)
    await progressCollection(this.#options.engine).remove(id)
    await this.#deliveries.removeAll(id)
    await this.#note(document, by, 'removed')
  }

  /** With its secret: for those who send. */
  async stored(id: string, sees: Sees = null): Promise<Stored<Webhook>> {
    const stored = await this.#collection.get(id)
    if (stored === null || !maySee(stored.document, sees)) throw new NotFoundError('webhook', id)
    return stored
  }

  /** All of them, for the service that delivers. */
  async all(): Promise<readonly Stored<Webhook>[]> {
    const { items } = await this.#collection.list({ limit: WEBHOOKS_MAX * 2 })
    return items
  }

  /** Its receiver has said that it is gone. */
  async disable(id: string, because: string): Promise<void> {
    const disabled = await stepDocument(this.#collection, id, (webhook) =>
      webhook.enabled ? { ...webhook, enabled: false, disabledBecause: because } : null,
    )
    if (disabled !== null) await this.#note(disabled, 'webhooks', `disabled: ${because}`)
  }

  #checkTenant(tenant: TenantId | null, sees: Sees): void {
    if (sees === null || (tenant !== null && sees.includes(tenant))) return
    throw new InvalidError(`Name the tenant whose events it is about; you may choose from: ${sees.join(', ')}.`)
  }

  async #checkRoom(tenant: TenantId | null, how: 'create' | 'move'): Promise<void> {
    const all = await this.all()
    if (how === 'create' && all.length >= WEBHOOKS_MAX) {
      throw new ConflictError('There are as many webhooks as there may be. Remove one first.')
    }
    const max = tenant === null ? WEBHOOKS_OF_ALL_MAX : WEBHOOKS_PER_TENANT_MAX
    if (all.filter(({ document }) => document.tenant === tenant).length < max) return
    const whose = tenant === null ? 'about all tenants' : `about the tenant '${tenant}'`
    throw new ConflictError(`There are ${max} webhooks ${whose}, the most there may be. Remove one first.`)
  }

  #checkedUrl(text: string, sees: Sees): Promise<string> {
    const { policy, clock = systemClock } = this.#options
    return checkedUrl(text, { policy, clock, isTold: sees === null })
  }

  #note({ id, url, tenant }: Webhook, actor: string, what: string): Promise<void> {
    return this.#options.engine.journal.append([
      {
        type: 'note',
        taskId: null,
        attempt: null,
        actor,
        reason: `The webhook to ${new URL(url).origin} was ${what}.`,
        data: { webhook: id, ...(tenant === null ? {} : { tenant }) },
      },
    ])
  }
}

const drawSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`

const maySee = ({ tenant }: Webhook, sees: Sees): boolean => sees === null || (tenant !== null && sees.includes(tenant))

function shown({ document, createdAt, updatedAt }: Stored<Webhook>): ShownWebhook {
  const { secret: _, ...rest } = document
  return { ...rest, actions: rest.actions ?? [], createdAt, updatedAt }
}
