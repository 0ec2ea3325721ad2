// A ticket: what an outside system has for a work order of ours. There is one document for each work order and system, under an id
// that follows from both, made before the system is asked for anything: so a process that dies anywhere leaves word of what it began.
//
//   asked      `there` is null. The system is asked to make one. Left when it is known there: made, or found under our key.
//              `askedAt` is set while a request may still be under way that nobody heard the answer of.
//   there      It is known, and says how it is there. Left only when the system has no such ticket any more.
//
// Two facts go their own ways: `told` is how ours was when the system was last told, and `there` how the ticket was when it was last
// seen. Ours is closed by a ticket only if the ticket was open before, and the system knows ours as it is: an old answer closes nothing.

import type { Collection } from '../port/collection.ts'
import type { Records } from '../port/engine.ts'
import type { JournalEntryInput, JournalType } from '../port/journal.ts'
import { stepOrInsertTold, stepTold, type ToldDocument, untoldIndex } from '../port/told-documents.ts'
import { closed, isClosed, type WorkOrder, type WorkOrderStatus } from './work-order.ts'
import { stepWorkOrder } from './work-order-store.ts'

/** A ticket as the outside system shows it. */
export interface TicketThere {
  /** Null if the system did not say. */
  readonly id: string | null
  readonly url: string | null
  /** In its own words. */
  readonly status: string | null
  readonly isClosed: boolean
}

export interface Ticket extends ToldDocument {
  /** The channel that leads there, and its name for people. */
  readonly channel: string
  readonly system: string
  readonly workOrder: string
  readonly there: TicketThere | null
  readonly seenAt: number | null
  readonly told: { readonly status: WorkOrderStatus; readonly since: number } | null
  readonly askedAt: number | null
  /** Since when it could not be made, and what was the matter last. */
  readonly failing: { readonly since: number; readonly tries: number; readonly error: string } | null
}

type Store = Pick<Records, 'collection' | 'journal'>

const ERROR_LENGTH_MAX = 300

export const ticketId = (channel: string, workOrder: string): string => `${channel}.${workOrder}`

export const ticketsIn = (engine: Pick<Records, 'collection'>): Collection<Ticket> =>
  engine.collection<Ticket>({
    name: 'work-order-tickets',
    indexes: {
      workOrder: ({ workOrder }) => workOrder,
      channel: ({ channel }) => channel,
      live: (one) => (one.told !== null && isClosedStatus(one.told.status) ? null : one.channel),
      failing: ({ failing }) => (failing === null ? null : 'yes'),
      untold: untoldIndex,
    },
  })

const isClosedStatus = (status: WorkOrderStatus): boolean => status === 'resolved' || status === 'wont_fix'

export const newTicket = (channel: string, system: string, workOrder: string): Ticket => ({
  id: ticketId(channel, workOrder),
  channel,
  system,
  workOrder,
  there: null,
  seenAt: null,
  told: null,
  askedAt: null,
  failing: null,
  untold: [],
})

const FAILING_MAX = 1_000

/** Those that could not be made, by system. */
export async function failingTickets(
  engine: Pick<Records, 'collection'>,
): Promise<ReadonlyMap<string, readonly Ticket[]>> {
  const { items } = await ticketsIn(engine).find({ index: 'failing', value: 'yes', limit: FAILING_MAX })
  return Map.groupBy(
    items.map(({ document }) => document),
    ({ system }) => system,
  )
}

export const stepTicket = (engine: Store, id: string, next: (one: Ticket) => Ticket | null): Promise<Ticket | null> =>
  stepTold(engine.journal, ticketsIn(engine), id, next)

/** As `stepTicket`; it is made from `first` if there is none. */
export const stepOrMakeTicket = (
  engine: Store,
  first: Ticket,
  next: (one: Ticket) => Ticket | null,
): Promise<Ticket | null> => stepOrInsertTold(engine.journal, ticketsIn(engine), first, next)

