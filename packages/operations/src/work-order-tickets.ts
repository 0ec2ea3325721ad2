// Work orders and what others have of them: the tickets of outside systems, what such a system says about one, and how many work orders
// are tracked to their end (B15). How tickets are made and read is the business of channels/work-order-delivery.

import {
  allPages,
  type Clock,
  casesOf,
  durationMs,
  type Engine,
  InvalidError,
  isAtLeastAsSevere,
  newTicket,
  type Page,
  type PageRequest,
  reportTicket,
  type Stored,
  stepOrMakeTicket,
  type Ticket,
  ticketFound,
  ticketId,
  ticketsIn,
  type WorkOrder,
  workOrdersIn,
} from '@reprise/core'
import { z } from 'zod'
import { settingsOf } from './channels/settings.ts'
import { isClosedThere, webAddressOf } from './channels/ticket-system.ts'
import type { Context } from './context.ts'
import { aTurn } from './in-turns.ts'
import { operation } from './operation.ts'
import { DurationInput, listOf, Milliseconds, Moment, NameInput } from './schemas/names.ts'
import { WorkOrderId, workOrderOf } from './work-order-id.ts'

const WINDOW = '30d'
const ORDERS_MAX = 10_000
const ORDERS_AT_ONCE = 20
const CAUSES_MAX = 2_000
const TICKETS_SHOWN = 50
/** A cause that is younger has no work order yet. */
const OPENS_WITHIN_MS = 10_000

export const TicketView = z
  .object({
    system: z.string().meta({ description: 'The name of the channel.' }),
    ticket: z.string().nullable().meta({ description: 'Its id there; null if it is not known.' }),
    url: z.string().nullable(),
    status: z.string().nullable().meta({ description: 'How it is there, in the words of the system.' }),
    isThere: z.boolean(),
    isClosed: z.boolean(),
    seenAt: Moment.nullable(),
    error: z.string().nullable().meta({ description: 'Why it could not be made there; null if it is there.' }),
  })
  .meta({ id: 'Ticket', description: 'What an outside system has for a work order.' })

const FiguresView = z
  .object({
    from: Moment,
    opened: z.int().meta({ description: 'Since then, those that were opened again too.' }),
    completed: z.int().meta({ description: 'Closed since then.' }),
    because: z.record(z.string(), z.int()).meta({ description: 'Of the completed ones, why.' }),
    medianOpenMs: Milliseconds.nullable().meta({ description: 'Of the completed ones; null if there are none.' }),
    open: z.int().meta({ description: 'Now.' }),
    unowned: z.int(),
    overdue: z.int(),
    causes: z.int().meta({ description: 'Causes with dead letters now, and those whose work order was completed.' }),
    tracked: z.int().meta({ description: 'Of these, how many have a work order, and a result if it is completed.' }),
    share: z.number().meta({ description: 'Tracked of all causes; 1 if there are none.' }),
    systems: listOf(
      z.object({
        system: z.string(),
        wanted: z.int().meta({ description: 'Open work orders that it should have a ticket for.' }),
        there: z.int(),
        failing: z.int(),
      }),
    ),
    isComplete: z.boolean().meta({ description: `False if there are more than ${ORDERS_MAX} work orders.` }),
  })
  .meta({ id: 'WorkOrderFigures' })

const common = { tag: 'work orders', tenants: 'all' } as const

export const workOrderTicketOperations = {
  measureWorkOrders: operation({
    ...common,
    route: 'GET /api/v1/work-order-figures',
    summary: 'How many work orders are completed, and tracked to their end',
    right: 'read',
    input: z.object({ window: DurationInput.optional().meta({ description: `How far back; ${WINDOW} if missing.` }) }),
    output: FiguresView,
    answer: 'The figures.',
    run: async (context, caller, { window = WINDOW }) => {
      const now = await context.engine.now()
      return context.searches.run(caller, () => figuresOf(context, now - durationMs(window, 'window'), now))
    },
  }),
  reportWorkOrder: operation({
    ...common,
    route: 'POST /api/v1/work-orders/{id}/report',
    summary: 'Say how the ticket of a work order is in an outside system',
    description:
      'For that system, as a webhook of its own, where it is not polled. A ticket that was open and is closed closes the work order. One that is not known yet is put beside the work order.',
    right: 'operate',
    input: WorkOrderId.extend({
      system: NameInput.meta({ description: 'The name of the channel, of kind work_orders.' }),
      status: z.string().min(1).max(200).meta({ description: 'How it is there, in the words of the system.' }),
      ticket: z.string().min(1).max(200).optional().meta({ description: 'Its id there.' }),
      url: z.string().max(2_000).optional(),
    }),
    output: TicketView,
    answer: 'The ticket as it is known now.',
    repeatable: true,
    problems: [404],
    run: async (context, { actor }, { id, system, status, ticket = null, url }) => {
      const { engine, events } = context
      const { document: channel } = await events.channels.stored(system)
      if (channel.kind !== 'work_orders') throw new InvalidError(`The channel '${channel.name}' has no tickets.`)
      const order = await workOrderOf(context, id)
      const isClosed = isClosedThere(status, settingsOf(channel, 'work_orders').closed)
      const there = { id: ticket, url: webAddressOf(url), status, isClosed }
      const now = await engine.now()
      const stored = await ticketsIn(engine).get(ticketId(channel.id, order.id))
      const known =
        stored?.document.there != null
          ? await reportTicket(engine, stored.document, there, { actor, now })
          : await stepOrMakeTicket(engine, newTicket(channel.id, channel.name, order.id), (one) => {
              const { status: ours, since } = order.state
              return ticketFound(one, there, { status: ours, since }, now)
            })
      return ticketView(known ?? newTicket(channel.id, channel.name, order.id))
    },
  }),
}

