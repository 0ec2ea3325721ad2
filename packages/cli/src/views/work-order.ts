// Work orders for people: a row of the list, and one with everything that helps the person who takes it.

import type { OperationOutput } from '@reprise/client'
import type { People } from '../output/output.ts'
import { plain } from '../output/plain-text.ts'
import type { Column } from '../output/table.ts'
import { isoTime, relativeTime, shortSpan } from '../output/times.ts'

export type WorkOrder = OperationOutput<'takeWorkOrder'>
type Detail = OperationOutput<'getWorkOrder'>
type Context = OperationOutput<'getWorkOrderContext'>

const PAYLOAD_SHOWN_MAX = 400

const STATES: Readonly<Record<WorkOrder['state']['status'], string>> = {
  open: 'open',
  in_progress: 'in progress',
  resolved: 'resolved',
  wont_fix: "closed: won't fix",
}

export function workOrderText({ state, owner }: Pick<WorkOrder, 'state' | 'owner'>): string {
  const again = state.status === 'open' && state.because === 'again' ? ' again' : ''
  return `${STATES[state.status]}${again}${owner === null ? '' : ` (${owner})`}`
}

type Listed = OperationOutput<'listWorkOrders'>['items'][number]

export const workOrderColumns = (now: number): readonly Column<Listed>[] => [
  { title: 'WORK ORDER', value: ({ id }) => id },
  { title: 'SEVERITY', value: ({ severity }) => severity },
  { title: 'STATE', value: ({ state }) => STATES[state.status] },
  { title: 'OPEN FOR', value: (one) => shortSpan(endOf(one, now) - one.openedAt), right: true },
  { title: 'DUE', value: ({ dueAt }) => (dueAt === null ? null : relativeTime(dueAt, now)), below: true },
  { title: 'OWNER', value: ({ owner }) => owner },
  { title: 'DEAD', value: ({ dead }) => dead, right: true },
  { title: 'ACTION', value: ({ action }) => action },
  {
    title: 'FAILURE',
    value: ({ code, message }) => (code === null ? null : `${code}: ${message}`),
    flexible: true,
    below: true,
  },
]

const endOf = ({ state }: WorkOrder, now: number): number =>
  state.status === 'resolved' || state.status === 'wont_fix' ? state.since : now

export function tellWorkOrder(one: Detail, context: Context | null, now: number, people: People): void {
  const { line, fields, beside, paint } = people
  const { subject, sample, state } = one
  line(paint('bold', `${plain(one.id)}  ${plain(one.action)}`))
  if (sample !== null) beside('  ', plain(`${sample.code}: ${sample.message}`))
  fields([
    ['state', plain(workOrderText(one))],
    ['result', state.status === 'resolved' || state.status === 'wont_fix' ? plain(state.result) : null],
    ['severity', one.severity],
    ['runbook', one.runbook === null ? null : plain(one.runbook)],
    ['due', one.dueAt === null ? null : `${relativeTime(one.dueAt, now)} (${isoTime(one.dueAt)})`],
    ['opened', `${relativeTime(one.openedAt, now)} (${isoTime(one.openedAt)})`],
    ['last death', relativeTime(one.lastDeathAt, now)],
    ['dead now', one.dead],
    [
      'about',
      subject.kind === 'task' ? `task ${plain(subject.taskId)}` : `failure group ${plain(subject.fingerprint)}`,
    ],
  ])
  for (const ticket of one.tickets) beside('  outside: ', plain(ticketText(ticket)))
  if (context !== null) tellContext(context, people)
  for (const { at, by, text } of one.comments) beside(`  ${relativeTime(at, now)}: `, plain(`${text} (${by})`))
  for (const past of one.past)
    beside('  before: ', plain(`${past.result} (${past.by}, ${relativeTime(past.since, now)})`))
  for (const past of one.similar) beside('  similar: ', plain(`${past.id}: ${past.result}`))
  if (one.dead === 0) return
  line()
  line(`  See the cause:  reprise groups cause ${plain(subject.fingerprint)}`)
  const [runbook] = context?.runbooks ?? []
  if (runbook !== undefined) line(`  Follow advice:  reprise runbook show ${plain(runbook.name)}`)
  line(`  Send it back:   reprise redrive start --fingerprint ${plain(subject.fingerprint)} --reason '…'`)
}

/** What is known about the failure: the last attempts of one task, and what is around it. */
function tellContext({ task, payload, chain, workers, breakers, contrasts, runbooks }: Context, people: People): void {
  const { line, beside } = people
  if (task !== null) {
    line()
    beside('  task: ', plain(`${task.id} (tenant ${task.tenant}, pool ${task.pool}) is ${task.status}`))
    beside('  payload: ', plain(JSON.stringify(payload).slice(0, PAYLOAD_SHOWN_MAX)))
  }
  for (const { attempt, status, code, message, worker, version } of chain) {
    const where = worker === null ? '' : ` on ${worker}${version === null ? '' : ` (version ${version})`}`
    beside(`  attempt ${attempt}: `, plain(`${status}${where}${code === null ? '' : `, ${code}: ${message}`}`))
  }
  for (const sentence of contrasts) beside('  different: ', plain(sentence))
  const { healthy, degraded, unhealthy, shown } = workers
  const all = healthy + degraded + unhealthy
  const counts = `${healthy} healthy, ${degraded} degraded, ${unhealthy} unhealthy`
  beside('  workers: ', all === 0 ? 'none that could run it' : counts)
  for (const { worker, status, reasons } of shown.filter((each) => each.status !== 'healthy')) {
    beside('  worker: ', plain(`${worker} is ${status}${reasons.length === 0 ? '' : `: ${reasons.join(', ')}`}`))
  }
  for (const { name, status } of breakers) beside('  breaker: ', plain(`${name} is ${status.replace('_', ' ')}`))
  for (const { name, suggested, runs, succeeded } of runbooks) {
    beside('  runbook: ', plain(`${name}, because ${suggested}; it helped ${succeeded} of ${runs} times`))
  }
}

function ticketText({ system, ticket, url, status, isThere, isClosed, error }: Detail['tickets'][number]): string {
  if (!isThere) return `${system}: not made yet${error === null ? '' : `. ${error}`}`
  const how = status ?? (isClosed ? 'closed' : 'open')
  return `${system}: ${ticket ?? 'a ticket'} is ${how}${url === null ? '' : ` (${url})`}`
}

type Figures = OperationOutput<'measureWorkOrders'>

export function tellFigures(found: Figures, { fields, beside }: People): void {
  const { because } = found
  fields([
    ['since', isoTime(found.from)],
    ['opened', found.opened],
    ['completed', `${found.completed}${found.completed === 0 ? '' : ` (${reasonsOf(because)})`}`],
    ['open for', found.medianOpenMs === null ? null : `${shortSpan(found.medianOpenMs)} (median)`],
    ['open now', `${found.open} (${found.unowned} without owner, ${found.overdue} past due)`],
    ['tracked', `${found.tracked} of ${found.causes} causes (${Math.floor(found.share * 1_000) / 10} %)`],
  ])
  for (const { system, wanted, there, failing } of found.systems) {
    beside('  outside: ', plain(`${system} has ${there} of ${wanted}${failing === 0 ? '' : `; ${failing} fail`}`))
  }
  if (!found.isComplete) beside('  ', 'There are more work orders than were looked at.')
}

const reasonsOf = (because: Figures['because']): string =>
  Object.entries(because)
    .map(([why, count]) => `${count} ${why}`)
    .join(', ')
