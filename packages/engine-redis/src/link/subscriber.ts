// Listens to sharded channels on a connection of its own: one for a server, one for each slot of a cluster. A connection
// that only listens does not notice that nobody is at the other end, so it asks now and then whether it is still subscribed.
// After every new connection the listeners are told that they may have missed something.

import { type Clock, StoreBusyError, StoreClosedError, type Timer } from '@reprise/core'
import type { Connection } from './connection.ts'
import { faultOf, finalError, outOfPatience } from './faults.ts'
import { Keeper, type KeeperOptions } from './keeper.ts'
import type { Routes } from './routes.ts'
import { slotOf } from './slot.ts'

export interface SubscriberOptions extends KeeperOptions {
  /** How often a quiet connection is asked whether it is alive. */
  readonly checkMs: number
  readonly isCluster: boolean
}

interface Channel {
  readonly name: string
  readonly onMessage: (message: string) => void
  readonly onGap: () => void
  readonly subscribed: PromiseWithResolvers<void>
  isSubscribed: boolean
}

export class Subscriber {
  readonly #routes: Routes
  readonly #options: SubscriberOptions
  readonly #listeners = new Map<number, Listener>()
  #closed = false

  constructor(routes: Routes, options: SubscriberOptions) {
    this.#routes = routes
    this.#options = options
  }

  /** Resolves once the server sends what is published from then on. */
  async subscribe(name: string, onMessage: (message: string) => void, onGap: () => void): Promise<void> {
    if (this.#closed) throw new StoreClosedError()
    const slot = this.#options.isCluster ? slotOf(name) : 0
    let listener = this.#listeners.get(slot)
    if (listener === undefined) {
      listener = new Listener(name, this.#routes, this.#options)
      this.#listeners.set(slot, listener)
    }
    await listener.add(name, onMessage, onGap)
  }

  close(): void {
    this.#closed = true
    for (const listener of this.#listeners.values()) listener.close()
  }
}

class Listener {
  readonly #routes: Routes
  readonly #options: SubscriberOptions
  readonly #clock: Clock
  readonly #keeper: Keeper
  readonly #channels = new Map<string, Channel>()
  #check: Timer | null = null
  #hadConnection = false

  constructor(anyChannel: string, routes: Routes, options: SubscriberOptions) {
    this.#routes = routes
    this.#options = options
    this.#clock = options.clock
    this.#keeper = new Keeper(options, {
      locate: () => routes.locate(anyChannel),
      prepare: (connection) => this.#subscribeAll(connection),
      onReady: (connection) => this.#ready(connection),
      onTrouble: (error) => this.#trouble(error),
    })
  }

  async add(name: string, onMessage: (message: string) => void, onGap: () => void): Promise<void> {
    if (this.#channels.has(name)) throw new StoreBusyError(`This link listens to the channel '${name}' already.`)
    const { denied } = this.#keeper
    if (denied !== null) throw denied
    const subscribed = Promise.withResolvers<void>()
    const channel: Channel = { name, onMessage, onGap, subscribed, isSubscribed: false }
    this.#channels.set(name, channel)
    const { connection } = this.#keeper
    if (connection !== null) this.#subscribe(connection, channel).catch((error: unknown) => this.#trouble(error))

    const { patienceMs } = this.#options
    const timer = this.#clock.after(
      patienceMs,
      () => this.#remove(channel, outOfPatience(this.#label(name), patienceMs, this.#keeper.reason, false)),
      { hold: true },
    )
    await subscribed.promise.finally(() => timer.cancel())
  }

  close(): void {
    this.#check?.cancel()
    this.#keeper.close(new Error('the link was closed'))
    for (const channel of this.#channels.values()) channel.subscribed.reject(new StoreClosedError())
    this.#channels.clear()
  }

  async #subscribeAll(connection: Connection): Promise<void> {
    await Promise.all([...this.#channels.values()].map((channel) => this.#subscribe(connection, channel)))
  }

  async #subscribe(connection: Connection, channel: Channel): Promise<void> {
    try {
      await connection.listen(channel.name, (message) => safely(() => channel.onMessage(message)))
    } catch (error) {
      if (faultOf(error) === 'denied') {
        // Only this channel: the others are none the worse for it.
        this.#remove(channel, finalError('denied', error, connection.label))
        return
      }
      connection.end(error instanceof Error ? error : new Error(String(error)))
      throw error
    }
    channel.isSubscribed = true
    channel.subscribed.resolve()
  }

  #ready(connection: Connection): void {
    this.#checkLater(connection)
    if (this.#hadConnection) for (const { onGap } of this.#channels.values()) safely(onGap)
    this.#hadConnection = true
  }

  #trouble(error: unknown): void {
    this.#check?.cancel()
    // In a cluster the slot may be somewhere else now.
    this.#routes.refresh()
    const { denied } = this.#keeper
    if (denied === null || faultOf(error) !== 'denied') return
    for (const channel of this.#channels.values()) if (!channel.isSubscribed) this.#remove(channel, denied)
  }

  #checkLater(connection: Connection): void {
    this.#check = this.#clock.after(this.#options.checkMs, () => {
      const names = [...this.#channels.values()].flatMap(({ name, isSubscribed }) => (isSubscribed ? [name] : []))
      // Ends the connection by itself if no answer comes in time.
      connection.ask(['PUBSUB', 'SHARDNUMSUB', ...names]).then(
        (counts) => {
          if (connection.ended !== null) return
          // A slot that moves away takes its subscriptions with it; the notice of that may get lost.
          if (Array.isArray(counts) && counts.includes(0)) connection.end(new Error('it forgot a subscription'))
          else this.#checkLater(connection)
        },
        (error: unknown) => connection.end(error instanceof Error ? error : new Error(String(error))),
      )
    })
  }

  #remove(channel: Channel, error: Error): void {
    this.#channels.delete(channel.name)
    channel.subscribed.reject(error)
  }

  #label(name: string): string {
    return this.#routes.locate(name)?.label ?? 'an unknown address'
  }
}

/** What a listener throws would break the reader of the connection. */
function safely(callback: () => void): void {
  try {
    callback()
  } catch {
    // It is the listener's own.
  }
}
