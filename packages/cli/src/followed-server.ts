// The server of this machine, followed from one start to the next: it has a new token each time, and perhaps another port. A
// command that outlives its server (`watch`) reads local.json anew for each request, and goes on with what stands there.

import { type Clock, type Fetch, isRepriseError, sleep } from '@reprise/core'
import { type LocalServer, readLocalServer } from './local-server.ts'

const REFUSED = 401
/** A server that starts ends the token of the one before it, and leaves word of its own a moment later. */
const WORD_LOOKS = 20
const WORD_PAUSE_MS = 100

interface Told {
  readonly say: (text: string) => void
  readonly clock: Clock
}

export class FollowedServer {
  readonly #clock: Clock
  readonly #data: string
  readonly #first: LocalServer
  readonly #say: (text: string) => void
  #current: LocalServer
  #isAway = false

  constructor(data: string, first: LocalServer, { say, clock }: Told) {
    this.#clock = clock
    this.#data = data
    this.#first = first
    this.#current = first
    this.#say = say
  }

  /** Of the server that runs now, or ran last. */
  readonly token = async (): Promise<string> => (await this.#look()).token

  /** Sends requests for the first server to the one that runs now. It says once that nobody is there. */
  through(send: Fetch): Fetch {
    return async (url, init) => {
      const server = await this.#look()
      const response = await this.#sent(send, url, init, server)
      if (response.status !== REFUSED) return response
      // Whatever it was, it was turned away at the door.
      const headers = new Headers(init.headers)
      const next = await this.#other(headers.get('authorization'), init.signal ?? undefined)
      if (next === null) return response
      await response.body?.cancel()
      headers.set('authorization', bearer(next))
      return this.#sent(send, url, { ...init, headers }, next)
    }
  }

  async #sent(send: Fetch, url: string, init: RequestInit, { url: now }: LocalServer): Promise<Response> {
    const address = url.startsWith(this.#first.url) ? `${now}${url.slice(this.#first.url.length)}` : url
    try {
      const response = await send(address, init)
      this.#isAway = false
      return response
    } catch (error) {
      // An error of ours is an answer: the server says that its store is away.
      if (!this.#isAway && init.signal?.aborted !== true && !isRepriseError(error)) {
        this.#isAway = true
        this.#say(`The server at ${now} does not answer.`)
      }
      throw error
    }
  }

  /** The server with another token than the one that was refused; null if none leaves word in time. */
  async #other(used: string | null, signal: AbortSignal | undefined): Promise<LocalServer | null> {
    for (let looks = 0; looks < WORD_LOOKS && signal?.aborted !== true; looks++) {
      if (looks > 0) await sleep(this.#clock, WORD_PAUSE_MS, signal, { hold: true })
      const found = await this.#look()
      if (bearer(found) !== used) return found
    }
    return null
  }

  /** Between two servers the file may be missing, or about the one before. */
  async #look(): Promise<LocalServer> {
    const found = await readLocalServer(this.#data).catch(() => null)
    if (found !== null && found.token !== this.#current.token) {
      this.#current = found
      this.#say(`The server was started again, at ${found.url}. Going on with its new token.`)
    }
    return this.#current
  }
}

const bearer = ({ token }: LocalServer): string => `Bearer ${token}`
