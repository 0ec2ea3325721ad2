// Sends commands, and repeats those whose connection was lost or whose server had to be waited for, until their patience
// ends. Every command may be repeated: all of them only look, say the same again, or carry a request id. What goes well
// at once is never seen here again; only the rest is kept in a list, which is bounded.

import { type Clock, type Random, StoreBusyError, StoreClosedError, type Timer } from '@reprise/core'
import type { Call, Connection, Reply, Script } from './connection.ts'
import { faultOf, finalError, outOfPatience, reasonOf } from './faults.ts'
import type { Routes } from './routes.ts'

export interface SenderOptions {
  readonly clock: Clock
  readonly random: Random
  readonly patienceMs: number
  readonly maxWaiting: number
  readonly backoffMinMs: number
  /** The longest pause before a server that refused for now is asked again. */
  readonly backoffMaxMs: number
}

/** A command that did not go well, until it does or is given up. */
interface Repeat {
  readonly call: Call
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
  isUnderWay: boolean
  /** Not before this; infinite while something else has to happen first. */
  notBefore: number
  tries: number
  reason: string | null
  mayHaveHappened: boolean
}

/** Those who wait are looked at no more often than this. */
const LOOK_MS_MIN = 5

export class Sender {
  readonly #routes: Routes
  readonly #clock: Clock
  readonly #options: SenderOptions
  readonly #repeats = new Set<Repeat>()
  #timer: Timer | null = null
  #looksAt = Number.POSITIVE_INFINITY
  #closed = false

  constructor(routes: Routes, options: SenderOptions) {
    this.#routes = routes
    this.#clock = options.clock
    this.#options = options
  }

