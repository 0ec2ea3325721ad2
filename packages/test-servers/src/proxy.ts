// A TCP proxy in front of a Redis server that breaks connections in the ways a network does: cut, refused, half-open,
// slow, or gone at the worst moment, after a command took effect and before its reply arrived. It passes on whole
// messages only, so that it knows which reply answers which request.

import { createServer, type Server } from 'node:net'
import { freePort } from './ports.ts'
import { ProxiedConnection, type ProxyFaults, type SwallowedDirection } from './proxied-connection.ts'

export type { SwallowedDirection } from './proxied-connection.ts'

const portTries = 5

export interface TcpProxy {
  readonly port: number
  /** redis://127.0.0.1:<port> */
  readonly url: string
  /** How many are open now. */
  readonly connections: number
  /** How many replies dropNextReply has dropped so far. */
  readonly droppedReplies: number
  /** Ends all current connections at once, without a goodbye. */
  cut(): void
  /** While on, new connections are refused; those that are open stay. */
  refuse(on: boolean): Promise<void>
  /** Half-open: connections stay, but what is sent in that direction vanishes, the end of a connection included. */
  swallow(direction: SwallowedDirection | null): void
  /** How long every message takes, each way. */
  delay(ms: number): void
  /**
   * Passes the next request (that matches) on, and when its reply arrives ends the connection instead: the server has
   * done it, and the client can't know. Replies to earlier requests get through. Not for connections that subscribe
   * by RESP 2, where not every message is a reply.
   */
  dropNextReply(match?: (request: Buffer) => boolean): void
  /** Where new connections go from now on. */
  retarget(target: { readonly port: number }): void
  stop(): Promise<void>
}

export async function startProxy(target: { readonly port: number }): Promise<TcpProxy> {
  for (let tries = 1; ; tries += 1) {
    const proxy = new StartedProxy(await freePort(), target.port)
    try {
      await proxy.refuse(false)
      return proxy
    } catch (error) {
      if (tries === portTries) throw error
    }
  }
}

class StartedProxy implements TcpProxy {
  readonly port: number
  readonly url: string
  readonly #open = new Set<ProxiedConnection>()
  readonly #faults: ProxyFaults = { swallowed: null, delayMs: 0, dropMatch: undefined, droppedReplies: 0 }
  #targetPort: number
  #listener: Server | undefined

  constructor(port: number, targetPort: number) {
    this.port = port
    this.url = `redis://127.0.0.1:${port}`
    this.#targetPort = targetPort
  }

  get connections(): number {
    return this.#open.size
  }

  get droppedReplies(): number {
    return this.#faults.droppedReplies
  }

  cut(): void {
    for (const connection of this.#open) connection.destroy()
  }

  async refuse(on: boolean): Promise<void> {
    if (!on) return this.#listen()
    // It stops listening at once; that it ends only after its last connection is of no interest.
    this.#listener?.close()
    this.#listener = undefined
  }

  #listen(): Promise<void> {
    if (this.#listener !== undefined) return Promise.resolve()
    const listener = createServer((client) => {
      const connection = new ProxiedConnection(client, this.#targetPort, this.#faults)
      this.#open.add(connection)
      connection.whenClosed(() => this.#open.delete(connection))
    })
    this.#listener = listener
    return new Promise((resolve, reject) => {
      listener.on('error', (error) => {
        this.#listener = undefined
        reject(error)
      })
      listener.listen(this.port, '127.0.0.1', resolve)
    })
  }

  swallow(direction: SwallowedDirection | null): void {
    this.#faults.swallowed = direction
    for (const connection of this.#open) connection.reviewEnds()
  }

  delay(ms: number): void {
    this.#faults.delayMs = ms
  }

  dropNextReply(match: (request: Buffer) => boolean = () => true): void {
    this.#faults.dropMatch = match
  }

  retarget(target: { readonly port: number }): void {
    this.#targetPort = target.port
  }

  async stop(): Promise<void> {
    const listener = this.#listener
    this.#listener = undefined
    this.cut()
    if (listener !== undefined) await new Promise<void>((resolve) => listener.close(() => resolve()))
  }
}
