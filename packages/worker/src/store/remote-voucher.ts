// How a thread vouches for a worker of a server while the event loop is blocked: by requests of its own. It is a text rather than
// a module, so that bundlers have nothing to follow. A server that is older than this refuses it, and the leases end as before.

import type { ServerOptions, Voucher } from '@reprise/core'

const PROGRAM = `
const PATIENCE_MS = 2000
const words = () => {
  const length = Atomics.load(new Int32Array(data.token, 0, 1), 0)
  return length === 0 ? null : Buffer.from(new Uint8Array(data.token, 4, length)).toString('latin1')
}
return {
  async vouch({ worker, ...body }) {
    const token = words()
    const answer = await fetch(data.address + '/api/v1/workers/' + encodeURIComponent(worker) + '/vouch', {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
      headers: {
        accept: 'application/json',
        ...data.headers,
        ...(token === null ? {} : { authorization: 'Bearer ' + token }),
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error('the server answered ' + answer.status)
    return JSON.parse(text)
  },
  close() {},
}`

/** Behind its length. */
const TOKEN_AT = Int32Array.BYTES_PER_ELEMENT
const TOKEN_LENGTH_MAX = 10_000

let vouchers = 0

export interface StandIn {
  /** Null where requests go out by a fetch that only the event loop has. */
  readonly voucher: Voucher | null
  /** To be used in place of the given ones: each token that is used is noted for the thread. */
  readonly options: ServerOptions
}

/** What a thread needs to ask this server by itself. */
export function standInFor(options: ServerOptions): StandIn {
  if (options.fetch !== undefined) return { voucher: null, options }
  const shared = new SharedArrayBuffer(TOKEN_AT + TOKEN_LENGTH_MAX)
  const { url, headers = {}, token } = options
  if (typeof token === 'string') noteToken(shared, token)
  const renewed = async (): Promise<string> => {
    const next = typeof token === 'function' ? await token() : ''
    noteToken(shared, next)
    return next
  }
  return {
    // Each has its own: two workers may have different tokens.
    voucher: {
      program: PROGRAM,
      data: { address: String(url).replace(/\/+$/, ''), headers, token: shared, of: vouchers++ },
    },
    options: typeof token === 'function' ? { ...options, token: renewed } : options,
  }
}

function noteToken(shared: SharedArrayBuffer, token: string): void {
  const length = new Int32Array(shared, 0, 1)
  const bytes = new TextEncoder().encode(token)
  // A token that is half written is none.
  Atomics.store(length, 0, 0)
  if (bytes.length > TOKEN_LENGTH_MAX) return
  new Uint8Array(shared, TOKEN_AT).set(bytes)
  Atomics.store(length, 0, bytes.length)
}
