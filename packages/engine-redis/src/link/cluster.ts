// The servers of a cluster and who has which slot. The map is asked for again whenever a server turns out not to have what it
// was thought to have, or can't be reached: from any server that answers. Only masters are connected to.

import { type Clock, type Random, StoreFailedError, type Timer } from '@reprise/core'
import { Connection, type Reply } from './connection.ts'
import { type Endpoint, sibling } from './endpoint.ts'
import { faultOf, finalError, reasonOf } from './faults.ts'
import { Keeper, type KeeperOptions } from './keeper.ts'
import type { OnChange, Routes } from './routes.ts'
import { SLOTS, slotOf } from './slot.ts'

interface Server {
  readonly endpoint: Endpoint
  readonly keeper: Keeper
}

interface Range {
  readonly first: number
  readonly last: number
  readonly master: Endpoint
  readonly replicas: readonly Endpoint[]
}

/** However many ask for it, the map is not asked for more often than this. */
const REFRESH_MS_MIN = 25
const ASKED_AT_ONCE = 3

export class ClusterRoutes implements Routes {
  readonly #roots: readonly Endpoint[]
  readonly #options: KeeperOptions
  readonly #clock: Clock
  readonly #random: Random
  readonly #onChange: OnChange
  readonly #servers = new Map<string, Server>()
  #slots: (Server | undefined)[] = []
  /** Everybody who is said to be part of it, replicas too: for when nobody else answers. */
  readonly #known = new Map<string, Endpoint>()
  #denied: Error | null = null
  #reason = 'nobody has answered yet.'
  #isRefreshing = false
  #refreshedAt = Number.NEGATIVE_INFINITY
  #tries = 0
  #timer: Timer | null = null
  #closed = false

  constructor(roots: readonly Endpoint[], options: KeeperOptions, onChange: OnChange) {
    this.#roots = roots
    this.#options = options
    this.#clock = options.clock
    this.#random = options.random
    this.#onChange = onChange
    this.refresh()
  }

  connection(key: string | null): Connection | null {
    if (key !== null) return this.#slots[slotOf(key)]?.keeper.connection ?? null
    return this.connections()[0] ?? null
  }

  denied(key: string | null): Error | null {
    return this.#serverOf(key)?.keeper.denied ?? this.#denied
  }

  label(key: string | null): string {
    return this.#serverOf(key)?.endpoint.label ?? this.#roots.map(({ label }) => label).join(', ')
  }

  reason(key: string | null): string {
    return this.#serverOf(key)?.keeper.reason ?? this.#reason
  }

  rebuild(connection: Connection, reason: Error): void {
    for (const { keeper } of this.#servers.values()) keeper.rebuild(connection, reason)
  }

  locate(channel: string): Endpoint | null {
    return this.#serverOf(channel)?.endpoint ?? null
  }

  connections(): readonly Connection[] {
    return [...this.#servers.values()].flatMap(({ keeper }) => (keeper.connection === null ? [] : [keeper.connection]))
  }

  refresh(): void {
    const sinceMs = this.#clock.monotonic() - this.#refreshedAt
    this.#refreshAfter(Math.max(REFRESH_MS_MIN - sinceMs, 0))
  }

  close(reason: Error): void {
    this.#closed = true
    this.#timer?.cancel()
    for (const { keeper } of this.#servers.values()) keeper.close(reason)
  }

  #serverOf(key: string | null): Server | undefined {
    return key === null ? undefined : this.#slots[slotOf(key)]
  }

  #refreshAfter(delayMs: number): void {
    if (this.#isRefreshing || this.#timer !== null || this.#closed) return
    this.#timer = this.#clock.after(delayMs, () => {
      this.#timer = null
      void this.#refreshNow()
    })
  }

  async #refreshNow(): Promise<void> {
    this.#isRefreshing = true
    let map: readonly Range[] | null = null
    try {
      map = await this.#askForMap()
      this.#denied = null
      this.#tries = 0
    } catch (error) {
      this.#reason = reasonOf(error)
      const fault = faultOf(error)
      this.#denied = fault === 'denied' || fault === 'failed' ? finalError(fault, error, this.label(null)) : null
    }
    this.#isRefreshing = false
    this.#refreshedAt = this.#clock.monotonic()
    if (this.#closed) return
    if (map !== null) this.#apply(map)
    else {
      const { backoffMinMs, backoffMaxMs } = this.#options
      this.#refreshAfter(Math.min(backoffMinMs * 2 ** this.#tries++, backoffMaxMs) * this.#random.next())
    }
    this.#onChange()
  }

