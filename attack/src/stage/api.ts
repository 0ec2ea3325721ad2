// Requests as an attacker sends them: any method, any header, any bytes, with an answer that is kept whole. A request that
// gets no answer within its time has the status 0: a server that hangs is something to be seen, not an error.

import { Agent, type IncomingHttpHeaders, request } from 'node:http'

export interface Answer<Body = unknown> {
  /** 0 if there was none. */
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The parsed text if that is JSON; an empty object otherwise. */
  readonly body: Body
}

export interface Sending {
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is. */
  readonly raw?: string | Buffer
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 120_000

export class Api {
  readonly origin: string
  readonly token: string | null
  readonly #agent: Agent

  constructor(origin: string, token: string | null, agent: Agent = new Agent({ keepAlive: true })) {
    this.origin = origin
    this.token = token
    this.#agent = agent
  }

  /** The same server, with another credential. */
  as(token: string | null): Api {
    return new Api(this.origin, token, this.#agent)
  }

  get<Body = unknown>(path: string, sending?: Sending): Promise<Answer<Body>> {
    return this.send('GET', path, sending)
  }

  post<Body = unknown>(path: string, body: unknown, sending?: Sending): Promise<Answer<Body>> {
    return this.send('POST', path, { ...sending, body })
  }

  send<Body = unknown>(
    method: string,
    path: string,
    { body, raw, headers, timeoutMs = TIMEOUT_MS }: Sending = {},
  ): Promise<Answer<Body>> {
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    return new Promise((resolve, reject) => {
      const unanswered = (): void => resolve({ status: 0, headers: {}, text: '', body: {} as Body })
      const { hostname, port } = new URL(this.origin)
      const outgoing = request({
        agent: this.#agent,
        hostname,
        port,
        method,
        path,
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
          ...(content === undefined ? {} : { 'content-type': 'application/json' }),
          ...(content === undefined ? {} : { 'content-length': String(Buffer.byteLength(content)) }),
          ...headers,
        },
      })
      outgoing.once('error', (error: NodeJS.ErrnoException) => {
        if (error.name === 'AbortError' || BROKEN.has(error.code ?? '')) unanswered()
        else reject(error)
      })
      outgoing.once('response', (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.once('error', unanswered)
        incoming.once('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          const { statusCode = 0 } = incoming
          resolve({ status: statusCode, headers: incoming.headers, text, body: parsed(text) as Body })
        })
      })
      outgoing.end(content)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** The server closed the connection, or was not there. */
const BROKEN: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ABORT_ERR',
  'HPE_INVALID_CONSTANT',
])

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return {}
  }
}
