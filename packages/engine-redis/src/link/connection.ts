// One connection, from its first byte to its end. It is never mended: once it breaks, falls silent past the deadline or
// is given up, every command under way on it fails, and its owner builds another. One timer watches over all
// commands: a server answers in the order it was asked, so a few marks of how many were sent by when are enough.

import type { Clock } from '@reprise/core'
import type { Endpoint } from './endpoint.ts'
import { createClient, DisconnectsClientError } from './redis.ts'

export type Reply = null | number | string | readonly Reply[]

/** Functions that a server keeps under one name. The name changes with the text. */
export interface Library {
  readonly name: string
  readonly text: string
}

/** One function of a library. */
export interface Script {
  readonly name: string
  readonly library: Library
  readonly readOnly: boolean
}

/** A command on its way, with all it takes to repeat it. */
export interface Call {
  readonly key: string | null
  readonly args: readonly string[]
  readonly script: Script | null
  readonly issuedAt: number
}

export interface ConnectionOptions {
  readonly clock: Clock
  /** For connecting and signing in. */
  readonly connectTimeoutMs: number
  /** A connection that says nothing for so long, though it was asked, is half-open. */
  readonly commandTimeoutMs: number
  /** As long as the server answers others that came before, a command may take so long. */
  readonly patienceMs: number
  /** Only the third version of the protocol lets a connection listen and ask. */
  readonly protocol: 2 | 3
  /** Decides about a failed command: answers in its place, or throws. */
  readonly recover: (call: Call, connection: Connection, error: unknown) => Promise<Reply>
}

type Client = ReturnType<typeof clientFor>

/** How often in the time of a deadline it is looked at. */
const LOOKS = 8

export class Connection {
  readonly label: string
  readonly #client: Client
  readonly #clock: Clock
  readonly #options: ConnectionOptions
  readonly #loading = new Map<string, Promise<void>>()
  #onLost: ((reason: Error) => void) | null = null
  #ended: Error | null = null
  #sent = 0
  #answered = 0
  #isWatched = false
  #marks: { readonly sent: number; at: number }[] = []
  #answeredBefore = 0
  #progressAt = 0
  #looksAt = 0

