// The first words with a server or a store, while somebody sits and waits: it is said if that takes long, and one of this machine
// to which no connection can be made is given up soon. It is not there, and hardly about to be. Once it has answered, it may be
// away for a while: how long that is borne is the client's business.

import { connect } from 'node:net'
import { type Clock, RequestError, sleep } from '@reprise/core'
import { isThisMachine } from './loopback.ts'

export interface Waiting {
  readonly clock: Clock
  /** Told once if it takes long to get through. */
  readonly say: (text: string) => void
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** For so long nobody wonders whether anything happens. */
const SILENCE_MS = 1_000
/** Long enough for one that is just being started. */
const REFUSED_MS = 1_500
const REFUSED_PAUSE_MS = 250
const REDIS_PORT = 6_379

export function sayAtTerminal(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${text}\n`)
}

export function patientFetch(address: URL, { clock, say }: Waiting): Fetch {
  const isHere = isThisMachine(address.hostname)
  const timer = clock.after(SILENCE_MS, () => say(`Still trying to reach ${address.origin} …`))
  let hasAnswered = false
  return async (url, init) => {
    if (hasAnswered) return unlessStoreAway(await fetch(url, init))
    const send = (): Promise<Response> =>
      fetch(url, init).catch((error: unknown) => {
        throw isForbidden(error) ? noPort(address) : error
      })
    const response = await (isHere ? unlessRefused(clock, send, () => nobodyThere(address), init.signal) : send())
    hasAnswered = true
    timer.cancel()
    return unlessStoreAway(response)
  }
}

/** The server has waited for its store already. Asking again keeps somebody waiting who could look at the store. */
async function unlessStoreAway(response: Response): Promise<Response> {
  if (response.status !== 503) return response
  const text = await response.text()
  const { status, headers } = response
  const problem = parsed(text)
  if (Reflect.get(problem, 'code') === 'REPRISE_STORE_BUSY') {
    throw new RequestError('REPRISE_STORE_BUSY', String(Reflect.get(problem, 'detail')))
  }
  return new Response(text, { status, headers })
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** Opens a store; a Redis of this machine only once it lets anybody in. */
export async function storeAnswers<T>(address: string, { clock, say }: Waiting, open: () => Promise<T>): Promise<T> {
  const timer = clock.after(SILENCE_MS, () => say('Still trying to reach the store …'))
  try {
    const redis = redisHere(address)
    if (redis !== null)
      await unlessRefused(
        clock,
        () => knock(redis),
        () => noStore(redis),
      )
    return await open()
  } finally {
    timer.cancel()
  }
}

/** Tries again while connections are refused, for a short time. Nothing was sent then, so nothing is done twice. */
async function unlessRefused<T>(
  clock: Clock,
  send: () => Promise<T>,
  otherwise: () => Error,
  signal?: AbortSignal | null,
): Promise<T> {
  const until = clock.monotonic() + REFUSED_MS
  for (;;) {
    try {
      return await send()
    } catch (error) {
      if (!isRefused(error)) throw error
      if (clock.monotonic() + REFUSED_PAUSE_MS > until) throw otherwise()
      await sleep(clock, REFUSED_PAUSE_MS, signal ?? undefined, { hold: true })
      signal?.throwIfAborted()
    }
  }
}

/** Fetch hides it in the cause. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return Reflect.get(error, 'code') === 'ECONNREFUSED' || isRefused(error.cause)
}

/** Some ports are closed to fetch: those of mail, of printers. */
const isForbidden = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && error.cause.message === 'bad port'

interface Place {
  readonly host: string
  readonly port: number
}

function redisHere(address: string): Place | null {
  if (!/^rediss?:\/\//.test(address) || !URL.canParse(address)) return null
  const { hostname, port } = new URL(address)
  if (!isThisMachine(hostname)) return null
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? REDIS_PORT : Number(port) }
}

/** Whether a connection can be made. Any other trouble shows when the real one is made. */
function knock(place: Place): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(place)
    const end = (): void => {
      socket.destroy()
      resolve()
    }
    socket.once('connect', end)
    socket.once('error', (error) => (isRefused(error) ? reject(error) : end()))
  })
}

const nobodyThere = ({ origin }: URL): RequestError =>
  new RequestError(
    'REPRISE_UNREACHABLE',
    `The server at ${origin} can not be reached (ECONNREFUSED). Does it run, and is the address right?`,
  )

const noPort = ({ origin, port }: URL): RequestError =>
  new RequestError(
    'REPRISE_UNREACHABLE',
    `The server at ${origin} can not be reached: port ${port} is kept for something else than HTTP, and never asked. Is the address right?`,
  )

const noStore = ({ host, port }: Place): RequestError =>
  new RequestError(
    'REPRISE_STORE_UNREACHABLE',
    `Redis at ${host}:${port} can not be reached (ECONNREFUSED). Does it run, and is the address right?`,
  )
