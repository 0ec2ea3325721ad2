// The signals of requests that are not answered yet: each fires when its caller has gone or when the server stops. All of them
// share one listener on the server's own signal: one for each would cost as much as the rest of a short request.

import type { ServerResponse } from 'node:http'

export class OpenCalls {
  readonly #open = new Set<AbortController>()
  readonly #stopping: AbortSignal

  constructor(stopping: AbortSignal) {
    this.#stopping = stopping
    stopping.addEventListener('abort', () => {
      for (const call of this.#open) call.abort(stopping.reason)
      this.#open.clear()
    })
  }

  signalOf(response: ServerResponse): AbortSignal {
    const call = new AbortController()
    if (response.destroyed) call.abort()
    else if (this.#stopping.aborted) call.abort(this.#stopping.reason)
    else this.#follow(response, call)
    return call.signal
  }

  #follow(response: ServerResponse, call: AbortController): void {
    this.#open.add(call)
    response.once('close', () => {
      this.#open.delete(call)
      if (!response.writableFinished) call.abort()
    })
  }
}
