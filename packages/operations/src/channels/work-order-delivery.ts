// The delivery of work orders to outside systems: the outlet that the delivery service serves beside webhooks and alerts. A delivery
// says that something happened to a work order; sending it brings the ticket of the outside system to where the work order is now. So
// deliveries may come late, twice or in any order. Who sends it first writes down that it will, then looks for our key, then asks for
// a new ticket: a lost answer is found again, and makes no second ticket.

import {
  allPages,
  type Channel,
  type Clock,
  type Engine,
  type Fingerprint,
  isAtLeastAsSevere,
  isClosed,
  isTicketTold,
  newTicket,
  reportTicket,
  stepOrMakeTicket,
  stepTicket,
  type Ticket,
  type TicketThere,
  tellLeftovers,
  ticketFailed,
  ticketFound,
  ticketId,
  ticketsIn,
  ticketTold,
  type WorkOrder,
  workOrdersIn,
} from '@reprise/core'
import type { MakeEvent, Redact, SentEvent } from '../events/event.ts'
import type { Outlet } from '../events/outlet.ts'
import type { SendResult, WebhookTarget } from '../events/webhook-target.ts'
import { contextOf, contextText } from '../work-order-context.ts'
import type { Channels } from './channels.ts'
import { type ConsoleUrl, workOrderBody, workOrderFacts } from './messages.ts'
import { destinationOf, settingsOf } from './settings.ts'
import { type Looked, TicketSystem } from './ticket-system.ts'

export interface WorkOrderOutletPorts {
  readonly engine: Engine
  readonly channels: Channels
  readonly target: WebhookTarget
  readonly makeEvent: MakeEvent
  readonly redact: Redact
  readonly consoleUrl: () => ConsoleUrl
  readonly clock: Clock
}

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** How long to wait after each failed try: 7 days in all. A work order is still worth its ticket then. */
const RETRY_DELAYS_MS: readonly number[] = [
  2 * SECOND,
  5 * SECOND,
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  3 * MINUTE,
  5 * MINUTE,
  ...Array.from({ length: 1_000 }, () => 10 * MINUTE),
]

/** After a request whose answer was lost, the system has this long to finish it, before it is asked again. */
const SETTLE_MS = 30 * SECOND
const TEND_MS = 15 * SECOND
/** The journal tells of new work orders sooner than this. */
const UNHEARD_MS = 30 * SECOND
const LOOKED_AT_MAX = 2_000
const POLLED_AT_ONCE = 50
const STEPS: ReadonlySet<string> = new Set([
  'work_order.opened',
  'work_order.taken',
  'work_order.closed',
  'work_order.reopened',
])

/** A channel as deliveries know it. */
type Receiver = Channel & { readonly tenant: null }

export interface WorkOrderOutlet extends Outlet<Receiver> {
  /** Looks for a ticket that is not there: makes none. */
  test(channel: Channel, key: string): Promise<SendResult>
}

export function workOrderOutlet(ports: WorkOrderOutletPorts): WorkOrderOutlet {
  const { engine, channels, makeEvent } = ports
  const system = new TicketSystem(ports.target)
  const polledAt = new Map<string, number>()
  return {
    kind: 'channel',
    async enabled() {
      const all = await channels.all()
      return all
        .filter(({ document }) => document.enabled && document.kind === 'work_orders')
        .map((stored) => ({ ...stored, document: { ...stored.document, tenant: null } }))
    },
    eventFor: async (_, entry) => (STEPS.has(entry.type) ? { event: makeEvent(entry, null), tenant: null } : null),
    send(channel, { body }, signal) {
      const { data } = JSON.parse(body) as { readonly data: { readonly details: { readonly workOrder: string } } }
      return new Push(ports, system, channel, signal).run(data.details.workOrder)
    },
    disable: (id, because) => channels.disable(id, because),
    nameOf: (channel) => `${channel.name} (${destinationOf(channel)})`,
    retryDelaysMs: RETRY_DELAYS_MS,
    // One after the other: two about one work order would both look, and both ask for a ticket.
    sendsAtOnce: 1,
    tend: {
      everyMs: TEND_MS,
      async run(channel, signal) {
        const now = await engine.now()
        await tellLeftovers(engine.journal, ticketsIn(engine), now)
        const orders = await liveOrders(engine)
        const tickets = await liveTickets(engine, channel.id)
        await poll({ engine, system, channel, orders, tickets, polledAt, now, signal })
        const known = new Set(tickets.map(({ workOrder }) => workOrder))
        return [...orders.values()]
          .filter(({ id, severity, state }) => {
            const isHeard = known.has(id) || now - state.since < UNHEARD_MS
            return !isHeard && isAtLeastAsSevere(severity, channel.minSeverity)
          })
          .map((order) => ({ event: unheard(order), tenant: null }))
      },
    },
    test: async (channel, key) => (await system.find(channel, key, new AbortController().signal)).result,
  }
}