/** Whether the system was told how ours is now. */
export const isTold = ({ told }: Ticket, { state }: Pick<WorkOrder, 'state'>): boolean =>
  told?.status === state.status && told.since === state.since

/** It is there: made just now, or found under our key. `knows` is how ours was when the system was told of it. */
export function ticketFound(one: Ticket, there: TicketThere, knows: Ticket['told'], now: number): Ticket {
  const known: Ticket = { ...one, there, seenAt: now, told: knows, askedAt: null, failing: null }
  if (one.there !== null) return known
  const { system, workOrder } = one
  const reason = `Work order ${workOrder} is in ${system}${there.id === null ? '' : ` as ${there.id}`}.`
  return telling(known, 'work_order.pushed', 'work-orders', reason)
}

/** A request for one did not lead anywhere. `mayBeUnderWay` if the system may have got it. */
export function ticketFailed(one: Ticket, error: string, mayBeUnderWay: boolean, now: number): Ticket {
  const { since = now, tries = 0 } = one.failing ?? {}
  const failing = { since, tries: tries + 1, error: error.slice(0, ERROR_LENGTH_MAX) }
  return { ...one, askedAt: mayBeUnderWay ? one.askedAt : null, failing }
}

/** The system was told how ours is now; it takes its ticket for open or closed accordingly. */
export function ticketTold(one: Ticket, { state }: Pick<WorkOrder, 'state'>, hasFollowed: boolean): Ticket {
  const { status, since } = state
  const there =
    one.there === null || !hasFollowed ? one.there : { ...one.there, status: null, isClosed: isClosedStatus(status) }
  return { ...one, told: { status, since }, there }
}

/** How the ticket is there. Null if that is known. */
function ticketSeen(one: Ticket, seen: TicketThere, actor: string, now: number): Ticket | null {
  const { there } = one
  const next: TicketThere = { ...seen, id: seen.id ?? there?.id ?? null, url: seen.url ?? there?.url ?? null }
  if (there !== null && JSON.stringify(there) === JSON.stringify(next)) return null
  const changed: Ticket = { ...one, there: next, seenAt: now, askedAt: null, failing: null }
  // What we said ourselves is no news.
  if (there !== null && there.isClosed === next.isClosed && (there.status === null || there.status === next.status)) {
    return changed
  }
  const how = next.status ?? (next.isClosed ? 'closed' : 'open')
  return telling(changed, 'work_order.reported', actor, `${one.system} has work order ${one.workOrder} as ${how}.`)
}

function telling(one: Ticket, type: JournalType, actor: string, reason: string): Ticket {
  const { workOrder, system, there } = one
  const data = {
    workOrder,
    system,
    ticket: there?.id ?? null,
    url: there?.url ?? null,
    ticketStatus: there?.status ?? null,
  }
  const entry: JournalEntryInput = { type, taskId: null, attempt: null, actor, reason, data }
  return { ...one, untold: [...one.untold, entry] }
}

/**
 * An outside system says how its ticket is. One that was closed there closes ours, if the system knew ours as it is. Ours comes
 * first: a process that dies in between sees the same again.
 */
export async function reportTicket(
  engine: Store,
  known: Ticket,
  seen: TicketThere,
  { actor, now }: { readonly actor: string; readonly now: number },
): Promise<Ticket> {
  if (seen.isClosed && known.there?.isClosed === false) {
    const as = seen.status === null ? '' : ` as ${seen.status}`
    const name = seen.id ?? known.there.id
    const reason = `Closed in ${known.system}${as}${name === null ? '' : ` (${name})`}.`
    await stepWorkOrder(engine, known.workOrder, (one) =>
      isClosed(one) || !isTold(known, one)
        ? null
        : closed(one, { actor, reason }, now, { status: 'resolved', because: 'outside' }),
    )
  }
  return (await stepTicket(engine, known.id, (one) => ticketSeen(one, seen, actor, now))) ?? known
}
