// One connection through the proxy: a client's socket and the server's, and what happens between them while the
// proxy's faults are in force.

import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isPush, MessageSplitter } from './resp.ts'

export type SwallowedDirection = 'requests' | 'replies' | 'both'

/** Shared by all connections of a proxy, and changed while they are open. */
export interface ProxyFaults {
  swallowed: SwallowedDirection | null
  delayMs: number
  /** Which request's reply is dropped next. */
  dropMatch: ((request: Buffer) => boolean) | undefined
  droppedReplies: number
}

type Direction = 'requests' | 'replies'

export class ProxiedConnection {
  readonly #client: Socket
  readonly #server: Socket
  readonly #faults: ProxyFaults
  readonly #toServer = new DelayLine()
  readonly #toClient = new DelayLine()
  /** Requests passed on and replies received: the n-th reply answers the n-th request. */
  #requests = 0
  #replies = 0
  /** The reply, by its number, in whose place the connection ends. */
  #dropped = 0

  constructor(client: Socket, targetPort: number, faults: ProxyFaults) {
    this.#client = client
    this.#server = connect({ port: targetPort, host: '127.0.0.1' })
    this.#faults = faults
    for (const socket of [this.#client, this.#server]) {
      socket.setNoDelay(true)
      socket.on('error', () => undefined) // 'close' follows
      socket.on('close', () => this.reviewEnds())
    }
    const requests = new MessageSplitter()
    this.#client.on('data', (chunk: Buffer) => this.#passRequests(requests.push(chunk)))
    const replies = new MessageSplitter()
    this.#server.on('data', (chunk: Buffer) => this.#passReplies(replies.push(chunk)))
  }

  whenClosed(closed: () => void): void {
    for (const socket of [this.#client, this.#server]) {
      socket.on('close', () => {
        if (this.#client.destroyed && this.#server.destroyed) closed()
      })
    }
  }

  /** Without a goodbye: both sides see a reset. */
  destroy(): void {
    this.#client.resetAndDestroy()
    this.#server.resetAndDestroy()
  }

  /** The end of one side travels to the other like everything else, unless it is swallowed. */
  reviewEnds(): void {
    const { delayMs } = this.#faults
    if (this.#client.destroyed && !this.#isSwallowed('requests')) {
      this.#toServer.run(delayMs, () => this.#server.destroySoon())
    }
    if (this.#server.destroyed && !this.#isSwallowed('replies')) {
      this.#toClient.run(delayMs, () => this.#client.destroySoon())
    }
  }

  #isSwallowed(direction: Direction): boolean {
    return this.#faults.swallowed === direction || this.#faults.swallowed === 'both'
  }

  #passRequests(messages: readonly Buffer[]): void {
    if (this.#isSwallowed('requests')) return
    for (const request of messages) {
      this.#requests += 1
      if (this.#faults.dropMatch?.(request) !== true) continue
      this.#faults.dropMatch = undefined
      this.#dropped = this.#requests
    }
    this.#pass(messages, this.#client, this.#server, this.#toServer)
  }

  #passReplies(messages: readonly Buffer[]): void {
    const dropped = messages.findIndex((reply) => {
      if (isPush(reply)) return false
      this.#replies += 1
      return this.#replies === this.#dropped
    })
    const kept = dropped < 0 ? messages : messages.slice(0, dropped)
    if (!this.#isSwallowed('replies')) this.#pass(kept, this.#server, this.#client, this.#toClient)
    if (dropped < 0) return
    this.#faults.droppedReplies += 1
    this.#server.destroy()
    this.#toClient.run(this.#faults.delayMs, () => this.#client.destroySoon())
  }

  #pass(messages: readonly Buffer[], from: Socket, to: Socket, line: DelayLine): void {
    if (messages.length === 0) return
    const bytes = Buffer.concat(messages)
    line.run(this.#faults.delayMs, () => {
      if (to.destroyed || to.write(bytes) || from.isPaused()) return
      from.pause()
      to.once('drain', () => from.resume())
    })
  }
}

/** Does things so much later, in the order in which it was told to. */
class DelayLine {
  #last = Promise.resolve()
  #waiting = 0

  run(delayMs: number, action: () => void): void {
    if (delayMs <= 0 && this.#waiting === 0) {
      action()
      return
    }
    this.#waiting += 1
    const due = sleep(delayMs)
    this.#last = this.#last
      .then(() => due)
      .then(() => {
        this.#waiting -= 1
        action()
      })
  }
}
