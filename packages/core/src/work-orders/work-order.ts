// A work order: the part of a person in the recovery of dead letters. There is one for each failure group, or for each task where the
// policy says so, under an id that follows from its subject: so two processes can not make two.
//
//   open         Nobody works on it yet. An operator takes it, closes it, or it closes by itself.
//   in_progress  An operator works on it. Left like `open`.
//   resolved     Done: by an operator, or by itself once its dead letters are gone. Left by itself when a task dies of it later; or
//                by an operator.
//   wont_fix     An operator decided to do nothing. Deaths do not open it again: only an operator does.
//
// Everything here is pure: a function gives the next document with the entries for the journal in `untold`. Who stores them, and
// tells them, is told-documents.ts; what follows the journal is a service of the orchestrator.

import { digest64 } from '../failure/digest.ts'
import { ConflictError } from '../model/errors.ts'
import type { TaskId } from '../model/ids.ts'
import { type Escalation, SEVERITIES } from '../policy/decide.ts'
import type { By } from '../port/changes.ts'
import type { JournalEntryInput, JournalType } from '../port/journal.ts'
import type { ToldDocument } from '../port/told-documents.ts'

export const WORK_ORDER_STATUSES = ['open', 'in_progress', 'resolved', 'wont_fix'] as const
export type WorkOrderStatus = (typeof WORK_ORDER_STATUSES)[number]

/**
 * Why one was closed: somebody said so here, or in an outside system that has a ticket for it; its tasks succeeded; or its tasks are
 * gone without that (discarded, cancelled, removed).
 */
export type ClosedBecause = 'operator' | 'outside' | 'recovered' | 'gone'

interface Closed {
  readonly since: number
  readonly by: string
  readonly because: ClosedBecause
  /** What was done about it, in words. */
  readonly result: string
}

type WorkOrderState =
  | { readonly status: 'open'; readonly since: number; readonly because: 'new' | 'again' | 'operator' }
  | { readonly status: 'in_progress'; readonly since: number; readonly by: string }
  | (Closed & { readonly status: 'resolved' | 'wont_fix' })

/** What it is about: all dead letters of one cause, or one task. */
export type WorkOrderSubject =
  | { readonly kind: 'group'; readonly fingerprint: string }
  | { readonly kind: 'task'; readonly fingerprint: string; readonly taskId: TaskId; readonly tenant: string }

export interface WorkOrder extends ToldDocument {
  readonly subject: WorkOrderSubject
  readonly action: string
  readonly state: WorkOrderState
  readonly severity: Escalation['severity']
  readonly owner: string | null
  readonly runbook: string | null
  /** Until when the first of its tasks should have been done. */
  readonly dueAt: number | null
  readonly openedAt: number
  readonly lastDeathAt: number
  /** The tasks that died last, newest first: they tell whether it has recovered. */
  readonly tasks: readonly TaskId[]
  /** Some of the tenants whose tasks died of it; missing in what older versions wrote. */
  readonly tenants?: readonly string[]
  readonly comments: readonly Comment[]
  /** How it ended before, oldest first. */
  readonly past: readonly (Closed & { readonly status: 'resolved' | 'wont_fix'; readonly openedAt: number })[]
}

interface Comment {
  readonly at: number
  readonly by: string
  readonly text: string
}

/** Tasks that died, as far as a work order needs to know. */
export interface Deaths {
  readonly firstAt: number
  readonly lastAt: number
  /** Newest first. */
  readonly tasks: readonly TaskId[]
  /** As far as they were looked at. */
  readonly tenants: readonly string[]
  readonly escalation: Escalation | null
  readonly dueAt: number | null
}

const TASKS_MAX = 20
const TENANTS_MAX = 20
const COMMENTS_MAX = 100
const COMMENTS_LENGTH_MAX = 40_000
const PAST_MAX = 20
const SERVICE = 'work-orders'

export function workOrderId(subject: { readonly fingerprint: string; readonly taskId?: TaskId }): string {
  return `wo-${subject.taskId === undefined ? subject.fingerprint : digest64(`task ${subject.taskId}`)}`
}

/** As it is before the first task died: not open to anybody's eyes until `died` was asked. */
export function newWorkOrder(subject: WorkOrderSubject, action: string, at: number): WorkOrder {
  return {
    id: workOrderId(subject.kind === 'task' ? subject : { fingerprint: subject.fingerprint }),
    subject,
    action,
    state: { status: 'open', since: at, because: 'new' },
    severity: 'low',
    owner: null,
    runbook: null,
    dueAt: null,
    openedAt: at,
    lastDeathAt: 0,
    tasks: [],
    tenants: [],
    comments: [],
    past: [],
    untold: [],
  }
}

export const isClosed = ({ state }: Pick<WorkOrder, 'state'>): boolean =>
  state.status === 'resolved' || state.status === 'wont_fix'

/** Tasks died of it. Null if that is known, or changes nothing. */
export function died(one: WorkOrder, deaths: Deaths): WorkOrder | null {
  if (one.tasks.length === 0) return told(knowing(one, deaths), 'work_order.opened', openedBy(one), {})
  const fresh = deaths.tasks.some((task) => !one.tasks.includes(task)) && deaths.lastAt > one.lastDeathAt
  if (one.state.status === 'resolved' && deaths.lastAt >= one.state.since) {
    const reason = `It was ${closedWords(one.state)}, and there is a dead letter of it again: ${deaths.tasks[0] ?? ''}.`
    return reopened(knowing(one, deaths), { actor: SERVICE, reason }, deaths.lastAt, 'again')
  }
  return fresh && !isClosed(one) ? knowing(one, deaths) : null
}

