// Where requests come in and answers go out: so many of both in a turn of the event loop. What is more waits for the next turn,
// each caller in its turn. So a flood of requests neither holds the loop nor keeps other callers waiting.

import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { type Clock, FairLine } from '@reprise/core'
import { Recent, type Taker } from '@reprise/operations'
import type { FastifyRequest } from 'fastify'

/** Some milliseconds of work. Counted rather than timed: on a busy machine time also passes while others have the processor. */
const PASSES_PER_TURN = 64
const KNOWN_MS = 600_000
const KNOWN_MAX = 10_000

export class Doorway {
  readonly #clock: Clock
  readonly #addressOf: (request: FastifyRequest) => string
  readonly #line = new FairLine<() => void>()
  #left = PASSES_PER_TURN
  /** Who was last found to ask through a connection. */
  readonly #bySocket = new WeakMap<Socket, string>()
  /** Who was found to have a credential, by its digest: callers who are known don't wait among strangers. */
  readonly #byCredential: Recent<string>

  constructor(clock: Clock, addressOf: (request: FastifyRequest) => string) {
    this.#clock = clock
    this.#addressOf = addressOf
    this.#byCredential = new Recent({ clock, keepMs: KNOWN_MS, maxEntries: KNOWN_MAX })
  }

  /** Calls back when the request may go on: mostly at once. */
  enter(request: FastifyRequest, go: () => void): void {
    if (this.#passes()) go()
    else this.#line.add(this.#waitsAs(request), go)
  }

  /** When the answer may go out; null if at once. */
  leave(request: FastifyRequest): Promise<void> | null {
    return this.#passes() ? null : new Promise((resolve) => this.#line.add(this.#waitsAs(request), resolve))
  }

  /** Remembers who asks, once that is found out. */
  know(request: FastifyRequest, caller: Taker): void {
    const name = nameOf(caller)
    if (this.#bySocket.get(request.socket) === name) return
    this.#bySocket.set(request.socket, name)
    const digest = credentialOf(request)
    if (digest !== null) this.#byCredential.set(digest, name)
  }

  #passes(): boolean {
    if (this.#left === PASSES_PER_TURN) this.#clock.soon(() => this.#turn())
    if (this.#left === 0) return false
    this.#left--
    return true
  }

  #turn(): void {
    this.#left = PASSES_PER_TURN
    while (this.#line.size > 0 && this.#passes()) this.#line.next()?.()
  }

  #waitsAs(request: FastifyRequest): string {
    const bySocket = this.#bySocket.get(request.socket)
    if (bySocket !== undefined) return bySocket
    const digest = credentialOf(request)
    const known = digest === null ? undefined : this.#byCredential.get(digest)
    return known ?? `address ${this.#addressOf(request)}`
  }
}

/** All callers of a tenant are one. Names hold no line feed. */
const nameOf = ({ actor, tenants }: Taker): string =>
  tenants === null ? `caller\n${actor}` : `tenants\n${tenants.join('\n')}`

function credentialOf({ headers }: FastifyRequest): string | null {
  const credential = headers.authorization ?? headers.cookie
  return credential === undefined ? null : createHash('sha256').update(credential).digest('base64')
}
