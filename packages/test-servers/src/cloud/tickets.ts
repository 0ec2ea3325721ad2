// A system of tickets for tests, over real HTTP on a loopback port: it makes one for `POST /ops/workorders`, finds those with a key, and
// takes changes of one. It makes a ticket for each request, whatever its idempotency key: so that a second request shows.

import { type CloudAnswer, type CloudCall, CloudServer } from './server.ts'

export interface FakeTicket {
  readonly id: string
  readonly key: string
  status: string
  /** As it was asked for, and each change. */
  readonly asked: Readonly<Record<string, unknown>>
  readonly changes: Readonly<Record<string, unknown>>[]
}

export async function startFakeTickets(): Promise<FakeTickets> {
  const tickets = new FakeTickets({})
  await tickets.listen()
  return tickets
}

export class FakeTickets extends CloudServer {
  readonly tickets: FakeTicket[] = []

  protected nameOf({ method, url }: Omit<CloudCall, 'name'>): string | null {
    if (!url.pathname.startsWith('/ops/workorders')) return null
    if (method === 'POST') return 'create'
    if (method === 'GET') return 'find'
    return method === 'PATCH' ? 'update' : null
  }

  protected perform({ name, url, body }: CloudCall): CloudAnswer {
    if (name === 'create') {
      const id = `T-${this.tickets.length + 1}`
      this.tickets.push({ id, key: String(body.key), status: 'new', asked: body, changes: [] })
      return { status: 201, body: { id, url: `${this.url}/tickets/${id}`, status: 'new' } }
    }
    if (name === 'find') {
      const key = url.searchParams.get('key')
      const items = this.tickets.filter((ticket) => ticket.key === key)
      return { status: 200, body: { items: items.map(({ id, status }) => ({ id, key, status })) } }
    }
    const ticket = this.tickets.find(({ id }) => url.pathname.endsWith(`/${id}`))
    if (ticket === undefined) return this.refusal('unknown')
    ticket.status = String(body.status)
    ticket.changes.push(body)
    return { status: 200, body: {} }
  }

  protected refusal(kind: 'throttled' | 'denied' | 'full' | 'failing' | 'unknown'): CloudAnswer {
    const statuses = { throttled: 429, denied: 403, full: 503, failing: 500, unknown: 404 }
    return { status: statuses[kind], body: { error: kind } }
  }

  protected lie(): CloudAnswer {
    return { status: 200, body: {} }
  }
}
