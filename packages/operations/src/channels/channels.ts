// Channels in the store: this keeps them and checks their settings; telling them is the business of channel-delivery.

import {
  CHANNELS_MAX,
  type Channel,
  type ChannelKind,
  type ChannelRoute,
  type Clock,
  ConflictError,
  channelsIn,
  checkedName,
  checkQuietHours,
  type Engine,
  InvalidError,
  NotFoundError,
  PAGE_LIMIT_MAX,
  type Stored,
  stepDocument,
  systemClock,
  ticketsIn,
} from '@reprise/core'
import type { AddressPolicy } from '@reprise/launchers'
import { z } from 'zod'
import { checkedUrl } from '../events/checked-url.ts'
import type { EventFeed } from '../events/feed.ts'
import { WebhookDeliveries } from '../events/webhook-deliveries.ts'
import { progressCollection } from '../events/webhook-lease.ts'
import { addressOf, destinationOf, SETTINGS, secretsOf } from './settings.ts'

export type ChannelChange = { readonly [Key in keyof Omit<ChannelRoute, 'kind'>]?: ChannelRoute[Key] | undefined } & {
  readonly settings?: Readonly<Record<string, unknown>> | undefined
}

export interface ChannelsOptions {
  readonly engine: Pick<Engine, 'collection' | 'journal'>
  readonly feed: EventFeed
  /** Where messages may go. */
  readonly policy: AddressPolicy
  readonly clock?: Clock
}

const MINUTE = 60_000

export class Channels {
  readonly #options: ChannelsOptions

  constructor(options: ChannelsOptions) {
    this.#options = options
  }

  async create(name: string, kind: ChannelKind, change: ChannelChange, by: string): Promise<Channel> {
    const all = await this.all()
    if (all.length >= CHANNELS_MAX)
      throw new ConflictError(`There are ${CHANNELS_MAX} channels, the most there may be.`)
    const channel: Channel = {
      id: `ch-${checkedName('name of a channel', name)}`,
      name,
      kind,
      enabled: change.enabled ?? true,
      rules: change.rules ?? [],
      minSeverity: change.minSeverity ?? 'normal',
      afterMs: change.afterMs ?? 0,
      remindMs: change.remindMs ?? null,
      quiet: change.quiet ?? null,
      settings: await this.#checked(kind, change.settings ?? {}),
      disabledBecause: null,
      createdBy: by,
    }
    checkRoute(channel)
    if (all.some(({ document }) => document.id === channel.id)) {
      throw new ConflictError(`There is a channel '${name}' already. Change or remove that one.`)
    }
    // Its place in the journal stands before it does: a server that sees the channel knows from where to deliver.
    const cursor = await this.#options.feed.tail()
    const progress = progressCollection(this.#options.engine)
    await progress.remove(channel.id)
    await progress.insert({ id: channel.id, cursor, owner: null, nudges: 0 })
    await channelsIn(this.#options.engine).insert(channel)
    await this.#note(channel, by, 'made')
    return channel
  }

  async update(id: string, change: ChannelChange, by: string): Promise<Channel> {
    const { document, version } = await this.stored(id)
    const { settings, ...route } = change
    const given = Object.fromEntries(Object.entries(route).filter(([, value]) => value !== undefined))
    const changed: Channel = {
      ...document,
      ...given,
      ...(change.enabled === undefined ? {} : { disabledBecause: null }),
      ...(settings === undefined
        ? {}
        : { settings: await this.#checked(document.kind, { ...document.settings, ...settings }) }),
    }
    checkRoute(changed)
    refuseSecretsElsewhere(document, changed, settings ?? {})
    await channelsIn(this.#options.engine).update(changed, version)
    await this.#note(changed, by, 'changed')
    return changed
  }

  async remove(id: string, by: string): Promise<void> {
    const { document } = await this.stored(id)
    const { engine } = this.#options
    await channelsIn(engine).remove(id)
    await progressCollection(engine).remove(id)
    await new WebhookDeliveries(engine, { of: async () => null }).removeAll(id)
    await removeTickets(engine, id)
    await this.#note(document, by, 'removed')
  }

  /** By its id or its name, with its secrets: for those who send. */
  async stored(asked: string): Promise<Stored<Channel>> {
    const channels = channelsIn(this.#options.engine)
    const found = (await channels.get(asked)) ?? (await channels.get(`ch-${asked}`))
    if (found === null) throw new NotFoundError('channel', asked)
    return found
  }

  async all(): Promise<readonly Stored<Channel>[]> {
    return (await channelsIn(this.#options.engine).list({ limit: CHANNELS_MAX * 2 })).items
  }

  /** Its receiver has said that it is gone. */
  async disable(id: string, because: string): Promise<void> {
    const disabled = await stepDocument(channelsIn(this.#options.engine), id, (channel) =>
      channel.enabled ? { ...channel, enabled: false, disabledBecause: because } : null,
    )
    if (disabled !== null) await this.#note(disabled, 'webhooks', `disabled: ${because}`)
  }

  async #checked(kind: ChannelKind, settings: object): Promise<Channel['settings']> {
    const parsed = SETTINGS[kind].safeParse(settings)
    if (!parsed.success)
      throw new InvalidError(`The settings of this channel are not right: ${z.prettifyError(parsed.error)}`)
    const { policy, clock = systemClock } = this.#options
    const address = addressOf({ kind, settings: parsed.data })
    if (address !== null) await checkedUrl(address, { policy, clock, isTold: true })
    return parsed.data
  }

  #note(channel: Channel, actor: string, what: string): Promise<void> {
    const reason = `The channel ${channel.name} (${channel.kind}, ${destinationOf(channel)}) was ${what}.`
    const data = { channel: channel.id }
    return this.#options.engine.journal.append([
      { type: 'alert.changed', taskId: null, attempt: null, actor, reason, data },
    ])
  }
}

/** What an outside system has for work orders is its own business from now on. */
async function removeTickets(engine: ChannelsOptions['engine'], channel: string): Promise<void> {
  const tickets = ticketsIn(engine)
  for (;;) {
    const { items } = await tickets.find({ index: 'channel', value: channel, limit: PAGE_LIMIT_MAX })
    if (items.length === 0) return
    for (const { document } of items) await tickets.remove(document.id)
  }
}

/** Secrets are shown to nobody: who could have them sent to a server of their own would see them all the same. */
function refuseSecretsElsewhere(before: Channel, after: Channel, given: Readonly<Record<string, unknown>>): void {
  if (destinationOf(before) === destinationOf(after)) return
  const kept = secretsOf(after).filter((name) => !Object.hasOwn(given, name))
  if (kept.length === 0) return
  throw new InvalidError(`It is to send to ${destinationOf(after)} now: give ${kept.join(', ')} again.`)
}

function checkRoute({ quiet, remindMs }: ChannelRoute): void {
  if (quiet !== null) checkQuietHours(quiet)
  if (remindMs !== null && remindMs < MINUTE) throw new InvalidError('A channel is reminded once a minute at the most.')
}
