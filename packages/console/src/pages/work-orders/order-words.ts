// How a work order is, in shape, word and sentence, and in which order people should look at them.

import type { OperationOutput } from '../../api/client.ts'
import { many } from '../../format.ts'

export type WorkOrder = OperationOutput<'listWorkOrders'>['items'][number]
export type WorkOrderDetail = OperationOutput<'getWorkOrder'>
export type Status = WorkOrder['state']['status']

export const ORDER_LOOKS: Readonly<Record<Status, readonly [look: string, word: string]>> = {
  open: ['dead', 'open'],
  in_progress: ['running', 'in progress'],
  resolved: ['succeeded', 'resolved'],
  wont_fix: ['cancelled', "won't fix"],
}

const SEVERITIES = ['critical', 'high', 'normal', 'low'] as const
export const SEVERITY_SHAPES: Readonly<Record<WorkOrder['severity'], string>> = {
  critical: '▲▲ ',
  high: '▲ ',
  normal: '',
  low: '',
}

export const isLive = ({ state }: Pick<WorkOrder, 'state'>): boolean =>
  state.status === 'open' || state.status === 'in_progress'

/** The worst first, then what is due first, then what waits longest. */
export const byNeed = (one: WorkOrder, other: WorkOrder): number =>
  SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity) ||
  (one.dueAt ?? Number.POSITIVE_INFINITY) - (other.dueAt ?? Number.POSITIVE_INFINITY) ||
  one.openedAt - other.openedAt

export function sentenceOf(orders: readonly WorkOrder[], hasMore: boolean, now: number): string {
  const least = hasMore ? '≥ ' : ''
  const live = orders.filter(isLive)
  const unowned = live.filter(({ state }) => state.status === 'open').length
  const late = live.filter(({ dueAt }) => dueAt !== null && dueAt < now).length
  if (live.length === 0) return 'Nothing waits for a person.'
  const said = `${least}${many(live.length, 'work order')} ${live.length === 1 ? 'waits' : 'wait'} for a person`
  const taken =
    unowned === 0 ? 'all are taken' : `${least}${unowned === live.length ? 'none is' : `${unowned} are not`} taken`
  return `${said}; ${taken}${late === 0 ? '' : `, and ${many(late, 'is', 'are')} past due`}.`
}

/** What it is about, as its newest failure says it; by its name where that is not known. */
export type About = (order: WorkOrder) => string

export const aboutOf =
  (messages: ReadonlyMap<string, string>): About =>
  ({ subject }) =>
    messages.get(subject.fingerprint) ??
    (subject.kind === 'group' ? `cause ${subject.fingerprint}` : `task ${subject.taskId}`)