/** What outside systems have for one work order. */
export async function ticketsOf(engine: Pick<Engine, 'collection'>, workOrder: string) {
  const { items } = await ticketsIn(engine).find({ index: 'workOrder', value: workOrder, limit: TICKETS_SHOWN })
  return items.map(({ document }) => ticketView(document))
}

const ticketView = ({ system, there, seenAt, failing }: Ticket): z.output<typeof TicketView> => ({
  system,
  ticket: there?.id ?? null,
  url: there?.url ?? null,
  status: there?.status ?? null,
  isThere: there !== null,
  isClosed: there?.isClosed ?? false,
  seenAt,
  error: failing?.error ?? null,
})

async function figuresOf(
  context: Pick<Context, 'engine' | 'clock' | 'events'>,
  from: number,
  now: number,
): Promise<z.output<typeof FiguresView>> {
  const { engine, clock } = context
  const { orders, isComplete } = await shortOrders(engine, clock)
  const live = orders.filter(({ state }) => state.status === 'open' || state.status === 'in_progress')
  const ended = orders.flatMap(({ past }) => past)
  const completed = ended.filter(({ since }) => since >= from)
  const because: Record<string, number> = {}
  for (const one of completed) because[one.because] = (because[one.because] ?? 0) + 1
  const causes = await causesOf(engine, orders, now)
  const recorded = completed.filter(({ by, result }) => by !== '' && result !== '').length
  const all = causes.length + completed.length
  const tracked = causes.filter(({ isTracked }) => isTracked).length + recorded
  return {
    from,
    opened: [...ended, ...live].filter(({ openedAt }) => openedAt >= from).length,
    completed: completed.length,
    because,
    medianOpenMs: medianOf(completed.map(({ since, openedAt }) => since - openedAt)),
    open: live.length,
    unowned: live.filter(({ owner }) => owner === null).length,
    overdue: live.filter(({ dueAt }) => dueAt !== null && dueAt < now).length,
    causes: all,
    tracked,
    share: all === 0 ? 1 : tracked / all,
    systems: await systemsOf(context, live),
    isComplete,
  }
}

type ShortOrder = Omit<WorkOrder, 'comments' | 'tasks' | 'untold'>

/** Without what may be long: ten thousand of them are in memory together. */
async function shortOrders(
  engine: Engine,
  clock: Clock,
): Promise<{ readonly orders: readonly ShortOrder[]; readonly isComplete: boolean }> {
  const orders: ShortOrder[] = []
  let cursor: string | null = null
  do {
    await aTurn(clock)
    const page: PageRequest = { limit: ORDERS_AT_ONCE, ...(cursor === null ? {} : { cursor }) }
    const read: Page<Stored<WorkOrder>> = await workOrdersIn(engine).list(page)
    for (const { document } of read.items) {
      const { comments: _comments, tasks: _tasks, untold: _untold, past, ...short } = document
      orders.push({ ...short, past: past.map((end) => ({ ...end, result: end.result === '' ? '' : SAID })) })
    }
    cursor = read.next
  } while (cursor !== null && orders.length < ORDERS_MAX)
  return { orders, isComplete: cursor === null }
}

/** Stands for the words of a result, which are not counted. */
const SAID = 'said'

function medianOf(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}

/** The causes that have dead letters, and whether somebody's work order is about each. */
async function causesOf(engine: Engine, orders: readonly ShortOrder[], now: number) {
  const { items } = await allPages((page) => engine.failureGroups(page), CAUSES_MAX)
  const grown = items.filter(({ count, firstAt }) => count > 0 && firstAt < now - OPENS_WITHIN_MS)
  const cases = await casesOf(
    engine,
    grown.map(({ fingerprint }) => fingerprint),
  )
  const about = new Set(orders.map(({ subject }) => subject.fingerprint))
  return grown.map(({ fingerprint }) => {
    const root = cases.get(fingerprint)?.mergedInto ?? fingerprint
    return { fingerprint, isTracked: about.has(root) || about.has(fingerprint) }
  })
}

async function systemsOf({ engine, events }: Pick<Context, 'engine' | 'events'>, live: readonly ShortOrder[]) {
  const channels = (await events.channels.all()).map(({ document }) => document)
  const systems = channels.filter(({ kind, enabled }) => kind === 'work_orders' && enabled)
  return Promise.all(
    systems.map(async ({ id, name, minSeverity }) => {
      const find = { index: 'live', value: id }
      const { items } = await allPages((page) => ticketsIn(engine).find({ ...page, ...find }), ORDERS_MAX)
      const tickets = new Map(items.map(({ document }) => [document.workOrder, document]))
      const wanted = live.filter(({ severity }) => isAtLeastAsSevere(severity, minSeverity))
      const found = wanted.map((order) => tickets.get(order.id))
      const there = found.filter((ticket) => ticket?.there != null).length
      const failing = found.filter((ticket) => ticket?.failing != null).length
      return { system: name, wanted: wanted.length, there, failing }
    }),
  )
}