/** One delivery: brings the ticket to where the work order is. */
class Push {
  readonly #ports: WorkOrderOutletPorts
  readonly #system: TicketSystem
  readonly #channel: Channel
  readonly #signal: AbortSignal

  constructor(ports: WorkOrderOutletPorts, system: TicketSystem, channel: Channel, signal: AbortSignal) {
    this.#ports = ports
    this.#system = system
    this.#channel = channel
    this.#signal = signal
  }

  async run(workOrder: string): Promise<SendResult> {
    const { engine } = this.#ports
    const order = (await workOrdersIn(engine).get(workOrder))?.document
    if (order === undefined) return this.#nothing('There is no such work order any more.')
    const stored = await ticketsIn(engine).get(ticketId(this.#channel.id, workOrder))
    const ticket = stored?.document ?? newTicket(this.#channel.id, this.#channel.name, workOrder)
    if (ticket.there !== null) return this.#update(order, ticket, ticket.there)
    if (ticket.askedAt === null && isClosed(order)) return this.#forget(ticket)
    if (stored === null && !isAtLeastAsSevere(order.severity, this.#channel.minSeverity)) {
      return this.#nothing('It is not severe enough for this system.')
    }
    return this.#make(order, ticket)
  }

  async #make(order: WorkOrder, ticket: Ticket): Promise<SendResult> {
    const { engine, redact, consoleUrl, clock } = this.#ports
    const lookedAt = clock.monotonic()
    const looked = await this.#system.find(this.#channel, order.id, this.#signal)
    if (looked.result.verdict !== 'delivered') return this.#failed(order, ticket, looked.result, true)
    if (looked.there !== null) return this.#found(order, ticket, looked, looked.there)
    const now = await engine.now()
    if (ticket.askedAt !== null && now - ticket.askedAt < SETTLE_MS) {
      const error = 'It was asked for a ticket and did not answer. It has a little more time before it is asked again.'
      return { ...looked.result, verdict: 'failed', log: { ...looked.result.log, error } }
    }
    if (isClosed(order)) return this.#forget(ticket)
    await stepOrMakeTicket(engine, ticket, (one) => ({ ...one, askedAt: now }))
    const { items } = await engine.failureGroups({ fingerprint: order.subject.fingerprint as Fingerprint, limit: 1 })
    const facts = workOrderFacts(order, items[0], { console: consoleUrl(), redact })
    const context = await this.#context(order)
    const told = context === null ? facts : { ...facts, context: contextText(context) }
    // A process that stood still: another one may have made the ticket since.
    if (clock.monotonic() - lookedAt >= SETTLE_MS) {
      const error = 'This process stood still before it could ask for a ticket. It looks again.'
      return { ...looked.result, verdict: 'failed', log: { ...looked.result.log, error } }
    }
    const made = await this.#system.create(this.#channel, told, workOrderBody(order, facts, context), this.#signal)
    if (made.result.verdict !== 'delivered' || made.there === null) {
      return this.#failed(order, ticket, made.result, made.mayBeUnderWay)
    }
    const there = made.there
    const { status, since } = order.state
    const seenAt = await engine.now()
    await stepTicket(engine, ticket.id, (one) => ticketFound(one, there, { status, since }, seenAt))
    return made.result
  }

  /** A ticket that says less is better than none. */
  async #context(order: WorkOrder): Promise<Awaited<ReturnType<typeof contextOf>> | null> {
    const { engine, redact, clock } = this.#ports
    const value = (json: unknown): unknown => redact(json)
    const redaction = {
      value,
      text: (text: string) => String(redact(text)),
      paced: async (json: unknown) => value(json),
    }
    return contextOf({ engine, redaction, clock }, order).catch(() => null)
  }

  /** It is there: made by a request whose answer was lost, or before this channel was. */
  async #found(order: WorkOrder, ticket: Ticket, { result }: Looked, there: TicketThere): Promise<SendResult> {
    const { engine } = this.#ports
    const { status, since } = order.state
    const knows = status === 'open' && !there.isClosed ? ({ status, since } as const) : null
    const now = await engine.now()
    const found = await stepOrMakeTicket(engine, ticket, (one) => ticketFound(one, there, knows, now))
    return found === null || isTicketTold(found, order) ? result : this.#update(order, found, there)
  }

  async #update(order: WorkOrder, ticket: Ticket, there: TicketThere): Promise<SendResult> {
    const { engine, redact, consoleUrl } = this.#ports
    if (isTicketTold(ticket, order)) return this.#nothing('It is known there already.')
    const told = async (hasFollowed: boolean): Promise<void> =>
      void (await stepTicket(engine, ticket.id, (one) => ticketTold(one, order, hasFollowed)))
    const facts = workOrderFacts(order, undefined, { console: consoleUrl(), redact })
    const isOver = isClosed(order) && there.isClosed
    const result = isOver ? null : await this.#system.update(this.#channel, there.id, facts, this.#signal)
    if (result === null) {
      await told(false)
      return this.#nothing(isOver ? 'It is closed there already.' : 'It is not told of changes.')
    }
    if (result.verdict === 'delivered') {
      await told(true)
      return result
    }
    const { status } = result.log
    if (status === 405 || status === 501 || (isClosed(order) && (status === 404 || status === 410))) {
      await told(false)
      return this.#nothing(`It answered ${status}: it is not told of this.`)
    }
    if (status !== 404 && status !== 410) return result
    // It was removed there, and is needed again.
    await stepTicket(engine, ticket.id, (one) => ({ ...one, there: null, told: null, askedAt: null }))
    return this.#make(order, { ...ticket, there: null, told: null, askedAt: null })
  }

