// The server of this machine, followed from one start to the next: it has a new token each time, and perhaps another port. A
// command that outlives its server (`watch`) reads local.json anew for each request, and goes on with what stands there.

import { type Fetch, isRepriseError } from '@reprise/core'
import { type LocalServer, readLocalServer } from './local-server.ts'

export class FollowedServer {
  readonly #data: string
  readonly #first: LocalServer
  readonly #say: (text: string) => void
  #current: LocalServer
  #isAway = false

  constructor(data: string, first: LocalServer, say: (text: string) => void) {
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
      const { url: now } = await this.#look()
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
