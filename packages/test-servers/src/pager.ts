// A pager: takes what PagerDuty's Events API v2 takes, and keeps it. For tests and examples that call somebody.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a pager is told of an alert. */
export interface Page {
  readonly event_action: 'trigger' | 'acknowledge' | 'resolve'
  readonly dedup_key: string
  readonly payload?: { readonly summary: string; readonly severity: string }
}

export interface FakePager {
  readonly url: string
  /** In the order they came. */
  readonly pages: readonly Page[]
  close(): Promise<void>
}

export async function startFakePager(): Promise<FakePager> {
  const pages: Page[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      pages.push(JSON.parse(Buffer.concat(chunks).toString()) as Page)
      response.writeHead(202).end('{"status":"success"}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/enqueue`,
    pages,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
