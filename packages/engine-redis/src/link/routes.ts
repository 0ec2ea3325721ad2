// Which connection a command goes to. With one server there is only one answer; a cluster looks at the slot of the key.

import type { Connection } from './connection.ts'
import type { Endpoint } from './endpoint.ts'
import { Keeper, type KeeperOptions } from './keeper.ts'

export interface Routes {
  /** Where a command about this key goes now; null if it has to wait. Null as the key: any server will do. */
  connection(key: string | null): Connection | null
  /** Set if waiting for this key's server is in vain. */
  denied(key: string | null): Error | null
  /** Who is waited for, and why. */
  label(key: string | null): string
  reason(key: string | null): string
  /** This connection leads nowhere any more. */
  rebuild(connection: Connection, reason: Error): void
  /** A key was not where it was thought to be. */
  refresh(): void
  /** Where the server of this channel is. */
  locate(channel: string): Endpoint | null
  /** All that are ready. */
  connections(): readonly Connection[]
  close(reason: Error): void
}

/** How a waiting call hears that something has changed: a connection is ready, or will never be. */
export type OnChange = () => void

export class ServerRoutes implements Routes {
  readonly #endpoint: Endpoint
  readonly #keeper: Keeper

  constructor(endpoint: Endpoint, options: KeeperOptions, onChange: OnChange) {
    this.#endpoint = endpoint
    this.#keeper = new Keeper(options, { locate: () => endpoint, onReady: onChange, onTrouble: onChange })
  }

  connection(): Connection | null {
    return this.#keeper.connection
  }

  denied(): Error | null {
    return this.#keeper.denied
  }

  label(): string {
    return this.#endpoint.label
  }

  reason(): string {
    return this.#keeper.reason
  }

  rebuild(connection: Connection, reason: Error): void {
    this.#keeper.rebuild(connection, reason)
  }

  refresh(): void {
    // There is only one place.
  }

  locate(): Endpoint {
    return this.#endpoint
  }

  connections(): readonly Connection[] {
    return this.#keeper.connection === null ? [] : [this.#keeper.connection]
  }

  close(reason: Error): void {
    this.#keeper.close(reason)
  }
}
