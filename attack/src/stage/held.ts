// Requests of a caller who opens something and then reads nothing more of it: streams, exports, long polls. Only the status is
// looked at; the rest of the answer stays on its way.

import { connect } from 'node:net'
import type { Api } from './api.ts'

export interface Held {
  /** 0 while nothing was answered: the server holds the request. */
  readonly status: number
  readonly close: () => void
}

/** How long to wait for the status line of something that may be held for long. */
const STATUS_MS = 2_000

export function hold({ origin, token }: Api, path: string): Promise<Held> {
  const { hostname, port } = new URL(origin)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    const close = (): void => void socket.destroy()
    const done = (status: number): void => {
      socket.setTimeout(0)
      socket.pause()
      resolve({ status, close })
    }
    socket.once('connect', () =>
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${token === null ? '' : `authorization: Bearer ${token}\r\n`}\r\n`,
      ),
    )
    socket.once('data', (data: Buffer) => done(Number(/^HTTP\/1\.1 (\d{3})/.exec(data.toString('latin1'))?.[1] ?? 0)))
    socket.on('error', () => done(0))
    socket.setTimeout(STATUS_MS, () => done(0))
  })
}
