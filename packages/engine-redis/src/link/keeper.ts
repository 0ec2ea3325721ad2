// Keeps one connection to one place: builds it, makes it ready, and builds another as soon as it is lost, with growing
// pauses of random length. A connection that never lasts does not shorten the pauses. Connected or not, it keeps its
// process alive until it is closed.

import type { Clock, Random, Timer } from '@reprise/core'
import { Connection, type ConnectionOptions } from './connection.ts'
import type { Endpoint } from './endpoint.ts'
import { faultOf, finalError, reasonOf } from './faults.ts'

export interface KeeperOptions extends ConnectionOptions {
  readonly random: Random
  readonly backoffMinMs: number
  readonly backoffMaxMs: number
  /** For a log: a connection was lost, or could not be built. */
  readonly report: (label: string, reason: string) => void
}

export interface Keeping {
  /** Where to connect to now; null if nobody knows. */
  readonly locate: () => Endpoint | null
  /** What a new connection needs before it is of use. */
  readonly prepare?: (connection: Connection) => Promise<void>
  readonly onReady: (connection: Connection) => void
  /** It was lost, or could not be built. */
  readonly onTrouble: (error: unknown) => void
}

export class Keeper {
  readonly #options: KeeperOptions
  readonly #keeping: Keeping
  readonly #clock: Clock
  #connection: Connection | null = null
  #denied: Error | null = null
  #reason = 'nobody has answered yet.'
  #tries = 0
  #readyAt = 0
  #timer: Timer | null = null
  #closed = false

  constructor(options: KeeperOptions, keeping: Keeping) {
    this.#options = options
    this.#keeping = keeping
    this.#clock = options.clock
    void this.#build()
  }

  /** The one that is ready; null while there is none. */
  get connection(): Connection | null {
    return this.#connection
  }

  /** Set while the server does not let us in: waiting would not help the caller. */
  get denied(): Error | null {
    return this.#denied
  }

  /** Why there is none, as a sentence. */
  get reason(): string {
    return this.#reason
  }

  /** This connection is no good any more: ends it and builds another, unless that happened already. */
  rebuild(connection: Connection, reason: Error): void {
    if (connection === this.#connection) connection.end(reason)
  }

  close(reason: Error): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#connection?.end(reason)
    this.#connection = null
  }

  async #build(): Promise<void> {
    const endpoint = this.#keeping.locate()
    let connection: Connection | null = null
    try {
      if (endpoint === null) throw new Error('nobody knows where it is now')
      connection = await Connection.open(endpoint, this.#options)
      await this.#keeping.prepare?.(connection)
      if (connection.ended !== null) throw connection.ended
    } catch (error) {
      connection?.end(error instanceof Error ? error : new Error(String(error)))
      this.#failed(error, endpoint?.label ?? 'an unknown address')
      return
    }
    if (this.#closed) {
      connection.end(new Error('the link was closed'))
      return
    }
    this.#connection = connection
    this.#denied = null
    this.#readyAt = this.#clock.monotonic()
    connection.whenLost((reason) => this.#lost(reason, connection.label))
    this.#keeping.onReady(connection)
  }

  #failed(error: unknown, label: string): void {
    if (this.#closed) return
    this.#reason = reasonOf(error)
    this.#denied = faultOf(error) === 'denied' ? finalError('denied', error, label) : null
    this.#trouble(error, label)
  }

  #lost(reason: Error, label: string): void {
    this.#connection = null
    if (this.#closed) return
    this.#reason = reasonOf(reason)
    if (this.#clock.monotonic() - this.#readyAt >= this.#options.backoffMaxMs) this.#tries = 0
    this.#trouble(reason, label)
  }

  #trouble(error: unknown, label: string): void {
    const { backoffMinMs, backoffMaxMs, random } = this.#options
    const boundMs = Math.min(backoffMinMs * 2 ** this.#tries++, backoffMaxMs)
    this.#timer = this.#clock.after(boundMs * random.next(), () => void this.#build(), { hold: true })
    try {
      this.#options.report(label, this.#reason)
    } catch {
      // A log that breaks must not end the process in the middle of an outage.
    }
    this.#keeping.onTrouble(error)
  }
}
