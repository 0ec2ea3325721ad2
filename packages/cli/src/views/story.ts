// A task as a story for people: what was asked, what became of each attempt and why, where it stands, what can be done.

import type { OperationOutput } from '@reprise/client'
import { formatDuration, operatorMayRetry } from '@reprise/core'
import { statusStyle } from '../output/colours.ts'
import type { People } from '../output/output.ts'
import { cutTo, plain } from '../output/plain-text.ts'
import { isoTime, relativeTime } from '../output/times.ts'
import { noteOn, type Task } from './task-rows.ts'

export type Execution = OperationOutput<'getExecution'>

const VALUE_COLUMNS = 200

export function tellStory(
  task: Task,
  executions: readonly Execution[],
  now: number,
  { line, fields, paint }: People,
): void {
  const { state, action } = task
  const painted = (status: string): string => {
    const style = statusStyle(status)
    return style === null ? status : paint(style, status)
  }
  line(`${paint('bold', plain(task.id))}  ${plain(action)}  ${painted(state.status)}`)
  fields([
    ['accepted', `${isoTime(task.acceptedAt)} (${relativeTime(task.acceptedAt, now)})`],
    ['lane', `${task.pool} / ${action} / ${task.tenant}`],
    ['payload', valueText(task.payload)],
    ...(Object.keys(task.labels).length === 0 ? [] : [['labels', labelsText(task.labels)] as const]),
    ...(task.dedupeKey === null ? [] : [['dedupe key', task.dedupeKey] as const]),
    ...(task.deadlineAt === null ? [] : [['deadline', relativeTime(task.deadlineAt, now)] as const]),
    ...(task.generation === 1 ? [] : [['generation', task.generation] as const]),
  ])
  for (const text of noteLines(task.notes, now)) line(text)
  line()
  if (executions.length === 0) line('No attempt yet.')
  for (const execution of executions) {
    line(attemptText(execution, now, painted(execution.status)))
    if (execution.failure !== null) {
      line(`    ${plain(cutTo(`${execution.failure.code}: ${execution.failure.message}`, VALUE_COLUMNS))}`)
    }
    if (execution.decision !== null) line(`    ${paint('dim', `→ ${plain(execution.decision.sentence)}`)}`)
  }
  line()
  for (const text of endLines(task, now)) line(text)
}

/** What operators noted, one line each. */
export const noteLines = (notes: Task['notes'], now: number): readonly string[] =>
  (notes ?? []).map(({ text, by, at, id }) => `note  ${plain(text)}  (${plain(by)}, ${relativeTime(at, now)}, ${id})`)

const valueText = (value: unknown): string => cutTo(JSON.stringify(value) ?? 'null', VALUE_COLUMNS)

const labelsText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')

function attemptText(execution: Execution, now: number, status: string): string {
  const { attempt, worker, dispatchedAt, resolvedAt, retryReason } = execution
  const who = worker === null ? 'in the queue' : `on ${plain(worker)}`
  const took = resolvedAt === null ? 'still running' : `after ${formatDuration(resolvedAt - dispatchedAt)}`
  const why = retryReason === null ? '' : `, ${retryText(retryReason)}`
  return `#${attempt}  ${status}  ${who}, ${relativeTime(dispatchedAt, now)}, ${took}${why}`
}

const retryText = (reason: string): string =>
  reason === 'manual' ? 'a retry that an operator asked for' : `a retry because of ${plain(reason)}`

const waitText = (reason: string): string => (reason === 'manual' ? 'asked for by an operator' : plain(reason))

/** Why a task is dead, in words: codes are for programs. */
const DEAD_WORDS: Readonly<Record<string, string>> = {
  not_retriable: 'the failure is not one that is retried',
  retries_exhausted: 'every automatic retry was used',
  crash_loop: 'it took down its worker too often',
  deadline: 'the next attempt could not make the deadline',
  outcome_unknown: 'its worker vanished, and a person has to look whether it took effect',
  retries_off: 'automatic retries are switched off',
}

/** What can be done about a dead letter. How many retries a server allows is its own business: this goes by the usual number. */
export function deadAdvice({ id, settings, failures, losses }: Task): readonly string[] {
  const mayRetry = operatorMayRetry(settings, { failures, losses })
  const verbs = [
    ...(mayRetry ? [['retry', 'one more attempt'] as const] : []),
    ['redrive', 'from the start, with a fresh budget of retries'] as const,
    ['discard', 'give it up'] as const,
  ]
  return verbs.map(([verb, says]) => `  ${`reprise ${verb} ${plain(id)}`.padEnd(16 + plain(id).length)}  # ${says}`)
}

export const deadText = (reason: string): string => DEAD_WORDS[reason] ?? plain(reason)

function endLines(task: Task, now: number): readonly string[] {
  const { state } = task
  const id = plain(task.id)
  switch (state.status) {
    case 'queued':
      return [`Queued ${relativeTime(state.since, now)}. What it waits for:`, `  reprise explain ${id}`]
    case 'waiting':
      return [
        `Runs ${state.dueAt > now ? relativeTime(state.dueAt, now) : 'as soon as it can'} (${waitText(state.reason)}). Sooner:`,
        `  reprise promote ${id}`,
      ]
    case 'running':
      return [`Started ${relativeTime(state.startedAt, now)} on ${plain(noteOn(task, now) ?? '')}.`]
    case 'succeeded':
      return [`Succeeded ${relativeTime(state.at, now)}: ${plain(valueText(state.result))}`]
    case 'dead':
      return [
        `Dead, ${relativeTime(state.at, now)}: ${deadText(state.reason)} (${plain(state.reason)}). What can be done:`,
        ...deadAdvice(task),
      ]
    case 'discarded':
    case 'cancelled':
      return [`${state.status === 'cancelled' ? 'Cancelled' : 'Discarded'} ${relativeTime(state.at, now)}.`]
  }
}