  /** From a few that are connected, the first to answer; else from any known server, one after the other. */
  async #askForMap(): Promise<readonly Range[]> {
    const connected = this.#shuffled(this.connections()).slice(0, ASKED_AT_ONCE)
    if (connected.length > 0) {
      const first = await Promise.any(connected.map((connection) => this.#mapFrom(connection))).catch(() => null)
      if (first !== null) return first
    }
    let failure: unknown = new Error('no server of the cluster is known')
    for (const endpoint of this.#shuffled([...this.#roots, ...this.#known.values()])) {
      if (this.#closed) break
      let connection: Connection | null = null
      try {
        connection = await Connection.open(endpoint, this.#options)
        return await this.#mapFrom(connection)
      } catch (error) {
        // What a server said matters more than that another could not be reached.
        if (faultOf(failure) === 'lost') failure = error
      } finally {
        connection?.end(new Error('it was only asked for the map of the cluster'))
      }
    }
    throw failure
  }

  async #mapFrom(connection: Connection): Promise<readonly Range[]> {
    const ranges = parseMap(await connection.ask(['CLUSTER', 'SLOTS']), (host, port) => {
      const asked = this.#endpointNamed(connection.label)
      // A server that does not know its own name is where we asked it.
      return host === '' && 'host' in asked.socket
        ? sibling(asked, asked.socket.host, port)
        : sibling(asked, host, port)
    })
    if (ranges.length === 0) throw new Error('no server of the cluster has any slots')
    return ranges
  }

  #endpointNamed(label: string): Endpoint {
    const all = [
      ...[...this.#servers.values()].map(({ endpoint }) => endpoint),
      ...this.#known.values(),
      ...this.#roots,
    ]
    const found = all.find((endpoint) => endpoint.label === label)
    if (found === undefined) throw new StoreFailedError(`Redis at ${label} is no part of the cluster any more.`)
    return found
  }

  #apply(map: readonly Range[]): void {
    const slots = Array.from<Server | undefined>({ length: SLOTS })
    const masters = new Set<string>()
    this.#known.clear()
    for (const { first, last, master, replicas } of map) {
      for (const endpoint of [master, ...replicas]) this.#known.set(endpoint.label, endpoint)
      masters.add(master.label)
      slots.fill(this.#server(master), first, last + 1)
    }
    this.#slots = slots
    for (const [label, { keeper }] of this.#servers) {
      if (masters.has(label)) continue
      this.#servers.delete(label)
      keeper.close(new Error('it has no slots any more'))
    }
  }

  #server(endpoint: Endpoint): Server {
    let server = this.#servers.get(endpoint.label)
    if (server === undefined) {
      const keeper = new Keeper(this.#options, {
        locate: () => endpoint,
        onReady: this.#onChange,
        onTrouble: () => {
          this.refresh()
          this.#onChange()
        },
      })
      server = { endpoint, keeper }
      this.#servers.set(endpoint.label, server)
    }
    return server
  }

  #shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, order: this.#random.next() }))
      .sort((a, b) => a.order - b.order)
      .map(({ item }) => item)
  }
}

/** CLUSTER SLOTS: [first, last, master, ...replicas] each, a server being [host, port, ...]. */
function parseMap(reply: Reply, endpointAt: (host: string, port: number) => Endpoint): Range[] {
  return list(reply).map((range) => {
    const [first, last, ...servers] = list(range)
    const [master, ...replicas] = servers.map((server) => {
      const [host, port] = list(server)
      return endpointAt(typeof host === 'string' && host !== '?' ? host : '', Number(port))
    })
    if (master === undefined) throw new StoreFailedError('The map of the cluster has a slot without a server.')
    return { first: Number(first), last: Number(last), master, replicas }
  })
}

function list(reply: Reply | undefined): readonly Reply[] {
  if (!Array.isArray(reply)) throw new StoreFailedError('The map of the cluster is not understood.')
  return reply as readonly Reply[]
}
