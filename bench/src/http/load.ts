// A load of HTTP requests as wrk makes it: so many connections, each with one request under way at a time, over bare sockets so
// that the generator costs little next to the server. Only what we measure is understood: answers with a content length.

import { connect, type Socket } from 'node:net'

export interface LoadRequest {
  readonly port: number
  /** The bytes of one request, made anew for each. */
  readonly request: () => string
  readonly connections: number
  readonly seconds: number
}

export interface LoadResult {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers with another status than 2xx, and connections that broke. */
  readonly errors: number
  readonly answers: number
}

export async function load({ port, request, connections, seconds }: LoadRequest): Promise<LoadResult> {
  const latencies: number[] = []
  let errors = 0
  const startedAt = performance.now()
  const endAt = startedAt + seconds * 1_000
  await Promise.all(
    Array.from({ length: connections }, () =>
      drive(port, request, endAt, (ms, ok) => {
        latencies.push(ms)
        if (!ok) errors++
      }).catch(() => {
        errors++
      }),
    ),
  )
  const elapsedSeconds = (performance.now() - startedAt) / 1_000
  latencies.sort((one, other) => one - other)
  const at = (share: number): number =>
    latencies[Math.min(Math.floor(latencies.length * share), latencies.length - 1)] ?? 0
  return {
    perSecond: latencies.length / elapsedSeconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    errors,
    answers: latencies.length,
  }
}

const HEAD_END = Buffer.from('\r\n\r\n')
const NO_BYTES: Buffer = Buffer.alloc(0)

/** One connection, until the time is up. */
function drive(port: number, request: () => string, endAt: number, answered: (ms: number, ok: boolean) => void) {
  return new Promise<void>((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let rest: Buffer = NO_BYTES
    let sentAt = 0
    const next = (): void => {
      if (performance.now() >= endAt) {
        socket.end()
        return
      }
      sentAt = performance.now()
      socket.write(request())
    }
    socket.once('connect', next)
    socket.once('error', reject)
    socket.once('close', () => resolve())
    socket.on('data', (chunk: Buffer) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const size = answerSize(rest)
      if (size === null || rest.length < size) return
      const ok = rest[9] === 0x32
      rest = rest.length === size ? NO_BYTES : rest.subarray(size)
      answered(performance.now() - sentAt, ok)
      next()
    })
  })
}

/** Head and body together; null while the head is not complete. */
function answerSize(bytes: Buffer): number | null {
  const end = bytes.indexOf(HEAD_END)
  if (end === -1) return null
  const [, length = '0'] = /\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, end)) ?? []
  return end + HEAD_END.length + Number(length)
}
