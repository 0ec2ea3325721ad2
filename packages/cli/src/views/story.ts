// A task as a story for people: what was asked, what became of each attempt and why, where it stands, what can be done.

import type { OperationOutput } from '@reprise/client'
import { formatDuration } from '@reprise/core'
import { statusStyle } from '../output/colours.ts'
import type { People } from '../output/output.ts'
import { cutTo, plain, wrapTo } from '../output/plain-text.ts'
import { isoTime, relativeTime } from '../output/times.ts'
import { labelsText, noteOn, type Task } from './task-rows.ts'

type Execution = OperationOutput<'getExecution'>

type AttemptLog = OperationOutput<'taskLogs'>['items'][number]

const VALUE_COLUMNS = 200
const LINES_SHOWN = 5

export interface Story {
  readonly task: Task
  readonly executions: readonly Execution[]
  /** What handlers logged, by attempt. */
  readonly logs: readonly AttemptLog[]
}

/** With all lines of the logs, or the last few of each attempt. */
export function tellStory({ task, executions, logs }: Story, hasAllLines: boolean, now: number, people: People): void {
  const { line, fields, paint, prose } = people
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
    ...(task.policy === undefined ? [] : [['policy', `${plain(task.policy)} (named by a retry)`] as const]),
  ])
  for (const text of noteLines(task.notes, now)) prose(text)
  line()
  if (executions.length === 0) line('No attempt yet.')
  for (const execution of executions) {
    tellAttempt(execution, now, painted, people)
    const log = logs.find(({ attempt }) => attempt === execution.attempt)
    if (log !== undefined) for (const text of logLines(log, hasAllLines)) prose(text, { indent: 4, style: 'dim' })
    if (execution.failure !== null) {
      prose(plain(cutTo(`${execution.failure.code}: ${execution.failure.message}`, VALUE_COLUMNS)), { indent: 4 })
    }
    if (execution.decision !== null) prose(`→ ${plain(execution.decision.sentence)}`, { indent: 4, style: 'dim' })
  }
  line()
  for (const text of endLines(task, executions.at(-1), now)) prose(text)
  if (state.status === 'dead') tellAdvice(task, people)
}

/** The last ones tell most of how it ended. */
function logLines({ lines, dropped }: AttemptLog, hasAll: boolean): readonly string[] {
  const shown = hasAll ? lines : lines.slice(-LINES_SHOWN)
  const left = lines.length - shown.length
  const more = [
    ...(dropped > 0 ? [`${dropped} earlier lines were not kept`] : []),
    ...(left > 0 ? [`${left} earlier lines: --logs shows them`] : []),
  ]
  return [
    ...more.map((text) => `… ${text}`),
    ...shown.map(({ at, level, text }) => `${isoTime(at)} ${level.padEnd(5)} ${plain(text)}`),
  ]
}

/** What operators noted, one line each. */
export const noteLines = (notes: Task['notes'], now: number): readonly string[] =>
  (notes ?? []).map(({ text, by, at, id }) => `note  ${plain(text)}  (${plain(by)}, ${relativeTime(at, now)}, ${id})`)

const valueText = (value: unknown): string => cutTo(JSON.stringify(value) ?? 'null', VALUE_COLUMNS)

function tellAttempt(
  execution: Execution,
  now: number,
  painted: (status: string) => string,
  { line, columns }: People,
): void {
  const { attempt, status, worker, build, dispatchedAt, resolvedAt, retryReason } = execution
  const what = build === null ? '' : ` (version ${plain(build.version)}, host ${plain(build.host)})`
  const who = worker === null ? 'in the queue' : `on ${plain(worker)}${what}`
  const took = resolvedAt === null ? 'still running' : `after ${formatDuration(resolvedAt - dispatchedAt)}`
  const why = retryReason === null ? '' : `, ${retryText(retryReason)}`
  const head = `#${attempt}  ${status}  `
  const text = `${who}, ${relativeTime(dispatchedAt, now)}, ${took}${why}`
  const [first = '', ...more] = columns === null ? [text] : wrapTo(text, Math.max(columns - head.length, 1))
  line(`#${attempt}  ${painted(status)}  ${first}`)
  for (const one of more) line(`${' '.repeat(head.length)}${one}`)
}

const retryText = (reason: string): string =>
  reason === 'manual' ? 'a retry that an operator asked for' : `a retry because of ${plain(reason)}`

const waitText = (reason: string): string => (reason === 'manual' ? 'asked for by an operator' : plain(reason))

/** Why a task is dead, in words: codes are for programs. */
const DEAD_WORDS: Readonly<Record<string, string>> = {
  not_retriable: 'the failure is not one that is retried',
  retries_exhausted: 'no automatic retry is left',
  crash_loop: 'it took down its worker too often',
  deadline: 'the next attempt could not make the deadline',
  outcome_unknown: 'its worker vanished, and a person has to look whether it took effect',
  retries_off: 'automatic retries are switched off',
}

/** What can be done about a dead letter. What is said about a command stands beside it, or above where there is no room. */
export function tellAdvice(
  { id, retryable }: Pick<Task, 'id' | 'retryable'>,
  { line, paint, columns }: Pick<People, 'line' | 'paint' | 'columns'>,
): void {
  const verbs = [
    ...(retryable ? [['retry', 'one more attempt'] as const] : []),
    ['redrive', 'from the start, with a fresh budget of retries'] as const,
    ['discard', 'give it up'] as const,
  ]
  line('What can be done:')
  const length = 'reprise redrive '.length + plain(id).length
  const hasRoom = columns === null || Math.max(...verbs.map(([, says]) => says.length)) + length + 6 <= columns
  for (const [verb, says] of verbs) {
    const command = `reprise ${verb} ${plain(id)}`
    const about = paint('dim', `# ${says}`)
    if (!hasRoom) line(`  ${about}`)
    line(hasRoom ? `  ${command.padEnd(length)}  ${about}` : `  ${command}`)
  }
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** In the words of the decision itself, if its attempt is at hand. */
export function deadText(reason: string, last: Pick<Execution, 'decision'> | undefined): string {
  const decision = last?.decision ?? null
  if (decision?.kind === 'dead') return plain(decision.sentence)
  return `${DEAD_WORDS[reason] ?? plain(reason)}.`
}

function endLines(task: Task, last: Execution | undefined, now: number): readonly string[] {
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
      return [`Dead, ${relativeTime(state.at, now)} (${plain(state.reason)}). ${capital(deadText(state.reason, last))}`]
    case 'discarded':
    case 'cancelled':
      return [`${state.status === 'cancelled' ? 'Cancelled' : 'Discarded'} ${relativeTime(state.at, now)}.`]
  }
}

/** An operator's retry that goes out by a queue, as far as it has come. */
export function queueRetryText(retry: NonNullable<OperationOutput<'explainTask'>['queueRetry']>, now: number): string {
  const { queue, attempt, state, askedAt, failures, nextTryAt } = retry
  const asked = `A retry (attempt ${attempt}) was asked for ${relativeTime(askedAt, now)}`
  if (state === 'published') return `${asked}. It is in the queue '${queue}', and no orchestrator has taken it yet.`
  const tried = failures === 0 ? '' : ` The queue refused it ${failures} times.`
  const next = nextTryAt === null ? '' : ` The next try: ${relativeTime(nextTryAt, now)}.`
  return `${asked}, and waits to be sent to the queue '${queue}'.${tried}${next}`
}