  /** Resolves once the server answers commands; rejects if it does not in time, or refuses. */
  static async open(endpoint: Endpoint, options: ConnectionOptions): Promise<Connection> {
    const connection = new Connection(endpoint, options)
    const late = Promise.withResolvers<never>()
    const timer = options.clock.after(options.connectTimeoutMs, () =>
      late.reject(new Error(`it took more than ${options.connectTimeoutMs} ms to connect`)),
    )
    try {
      await Promise.race([connection.#connect(), late.promise])
      return connection
    } catch (thrown) {
      // That we ended it ourselves says nothing: the reason was heard before.
      const error = thrown instanceof DisconnectsClientError ? (connection.ended ?? thrown) : thrown
      connection.end(error instanceof Error ? error : new Error(String(error)))
      throw error
    } finally {
      timer.cancel()
    }
  }

  private constructor(endpoint: Endpoint, options: ConnectionOptions) {
    this.label = endpoint.label
    this.#clock = options.clock
    this.#options = options
    this.#client = clientFor(endpoint, options)
    this.#client.on('error', (error: unknown) => this.end(error instanceof Error ? error : new Error(String(error))))
    this.#client.on('end', () => this.end(new Error('the connection was closed')))
    this.#client.on('sharded-channel-moved', () => this.end(new Error('the channel has moved to another server')))
    this.#client.on('connect', () => {
      // Given up while it was still connecting: only now is there something to close.
      if (this.#ended !== null) this.#client.destroy()
    })
  }

  /** Why it ended; null while it is of use. */
  get ended(): Error | null {
    return this.#ended
  }

  /** Called once, when it is of no more use. */
  whenLost(callback: (reason: Error) => void): void {
    if (this.#ended === null) this.#onLost = callback
    else callback(this.#ended)
  }

  /** The hot path: one promise more than the client's own. What failed goes to `recover`. */
  send(call: Call): Promise<Reply> {
    this.#sent++
    if (!this.#isWatched) this.#watch()
    return this.#client
      .sendCommand<Reply>(call.args)
      .then(this.#onReply, (error: unknown) => this.#onError(call, error))
  }

  /** One try: what failed is the caller's to deal with. */
  ask(args: readonly string[]): Promise<Reply> {
    return this.#counted(this.#client.sendCommand<Reply>(args))
  }

  /** Makes the library known to this server; callers who ask for it together share one load. */
  load({ name, text }: Library): Promise<void> {
    const loading = this.#loading.get(name)
    if (loading !== undefined) return loading
    const loaded = this.ask(['FUNCTION', 'LOAD', 'REPLACE', text])
      .then((answer) => {
        if (answer !== name) throw new TypeError(`the library ${name} calls itself ${String(answer)}`)
      })
      .finally(() => this.#loading.delete(name))
    this.#loading.set(name, loaded)
    return loaded
  }

  /** Listens to a sharded channel until the connection ends. */
  listen(channel: string, onMessage: (message: string) => void): Promise<void> {
    return this.#counted(this.#client.sSubscribe(channel, onMessage))
  }

  /** Ends it at once: what is under way fails. */
  end(reason: Error): void {
    if (this.#ended !== null) return
    this.#ended = reason
    this.#marks = []
    this.#client.destroy()
    this.#onLost?.(reason)
  }

  async #connect(): Promise<void> {
    // The rejection of an attempt that was given up meanwhile has nobody else to hear it.
    const connected = this.#client.connect()
    connected.catch(() => undefined)
    await connected
    await this.ask(['PING'])
  }

  readonly #onReply = (reply: Reply): Reply => {
    this.#answered++
    return reply
  }

  #onError(call: Call, error: unknown): Promise<Reply> {
    this.#answered++
    return this.#options.recover(call, this, error)
  }

  #counted<T>(answer: Promise<T>): Promise<T> {
    this.#sent++
    if (!this.#isWatched) this.#watch()
    return answer.finally(() => {
      this.#answered++
    })
  }

  #watch(): void {
    this.#isWatched = true
    const everyMs = this.#options.commandTimeoutMs / LOOKS
    const now = this.#clock.monotonic()
    this.#progressAt = now
    this.#marks.push({ sent: this.#sent, at: now })
    this.#lookAfter(everyMs)
  }

  #lookAfter(everyMs: number): void {
    this.#looksAt = this.#clock.monotonic() + everyMs
    this.#clock.after(everyMs, () => this.#look(everyMs))
  }

  #look(everyMs: number): void {
    if (this.#ended !== null) return
    const now = this.#clock.monotonic()
    const lateMs = now - this.#looksAt
    if (lateMs > everyMs) {
      // This process stood still: answers may be there that it did not get to read.
      for (const mark of this.#marks) mark.at += lateMs
      this.#progressAt += lateMs
    }
    if (this.#answered !== this.#answeredBefore) {
      this.#answeredBefore = this.#answered
      this.#progressAt = now
    }
    while (this.#marks[0] !== undefined && this.#marks[0].sent <= this.#answered) this.#marks.shift()
    const oldest = this.#marks[0]
    const { commandTimeoutMs, patienceMs } = this.#options
    if (oldest !== undefined && now - oldest.at >= commandTimeoutMs) {
      const isSilent = now - this.#progressAt >= commandTimeoutMs / 2
      if (isSilent || now - oldest.at >= patienceMs) {
        this.end(new Error(`it did not answer within ${commandTimeoutMs} ms`))
        return
      }
    }
    if (this.#sent === this.#answered) {
      this.#isWatched = false
      return
    }
    this.#marks.push({ sent: this.#sent, at: now })
    this.#lookAfter(everyMs)
  }
}

let template: ReturnType<typeof createClient> | null = null

/** A new client like all others. To make one from nothing takes 40 ms of this thread, so all of them are copies. */
function clientFor(endpoint: Endpoint, options: ConnectionOptions) {
  template ??= createClient({ maintNotifications: 'disabled' })
  const { socket } = endpoint
  const reach = 'host' in socket && socket.tls ? { ...socket, tls: true as const } : { ...socket, tls: false as const }
  return template.duplicate({
    socket: { ...reach, connectTimeout: options.connectTimeoutMs, reconnectStrategy: false },
    ...(endpoint.username === undefined ? {} : { username: endpoint.username }),
    ...(endpoint.password === undefined ? {} : { password: endpoint.password }),
    database: endpoint.database,
    RESP: options.protocol,
    // The client's own deadline takes a timer per command, which costs more than the command itself.
    commandOptions: { timeout: 0 },
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
  })
}
