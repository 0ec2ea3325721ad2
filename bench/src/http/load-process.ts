// The load in a process of its own: it gets what to send as one message, and sends back what it found.

import { load } from './load.ts'

export interface LoadOrder {
  readonly port: number
  readonly method: 'GET' | 'POST'
  /** In which every `#` becomes a number of its own. */
  readonly path: string
  readonly token: string | null
  /** A JSON body, in which every `#` becomes a number of its own. */
  readonly body: string | null
  readonly connections: number
  readonly seconds: number
}

let sent = 0

async function run(order: LoadOrder): Promise<void> {
  const { port, method, path, token, body, connections, seconds } = order
  const headers = [
    'host: 127.0.0.1',
    ...(token === null ? [] : [`authorization: Bearer ${token}`]),
    ...(body === null ? [] : ['content-type: application/json']),
  ].join('\r\n')
  const request = (): string => {
    const number = String(++sent)
    const head = `${method} ${path.replaceAll('#', number)} HTTP/1.1\r\n${headers}`
    if (body === null) return `${head}\r\n\r\n`
    const text = body.replaceAll('#', number)
    return `${head}\r\ncontent-length: ${text.length}\r\n\r\n${text}`
  }
  process.send?.(await load({ port, request, connections, seconds }))
  process.disconnect?.()
}

process.once('message', (order: LoadOrder) => void run(order))
