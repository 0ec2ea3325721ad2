// Where requests come in and answers go out: so many of both in a turn of the event loop. What is more waits for the next turn,
// each caller in its turn. So a flood of requests neither holds the loop nor keeps other callers waiting. A request takes several
// turns: while there are several callers, each has only a part of a turn, so that the turns of the others stay short.

import { hash } from 'node:crypto'
import type { Socket } from 'node:net'
import { type Clock, FairLine } from '@reprise/core'
import { Recent, type Taker } from '@reprise/operations'
import type { FastifyRequest } from 'fastify'

/** Some milliseconds of work. Counted rather than timed: on a busy machine time also passes while others have the processor. */
const PASSES_PER_TURN = 64
/** Of one caller, while there are others; and of all whom nobody knows at one address. */
const PASSES_OF_ONE = 16
const PASSES_OF_STRANGERS = 4
/** How long somebody counts as being there. */
const OTHERS_MS = 250
const STRANGERS = 'address '
const KNOWN_MS = 600_000
const KNOWN_MAX = 10_000

interface Waiting {
  readonly name: string
  readonly go: () => void
}

export class Doorway {
  readonly #clock: Clock
  readonly #addressOf: (request: FastifyRequest) => string
  readonly #line = new FairLine<Waiting>()
  #left = PASSES_PER_TURN
  /** What each caller has had of this turn. */
  readonly #had = new Map<string, number>()
  #isTurnWatched = false
  /** Who came last, and when it last was another one than before. */
  #last: string | null = null
  #othersAt = Number.NEGATIVE_INFINITY
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
    const name = this.#nameOf(request)
    if (name !== this.#last) {
      if (this.#last !== null) this.#othersAt = this.#clock.monotonic()
      this.#last = name
    }
    if (this.#passes(name)) go()
    else this.#line.add(name, { name, go })
  }

  /** When the answer may go out; null if at once. */
  leave(request: FastifyRequest): Promise<void> | null {
    const name = this.#nameOf(request)
    return this.#passes(name) ? null : new Promise((go) => this.#line.add(name, { name, go }))
  }

  /** Remembers who asks, once that is found out. */
  know(request: FastifyRequest, caller: Taker): void {
    const name = nameOf(caller)
    if (this.#bySocket.get(request.socket) === name) return
    this.#bySocket.set(request.socket, name)
    const digest = credentialOf(request)
    if (digest !== null) this.#byCredential.set(digest, name)
  }

  #passes(name: string): boolean {
    const isPassing = this.#mayPass(name)
    if (isPassing) this.#count(name)
    return isPassing
  }

  #mayPass(name: string): boolean {
    if (this.#left === 0) return false
    const had = this.#had.get(name) ?? 0
    return had < PASSES_OF_STRANGERS || had < this.#shareOf(name)
  }

  #shareOf(name: string): number {
    if (this.#clock.monotonic() - this.#othersAt > OTHERS_MS) return PASSES_PER_TURN
    return name.startsWith(STRANGERS) ? PASSES_OF_STRANGERS : PASSES_OF_ONE
  }

  #count(name: string): void {
    this.#left--
    this.#had.set(name, (this.#had.get(name) ?? 0) + 1)
    if (this.#isTurnWatched) return
    this.#isTurnWatched = true
    this.#clock.soon(() => this.#turn())
  }

  #turn(): void {
    this.#isTurnWatched = false
    this.#left = PASSES_PER_TURN
    this.#had.clear()
    while (this.#left > 0) {
      const next = this.#line.next((name) => this.#mayPass(name))
      if (next === undefined) return
      this.#count(next.name)
      next.go()
    }
  }

  #nameOf(request: FastifyRequest): string {
    const bySocket = this.#bySocket.get(request.socket)
    if (bySocket !== undefined) return bySocket
    const digest = credentialOf(request)
    const known = digest === null ? undefined : this.#byCredential.get(digest)
    return known ?? `${STRANGERS}${this.#addressOf(request)}`
  }
}

/** All callers of a tenant are one. Names hold no line feed. */
const nameOf = ({ actor, tenants }: Taker): string =>
  tenants === null ? `caller\n${actor}` : `tenants\n${tenants.join('\n')}`

function credentialOf({ headers }: FastifyRequest): string | null {
  const credential = headers.authorization ?? headers.cookie
  return credential === undefined ? null : hash('sha256', credential, 'base64')
}