  async #failed(order: WorkOrder, ticket: Ticket, result: SendResult, mayBeUnderWay: boolean): Promise<SendResult> {
    const { engine } = this.#ports
    // Ended by us: that says nothing about the system.
    if (this.#signal.aborted && result.log.status === null) return result
    const now = await engine.now()
    const error = result.log.error ?? ''
    // Of one that is closed, nobody misses the ticket.
    await stepOrMakeTicket(engine, ticket, (one) => {
      const failed = ticketFailed(one, error, mayBeUnderWay, now)
      return isClosed(order) ? { ...failed, failing: null } : failed
    })
    return result
  }

  async #forget({ id }: Ticket): Promise<SendResult> {
    await ticketsIn(this.#ports.engine).remove(id)
    return this.#nothing('It was over before it was made there.')
  }

  #nothing(answer: string): SendResult {
    const at = this.#ports.clock.now()
    return { verdict: 'delivered', retryAfterMs: null, log: { at, durationMs: 0, status: null, error: null, answer } }
  }
}

interface Round {
  readonly engine: Engine
  readonly system: TicketSystem
  readonly channel: Channel
  readonly orders: ReadonlyMap<string, WorkOrder>
  readonly tickets: readonly Ticket[]
  /** When each was last asked about, by this process. */
  readonly polledAt: Map<string, number>
  readonly now: number
  readonly signal: AbortSignal
}

/** Asks how open tickets are. A system that does not answer is asked once in a round. */
async function poll({ engine, system, channel, orders, tickets, polledAt, now, signal }: Round): Promise<void> {
  const everyMs = settingsOf(channel, 'work_orders').pollSeconds * SECOND
  if (everyMs === 0) return
  const isDue = ({ id }: Ticket): boolean => now - (polledAt.get(id) ?? Number.NEGATIVE_INFINITY) >= everyMs
  const due = tickets.filter((ticket) => {
    const order = orders.get(ticket.workOrder)
    return ticket.there !== null && order !== undefined && isTicketTold(ticket, order) && isDue(ticket)
  })
  const longest = due.toSorted((a, b) => (polledAt.get(a.id) ?? 0) - (polledAt.get(b.id) ?? 0))
  for (const ticket of longest.slice(0, POLLED_AT_ONCE)) {
    polledAt.set(ticket.id, now)
    const { result, there } = await system.find(channel, ticket.workOrder, signal)
    if (result.verdict !== 'delivered') return
    if (there !== null) await reportTicket(engine, ticket, there, { actor: `channel:${channel.name}`, now })
  }
  const kept = new Set(tickets.map(({ id }) => id))
  for (const id of polledAt.keys()) if (id.startsWith(`${channel.id}.`) && !kept.has(id)) polledAt.delete(id)
}

async function liveOrders(engine: Engine): Promise<ReadonlyMap<string, WorkOrder>> {
  const orders = workOrdersIn(engine)
  const { items } = await allPages((page) => orders.find({ ...page, index: 'live', value: 'yes' }), LOOKED_AT_MAX)
  return new Map(items.map(({ document }) => [document.id, document]))
}

async function liveTickets(engine: Engine, channel: string): Promise<readonly Ticket[]> {
  const tickets = ticketsIn(engine)
  const { items } = await allPages((page) => tickets.find({ ...page, index: 'live', value: channel }), LOOKED_AT_MAX)
  return items.map(({ document }) => document)
}

/** For one that the journal did not lead to: it was open before the channel was there, or has become more severe. */
const unheard = ({ id, state, severity }: WorkOrder): SentEvent => ({
  specversion: '1.0',
  id: `${id}.${state.since}.${severity}`,
  source: 'reprise',
  type: 'reprise.work_order.opened',
  time: new Date(state.since).toISOString(),
  datacontenttype: 'application/json',
  data: { details: { workOrder: id } },
})
