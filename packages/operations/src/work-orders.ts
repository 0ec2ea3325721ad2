// Work orders: the part of people in a recovery. A service of the orchestrator makes them when tasks die and closes them when the
// tasks have recovered; here they are listed, shown with what a person needs to know, taken, commented and closed. The states and
// who leaves them: core's work-orders/work-order.ts.

import {
  type By,
  checkedText,
  closed,
  commented,
  mapLimited,
  PAGE_LIMIT_DEFAULT,
  reopenedWorkOrder,
  type Stored,
  stepWorkOrder,
  taken,
  WORK_ORDER_STATUSES,
  type WorkOrder,
  workOrdersIn,
} from '@reprise/core'
import { alertsWatchedAt } from '@reprise/orchestrator'
import { z } from 'zod'
import { byOf, type Caller } from './access/caller.ts'
import type { Context } from './context.ts'
import { given } from './given.ts'
import { familiesIn, familyGroup } from './group-views.ts'
import { aTurn } from './in-turns.ts'
import { operation } from './operation.ts'
import { ActionNameInput, checkedBy, Moment, NameInput, PageQuery, ReasonInput, WatchedAt } from './schemas/names.ts'
import { FailureView } from './schemas/task.ts'
import { failureView, type Redaction } from './views.ts'
import { WorkOrderId, workOrderOf } from './work-order-id.ts'
import { TicketView, ticketsOf } from './work-order-tickets.ts'

const OWNER_LENGTH_MAX = 200
const TEXT_LENGTH_MAX = 1_000
const SIMILAR_MAX = 5
const ORDERS_AT_ONCE = 20
const READS_AT_ONCE = 10
/** Of one action, as many are looked through for those that are like one. */
const SIMILAR_LOOKED_AT = 200

const Closed = {
  since: Moment,
  by: z.string(),
  because: z.enum(['operator', 'outside', 'recovered', 'gone']).meta({
    description:
      'An operator closed it; its ticket was closed in an outside system; its tasks have succeeded; or they were discarded, cancelled or removed.',
  }),
  result: z.string().meta({ description: 'What was done about it.' }),
}
const PastView = z.object({ status: z.enum(['resolved', 'wont_fix']), openedAt: Moment, ...Closed })

const StateView = z
  .discriminatedUnion('status', [
    z.object({ status: z.literal('open'), since: Moment, because: z.enum(['new', 'again', 'operator']) }),
    z.object({ status: z.literal('in_progress'), since: Moment, by: z.string() }),
    z.object({ status: z.literal('resolved'), ...Closed }),
    z.object({ status: z.literal('wont_fix'), ...Closed }),
  ])
  .meta({ id: 'WorkOrderState' })

const WorkOrderView = z
  .object({
    id: z.string(),
    subject: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('group'), fingerprint: z.string() }),
      z.object({ kind: z.literal('task'), fingerprint: z.string(), taskId: z.string(), tenant: z.string() }),
    ]),
    action: z.string(),
    state: StateView,
    severity: z.enum(['low', 'normal', 'high', 'critical']),
    owner: z.string().nullable(),
    runbook: z.string().nullable().meta({ description: 'The one that the policy names.' }),
    dueAt: Moment.nullable().meta({ description: 'The deadline or SLA of the task that it was opened for.' }),
    openedAt: Moment,
    lastDeathAt: Moment,
  })
  .meta({ id: 'WorkOrder', description: 'The part of a person in the recovery of dead letters.' })

const ListedView = WorkOrderView.extend({
  dead: z.int().meta({ description: 'Dead letters of its cause now.' }),
  code: z.string().nullable().meta({ description: 'Of the newest failure; null once all dead letters are gone.' }),
  message: z.string().nullable(),
}).meta({ id: 'ListedWorkOrder' })

