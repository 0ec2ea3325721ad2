// The bank of this example: a small server on this machine, which can be down.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Bank {
  readonly url: string
  /** How many of the next transfers it refuses with 503. */
  refusals: number
  /** Ids of the transfers it made. One that comes twice is made once. */
  readonly transfers: ReadonlySet<string>
  close(): void
}

export async function openBank(): Promise<Bank> {
  const transfers = new Set<string>()
  const bank = { refusals: 0, transfers }
  const server = createServer((request, response) => {
    if (bank.refusals > 0) {
      bank.refusals--
      response.writeHead(503).end()
      return
    }
    transfers.add(String(request.headers['idempotency-key']))
    response.end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(bank, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  })
}
