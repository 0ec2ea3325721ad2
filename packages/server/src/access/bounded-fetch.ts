// Fetches something small from an issuer: with a deadline for all of it, a bound on its size, and without following
// redirects. An issuer that hangs or sends for ever must not hold up a request, nor fill the memory.

import type { Clock } from '@reprise/core'

export interface FetchBounds {
  readonly deadlineMs: number
  readonly maxBytes: number
}

const ISSUER_BOUNDS: FetchBounds = { deadlineMs: 5_000, maxBytes: 262_144 }

export type BoundedFetch = (url: string, init?: RequestInit) => Promise<Response>

export function boundedFetch(clock: Clock, { deadlineMs, maxBytes }: FetchBounds = ISSUER_BOUNDS): BoundedFetch {
  return async (url, init = {}) => {
    const abort = new AbortController()
    const timer = clock.after(deadlineMs, () => abort.abort(new Error(`no full answer within ${deadlineMs} ms`)))
    try {
      const signal = init.signal == null ? abort.signal : AbortSignal.any([init.signal, abort.signal])
      const response = await fetch(url, { ...init, redirect: 'manual', signal })
      const body = await bytesOf(response, maxBytes)
      return new Response(mayHaveBody(response.status) ? body : null, response)
    } finally {
      timer.cancel()
    }
  }
}

/** The JSON of an answer with status 200; throws for anything else. */
export async function jsonFrom(fetchBounded: BoundedFetch, url: string): Promise<unknown> {
  const response = await fetchBounded(url, { headers: { accept: 'application/json' } })
  if (response.status !== 200) throw new Error(`it answered with status ${response.status}`)
  return response.json()
}

async function bytesOf(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  // Leaving the loop early cancels the rest of the answer.
  const body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = response.body ?? []
  for await (const chunk of body) {
    length += chunk.byteLength
    if (length > maxBytes) throw new Error(`the answer has more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

const mayHaveBody = (status: number): boolean => status >= 200 && ![204, 205, 304].includes(status)