const DetailView = WorkOrderView.extend({
  tasks: z.array(z.string()).meta({ description: 'The tasks that died last, newest first.' }),
  comments: z.array(z.object({ at: Moment, by: z.string(), text: z.string() })),
  past: z.array(PastView).meta({ description: 'How it ended before, oldest first.' }),
  dead: z.int().meta({ description: 'Dead letters of its cause now.' }),
  sample: FailureView.nullable().meta({ description: 'The newest failure; null once all dead letters are gone.' }),
  similar: z
    .array(PastView.extend({ id: z.string() }))
    .meta({ description: 'How the latest others of the same action ended, newest first.' }),
  tickets: z.array(TicketView).meta({ description: 'What outside systems have for it.' }),
}).meta({ id: 'WorkOrderDetail' })

const words = (what: string) =>
  checkedBy((value) => checkedText(what, value, TEXT_LENGTH_MAX), `The ${what}.`, TEXT_LENGTH_MAX)

const common = { tag: 'work orders', tenants: 'all' } as const
const change = {
  ...common,
  right: 'operate',
  output: WorkOrderView,
  answer: 'The work order as it is now.',
  repeatable: true,
  problems: [404, 409],
  audit: async (context: Context, _caller: Caller, { id }: { readonly id: string }) => {
    const { state, owner } = await workOrderOf(context, id)
    return { status: state.status, owner }
  },
} as const

export const workOrderOperations = {
  listWorkOrders: operation({
    ...common,
    route: 'GET /api/v1/work-orders',
    summary: 'List work orders',
    description: 'By creation, oldest first. Those that are open or in progress, unless a status is asked for.',
    right: 'read',
    input: PageQuery.extend({
      status: z.enum([...WORK_ORDER_STATUSES, 'all']).optional(),
      owner: NameInput.optional(),
      action: ActionNameInput.optional(),
    }),
    output: z.object({ items: z.array(ListedView), next: z.string().nullable(), watchedAt: WatchedAt }),
    answer: 'A page of work orders.',
    run: async (
      { engine, redaction, clock },
      _caller,
      { status, owner, action, cursor, limit = PAGE_LIMIT_DEFAULT },
    ) => {
      const orders = workOrdersIn(engine)
      const index = status === undefined ? { index: 'live', value: 'yes' } : { index: 'status', value: status }
      const families = await familiesIn(engine)
      const shown = async ({ document }: Stored<WorkOrder>): Promise<z.output<typeof ListedView>> => {
        const group = await familyGroup(engine, families.rootOf(document.subject.fingerprint), families)
        const { code = null, message = null } = group === null ? {} : failureView(group.sample, redaction)
        return { ...viewOf(document, redaction), dead: group?.count ?? 0, code, message }
      }
      const items: z.output<typeof ListedView>[] = []
      let next = cursor
      // People write much about some: a few are read at a time, and others have their turn in between.
      for (let looked = 0; looked < limit; looked += ORDERS_AT_ONCE) {
        await aTurn(clock)
        const part = { limit: Math.min(ORDERS_AT_ONCE, limit - looked), ...given({ cursor: next }) }
        const found = status === 'all' ? await orders.list(part) : await orders.find({ ...index, ...part })
        const wanted = found.items.filter(
          ({ document }) =>
            (owner === undefined || document.owner === owner) && (action === undefined || document.action === action),
        )
        items.push(...(await mapLimited(wanted, READS_AT_ONCE, shown)))
        next = found.next ?? undefined
        if (next === undefined) break
      }
      return { items, next: next ?? null, watchedAt: await alertsWatchedAt(engine) }
    },
  }),
  getWorkOrder: operation({
    ...common,
    route: 'GET /api/v1/work-orders/{id}',
    summary: 'One work order, with what a person needs to know',
    right: 'read',
    input: WorkOrderId,
    output: DetailView,
    answer: 'The work order.',
    problems: [404],
    run: async (context, _caller, { id }) => {
      const one = await workOrderOf(context, id)
      const { engine, redaction } = context
      const families = await familiesIn(engine)
      const [group, others, tickets] = await Promise.all([
        familyGroup(engine, families.rootOf(one.subject.fingerprint), families),
        workOrdersIn(engine).find({ index: 'action', value: one.action, limit: SIMILAR_LOOKED_AT }),
        ticketsOf(engine, one.id),
      ])
      const similar = others.items
        .filter(({ document }) => document.id !== one.id)
        .flatMap(({ document }) => document.past.slice(-1).map((past) => ({ id: document.id, ...past })))
        .toSorted((a, b) => b.since - a.since)
        .slice(0, SIMILAR_MAX)
        .map((past) => withoutSecrets(past, redaction))
      return {
        ...viewOf(one, redaction),
        tasks: [...one.tasks],
        comments: one.comments.map((comment) => ({ ...comment, text: redaction.text(comment.text) })),
        past: one.past.map((past) => withoutSecrets(past, redaction)),
        dead: group?.count ?? 0,
        sample: group === null ? null : failureView(group.sample, redaction),
        similar,
        tickets,
      }
    },
  }),
  takeWorkOrder: operation({
    ...change,
    route: 'POST /api/v1/work-orders/{id}/take',
    summary: 'Take a work order, or give it to somebody',
    input: WorkOrderId.extend({
      owner: checkedBy((value) => checkedText('owner', value, OWNER_LENGTH_MAX), 'You if missing.').optional(),
      reason: ReasonInput.optional(),
    }),
    run: (context, caller, { id, owner, reason }) =>
      act(context, caller, id, reason, (one, by, now) => taken(one, by, now, owner ?? caller.actor)),
  }),
  commentWorkOrder: operation({
    ...change,
    route: 'POST /api/v1/work-orders/{id}/comments',
    summary: 'Say something about a work order',
    repeatable: false,
    input: WorkOrderId.extend({ text: words('comment') }),
    run: (context, caller, { id, text }) => act(context, caller, id, text, commented),
  }),
  closeWorkOrder: operation({
    ...change,
    route: 'POST /api/v1/work-orders/{id}/close',
    summary: 'Say that a work order is done, or that nothing will be done',
    description:
      'Dead letters stay where they are. A resolved one is opened again by itself when another task dies of the same cause; one that is closed as wont_fix stays closed.',
    input: WorkOrderId.extend({
      status: z.enum(['resolved', 'wont_fix']).optional().meta({ description: 'resolved if missing.' }),
      result: words('result'),
    }),
    run: (context, caller, { id, status = 'resolved', result }) =>
      act(context, caller, id, result, (one, by, now) => closed(one, by, now, { status, because: 'operator' })),
  }),
  reopenWorkOrder: operation({
    ...change,
    route: 'POST /api/v1/work-orders/{id}/reopen',
    summary: 'Open a work order again',
    input: WorkOrderId.extend({ reason: ReasonInput.optional() }),
    run: (context, caller, { id, reason }) =>
      act(context, caller, id, reason, (one, by, now) => reopenedWorkOrder(one, by, now, 'operator')),
  }),
}