const openedBy = ({ action, subject }: WorkOrder): By => ({
  actor: SERVICE,
  reason:
    subject.kind === 'task'
      ? `${action}: task ${subject.taskId} died, and a person has to look at it.`
      : `${action}: tasks die of a cause, and a person has to look at it.`,
})

/** With what the deaths say: the highest severity, and an owner and a runbook if it had none. */
function knowing(one: WorkOrder, { lastAt, tasks, tenants, escalation, dueAt }: Deaths): WorkOrder {
  const severity = escalation?.severity ?? 'normal'
  const isHigher = SEVERITIES.indexOf(severity) > SEVERITIES.indexOf(one.severity)
  return {
    ...one,
    severity: isHigher ? severity : one.severity,
    owner: one.owner ?? escalation?.owner ?? null,
    runbook: one.runbook ?? escalation?.runbook ?? null,
    dueAt: one.dueAt ?? dueAt,
    lastDeathAt: Math.max(one.lastDeathAt, lastAt),
    tasks: [...new Set([...tasks, ...one.tasks])].slice(0, TASKS_MAX),
    tenants: [...new Set([...tenants, ...(one.tenants ?? [])])].slice(0, TENANTS_MAX),
  }
}

/** An operator takes it, or gives it to somebody. */
export function taken(one: WorkOrder, by: By, at: number, owner: string): WorkOrder | null {
  if (isClosed(one)) throw new ConflictError(`Work order ${one.id} is ${closedWords(one.state)}. Reopen it first.`)
  if (one.state.status === 'in_progress' && one.owner === owner) return null
  const state = { status: 'in_progress', since: at, by: by.actor } as const
  return told({ ...one, state, owner }, 'work_order.taken', by, {})
}

export function commented(one: WorkOrder, by: By, at: number): WorkOrder {
  if (one.comments.length >= COMMENTS_MAX) {
    throw new ConflictError(`Work order ${one.id} has ${COMMENTS_MAX} comments, and takes no more.`)
  }
  const comments = [...one.comments, { at, by: by.actor, text: by.reason }]
  // A work order is one document: what has no room could not be opened or closed any more, and all others would wait for it.
  if (comments.reduce((sum, { text }) => sum + text.length, 0) > COMMENTS_LENGTH_MAX) {
    throw new ConflictError(
      `The comments of work order ${one.id} are ${COMMENTS_LENGTH_MAX} characters, and take no more.`,
    )
  }
  return told({ ...one, comments }, 'work_order.noted', by, {})
}

/** Null if it is closed in this way already. */
export function closed(
  one: WorkOrder,
  by: By,
  at: number,
  { status, because }: { readonly status: 'resolved' | 'wont_fix'; readonly because: ClosedBecause },
): WorkOrder | null {
  if (one.state.status === status) return null
  const end = { status, since: at, by: by.actor, because, result: by.reason } as const
  const past = [...one.past, { ...end, openedAt: one.openedAt }].slice(-PAST_MAX)
  return told({ ...one, state: end, past }, 'work_order.closed', by, { because, openMs: at - one.openedAt })
}

/**
 * All its dead letters are gone. `at` is a moment before they were counted: who dies later opens it again. `helped` says what brought
 * them back, for those who meet the like of it later.
 */
export function closedByItself(
  one: WorkOrder,
  at: number,
  because: 'recovered' | 'gone',
  helped: string | null = null,
): WorkOrder | null {
  if (isClosed(one) || one.lastDeathAt >= at) return null
  const reason =
    because === 'recovered'
      ? `Its tasks have recovered: no dead letter is left, and the last that died have succeeded.${helped === null ? '' : ` ${helped}`}`
      : 'No dead letter is left: they were discarded, cancelled or removed.'
  return closed(one, { actor: SERVICE, reason }, at, { status: 'resolved', because })
}

/** Null if it is open. */
export function reopened(one: WorkOrder, by: By, at: number, because: 'again' | 'operator'): WorkOrder | null {
  if (!isClosed(one)) return null
  const state = { status: 'open', since: at, because } as const
  return told({ ...one, state, openedAt: at }, 'work_order.reopened', by, { because })
}

/** The document with an entry about it for the journal. */
function told(one: WorkOrder, type: JournalType, by: By, data: JournalEntryInput['data']): WorkOrder {
  const { id, subject, action, state, severity, owner } = one
  const { fingerprint } = subject
  const about = { workOrder: id, fingerprint, action, status: state.status, severity, owner, ...data }
  const taskId = subject.kind === 'task' ? subject.taskId : null
  const entry = { type, taskId, attempt: null, actor: by.actor, reason: by.reason, data: about }
  return { ...one, untold: [...one.untold, entry] }
}

function closedWords(state: WorkOrderState): string {
  if (state.status === 'wont_fix') return 'closed without a fix'
  return state.status === 'resolved' ? 'resolved' : 'open'
}