  send(key: string | null, args: readonly string[], script: Script | null): Promise<Reply> {
    if (this.#closed) return Promise.reject(new StoreClosedError())
    const call: Call = { key, args, script, issuedAt: this.#clock.monotonic() }
    const connection = this.#routes.connection(key)
    if (connection !== null) return connection.send(call)
    return this.#wait(call)
  }

  /** What a connection does with a command that failed on it. */
  readonly recover = (call: Call, connection: Connection, error: unknown): Promise<Reply> => {
    return new Promise<Reply>((resolve, reject) => {
      this.#failed(this.#add(call, resolve, reject), connection, error)
    })
  }

  /** A connection is ready, or something else has changed: sends whatever can go now, gives up what can't wait any longer. */
  readonly look = (): void => {
    const now = this.#clock.monotonic()
    let next = Number.POSITIVE_INFINITY
    for (const repeat of this.#repeats) {
      this.#lookAt(repeat, now)
      if (!this.#repeats.has(repeat)) continue
      next = Math.min(next, this.#patienceEndsAt(repeat))
      if (!repeat.isUnderWay && repeat.notBefore > now) next = Math.min(next, repeat.notBefore)
    }
    this.#lookAgain(next)
  }

  /** Refuses everything from now on, and what waits too. Resolves when all that is under way has been answered. */
  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    for (const repeat of this.#repeats) if (!repeat.isUnderWay) this.#giveUp(repeat, new StoreClosedError())
    // A server answers in the order it was asked.
    await Promise.allSettled(this.#routes.connections().map((connection) => connection.ask(['PING'])))
  }

  /** Gives up what is still under way. */
  abandon(): void {
    for (const repeat of this.#repeats) this.#giveUp(repeat, new StoreClosedError())
  }

  #wait(call: Call): Promise<Reply> {
    const denied = this.#routes.denied(call.key)
    if (denied !== null) return Promise.reject(denied)
    if (this.#repeats.size >= this.#options.maxWaiting)
      return Promise.reject(
        new StoreBusyError(
          `${this.#repeats.size} commands wait for Redis at ${this.#routes.label(call.key)} already: ${this.#routes.reason(call.key)} Nothing was changed; try again later.`,
        ),
      )
    return new Promise<Reply>((resolve, reject) => {
      this.#lookBy(this.#patienceEndsAt(this.#add(call, resolve, reject)))
    })
  }

  #add(call: Call, resolve: (reply: Reply) => void, reject: (error: Error) => void): Repeat {
    const repeat: Repeat = {
      call,
      resolve,
      reject,
      isUnderWay: false,
      notBefore: 0,
      tries: 0,
      reason: null,
      mayHaveHappened: false,
    }
    this.#repeats.add(repeat)
    return repeat
  }

  #lookAt(repeat: Repeat, now: number): void {
    const { call } = repeat
    if (now >= this.#patienceEndsAt(repeat)) {
      const reason = repeat.reason ?? this.#routes.reason(call.key)
      const label = this.#routes.label(call.key)
      this.#giveUp(repeat, outOfPatience(label, now - call.issuedAt, reason, repeat.mayHaveHappened))
      return
    }
    if (repeat.isUnderWay || repeat.notBefore > now) return
    const connection = this.#routes.connection(call.key)
    if (connection !== null) {
      this.#repeat(repeat, connection)
      return
    }
    const denied = this.#routes.denied(call.key)
    if (denied !== null) this.#giveUp(repeat, denied)
  }

  #repeat(repeat: Repeat, connection: Connection): void {
    repeat.isUnderWay = true
    connection.ask(repeat.call.args).then(
      (reply) => {
        this.#repeats.delete(repeat)
        repeat.resolve(reply)
      },
      (error: unknown) => {
        repeat.isUnderWay = false
        if (this.#repeats.has(repeat)) this.#failed(repeat, connection, error)
      },
    )
  }

  #failed(repeat: Repeat, connection: Connection, error: unknown): void {
    if (this.#closed) {
      this.#giveUp(repeat, new StoreClosedError())
      return
    }
    const fault = faultOf(error)
    switch (fault) {
      case 'lost':
        repeat.mayHaveHappened = true
        repeat.reason = reasonOf(connection.ended ?? error)
        repeat.notBefore = 0
        this.#routes.rebuild(connection, new Error(repeat.reason))
        break
      case 'unready':
        repeat.reason = reasonOf(error)
        repeat.notBefore = 0
        this.#routes.rebuild(connection, new Error(reasonOf(error)))
        break
      case 'elsewhere':
        // The address may lead to another server by now.
        if (!isRedirection(error)) this.#routes.rebuild(connection, new Error(reasonOf(error)))
        this.#routes.refresh()
        this.#pause(repeat, error)
        break
      case 'later':
        this.#routes.refresh()
        this.#pause(repeat, error)
        break
      case 'unloaded':
        this.#load(repeat, connection, error)
        break
      default:
        this.#giveUp(repeat, finalError(fault, error, connection.label))
        return
    }
    this.#lookBy(Math.min(repeat.notBefore, this.#patienceEndsAt(repeat)))
  }

  #pause(repeat: Repeat, error: unknown): void {
    const { backoffMinMs, backoffMaxMs, random } = this.#options
    repeat.reason = reasonOf(error)
    repeat.notBefore =
      this.#clock.monotonic() + Math.min(backoffMinMs * 2 ** repeat.tries++, backoffMaxMs) * random.next()
  }

  #load(repeat: Repeat, connection: Connection, error: unknown): void {
    const { script } = repeat.call
    if (script === null) {
      this.#giveUp(repeat, finalError('failed', error, connection.label))
      return
    }
    repeat.reason = reasonOf(error)
    repeat.isUnderWay = true
    connection.load(script.library).then(
      () => {
        // The connection it was loaded on, at once: no other server need know it.
        if (this.#repeats.has(repeat)) this.#repeat(repeat, connection)
      },
      (reason: unknown) => {
        repeat.isUnderWay = false
        if (this.#repeats.has(repeat)) this.#failed(repeat, connection, reason)
      },
    )
  }

  #giveUp(repeat: Repeat, error: Error): void {
    this.#repeats.delete(repeat)
    repeat.reject(error)
  }

  #patienceEndsAt(repeat: Repeat): number {
    return repeat.call.issuedAt + this.#options.patienceMs
  }

  #lookBy(at: number): void {
    if (at < this.#looksAt && !this.#closed) this.#lookAgain(at)
  }

  #lookAgain(at: number): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#looksAt = at
    if (this.#closed || at === Number.POSITIVE_INFINITY) return
    // Somebody waits for an answer: the process stays for that.
    this.#timer = this.#clock.after(Math.max(at - this.#clock.monotonic(), LOOK_MS_MIN), this.look, { hold: true })
  }
}

function isRedirection(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('MOVED')
}