/** One step. What changes nothing is answered like what does. */
async function act(
  context: Context,
  caller: Caller,
  asked: string,
  reason: string | undefined,
  step: (one: WorkOrder, by: By, now: number) => WorkOrder | null,
): Promise<z.output<typeof WorkOrderView>> {
  const { engine, redaction } = context
  const known = await workOrderOf(context, asked)
  const now = await engine.now()
  const by = byOf(caller, reason)
  const stepped = await stepWorkOrder(engine, known.id, (one) => step(one, by, now))
  return viewOf(stepped ?? (await workOrderOf(context, known.id)), redaction)
}

/** Its end is in the words of a person, who may have written anything. */
const withoutSecrets = <T extends { readonly result: string }>(end: T, redaction: Redaction): T => ({
  ...end,
  result: redaction.text(end.result),
})

function viewOf(one: WorkOrder, redaction: Redaction): z.output<typeof WorkOrderView> {
  const { id, subject, action, state, severity, owner, runbook, dueAt, openedAt, lastDeathAt } = one
  return {
    id,
    subject: { ...subject },
    action,
    state: 'result' in state ? withoutSecrets(state, redaction) : { ...state },
    severity,
    owner,
    runbook,
    dueAt,
    openedAt,
    lastDeathAt,
  }
}
