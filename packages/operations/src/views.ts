// From core's types to what the API shows: JSON text becomes JSON, tokens of leases are left out, and what a rule redacts
// is redacted. Used by the server and by the command line, so that both show the same.

import {
  breakerName,
  DEFAULT_MAX_RETRIES,
  decodeJson,
  type Execution,
  type Explanation,
  type ExportedTask,
  type Failure,
  type FailureGroup,
  type Gate,
  type Hold,
  type JsonText,
  type LaneView,
  NO_POLICIES,
  type PolicyBook,
  type Progress,
  present,
  REDACTED,
  retriesInForce,
  retryChain,
  type Snapshot,
  type Task,
  type TaskState,
  type TaskTerms,
  type Turns,
  type WorkerId,
} from '@reprise/core'
import type { z } from 'zod'
import { isOwnGate, knownBreakers, neutralGate, neutralSummary } from './neutral-gates.ts'
import type { FailureGroupView } from './schemas/operations.ts'
import type {
  ExecutionView,
  ExplanationView,
  ExportedTaskView,
  FailureView,
  GateView,
  SnapshotView,
  TaskStateView,
  TaskView,
} from './schemas/task.ts'

/** What must not be seen is taken out of values and texts by this. */
export interface Redaction {
  readonly value: (json: unknown) => unknown
  readonly text: (text: string) => string
  /** The same as `value`, with turns for others in between. */
  readonly paced: (json: unknown, turns: Pick<Turns, 'isSpent' | 'wait'>) => Promise<unknown>
  /** What is shown of long texts that were looked at before. */
  readonly known?: ReadonlyMap<JsonText, unknown>
}

/** How somebody sees tasks. */
export interface Sight extends Redaction {
  /** Whether they may see some tenants only: then workers, and those who hold everything, have no names. */
  readonly isLimited?: boolean
  /** What says how often an operator may retry a task; the settings of the task if missing. */
  readonly rules?: { readonly book: PolicyBook; readonly maxRetries: number }
}

/** Shows everything. */
export const NO_REDACTION: Redaction = { value: (json) => json, text: (text) => text, paced: async (json) => json }

/** From this length on, in characters, the texts of a task or an attempt are looked at beforehand, in steps. */
const LONG_TEXT = 16_384

/** Made ready for the views of this task or attempt: long texts are looked at here, so that a view takes no time. */
export async function preparedFor(
  of: Task | Execution,
  sight: Sight,
  turns: Pick<Turns, 'isSpent' | 'wait'>,
): Promise<Sight> {
  if (!isLong(of)) return sight
  const { json, plain } = textsOf(of)
  const known = new Map<JsonText, unknown>()
  for (const text of json) {
    if (turns.isSpent) await turns.wait()
    known.set(text, await sight.paced(decodeJson(text), turns))
  }
  const shownTexts = new Map<string, string>()
  for (const text of plain) {
    if (turns.isSpent) await turns.wait()
    shownTexts.set(text, String(await sight.paced(text, turns)))
  }
  if (turns.isSpent) await turns.wait()
  return { ...sight, known, text: (text) => shownTexts.get(text) ?? sight.text(text) }
}

/** Whether its views should not be made at once. */
export function isLong(of: Task | Execution): boolean {
  const { json, plain } = textsOf(of)
  let length = 0
  for (const text of json) length += text.length
  for (const text of plain) length += text.length
  return length >= LONG_TEXT
}

interface Texts {
  readonly json: readonly JsonText[]
  readonly plain: readonly string[]
}

function textsOf(of: Task | Execution): Texts {
  if ('taskSnapshot' in of) return withFailure(of.taskSnapshot.payload, of.failure)
  const { payload, state } = of
  if (state.status === 'dead') return withFailure(payload, state.failure)
  return {
    json: state.status === 'succeeded' && state.result !== null ? [payload, state.result] : [payload],
    plain: [],
  }
}

function withFailure(payload: JsonText, failure: Failure | null): Texts {
  if (failure === null) return { json: [payload], plain: [] }
  const { message, stack, details } = failure
  return {
    json: details === null ? [payload] : [payload, details],
    plain: stack === null ? [message] : [message, stack],
  }
}

function shown(text: JsonText | null, redaction: Redaction): unknown {
  if (text === null) return null
  return redaction.known?.has(text) === true ? redaction.known.get(text) : redaction.value(decodeJson(text))
}

export function failureView(failure: Failure, redaction: Redaction): z.output<typeof FailureView> {
  return {
    ...failure,
    code: redaction.text(failure.code),
    name: redaction.text(failure.name),
    message: redaction.text(failure.message),
    stack: failure.stack === null ? null : redaction.text(failure.stack),
    details: shown(failure.details, redaction),
  }
}

/** The texts that its submitter chose, and by which it can be found: shown and searched in this one form. */
function ownTexts({ labels, retryToken, dedupeKey }: Snapshot, redaction: Redaction) {
  const redacted = redaction.value({ labels, retryToken, dedupeKey })
  // What can't even be looked at is not shown.
  const texts = typeof redacted === 'object' ? redacted : { labels: {}, retryToken: REDACTED, dedupeKey: REDACTED }
  return texts as Pick<Snapshot, 'labels' | 'retryToken' | 'dedupeKey'>
}

function snapshotView(snapshot: Snapshot, redaction: Redaction): z.output<typeof SnapshotView> {
  const { id, action, pool, tenant, payload, priority, settings, deadlineAt } = snapshot
  const { labels, retryToken, dedupeKey } = ownTexts(snapshot, redaction)
  return {
    id,
    action,
    pool,
    tenant,
    payload: shown(payload, redaction),
    labels,
    priority,
    settings: { ...settings, backoff: { ...settings.backoff } },
    retryToken,
    dedupeKey,
    deadlineAt,
  }
}

function progressView(progress: Progress | null, redaction: Redaction): Progress | null {
  return progress?.note == null ? progress : { ...progress, note: redaction.text(progress.note) }
}

function stateView(state: TaskState, redaction: Sight): z.output<typeof TaskStateView> {
  switch (state.status) {
    case 'running': {
      const { token: _, progress, ...rest } = state
      return { ...workerHidden(rest, redaction), progress: progressView(progress, redaction) }
    }
    case 'succeeded':
      return { ...state, result: shown(state.result, redaction) }
    case 'dead':
      return { ...state, failure: failureView(state.failure, redaction) }
    case 'queued':
    case 'waiting':
    case 'discarded':
    case 'cancelled':
      return state
  }
}

/** What a worker is called for those who are not told its name. */
const SOME_WORKER = 'worker' as WorkerId

/** What launchers call a worker is a name too, and so are its host and version. */
function workerHidden<T>(record: T, sight: Sight): T {
  if (sight.isLimited !== true || typeof record !== 'object' || record === null) return record
  return {
    ...record,
    ...('worker' in record && typeof record.worker === 'string' ? { worker: SOME_WORKER } : {}),
    ...('handle' in record && typeof record.handle === 'string' ? { handle: null } : {}),
    ...('build' in record ? { build: null } : {}),
  }
}

/** Those who are not told the names of workers find nothing by them: see docs/adr/0023. */
const lastWorkerView = ({ lastWorker }: Task, sight: Sight): Task['lastWorker'] =>
  lastWorker === null || sight.isLimited !== true ? lastWorker : { worker: SOME_WORKER, version: null, host: null }

/** The task with the texts that queries look at as a view shows them. */
export function seenTask(task: Task, sight: Sight): Task {
  return {
    ...task,
    ...ownTexts(task, sight),
    lastWorker: lastWorkerView(task, sight),
    state: seenState(task.state, sight),
  }
}

function seenState(state: TaskState, sight: Sight): TaskState {
  if (state.status === 'running') return workerHidden(state, sight)
  if (state.status !== 'dead') return state
  const { failure } = state
  return { ...state, failure: { ...failure, code: sight.text(failure.code), message: sight.text(failure.message) } }
}

/** What the budget of retries is counted for. */
type Budgeted = Pick<Task, 'failures' | 'policy'> & { readonly terms: TaskTerms; readonly failure: Failure | null }

/** How many retries an operator may ask for: MAX_RETRIES, or what the action or the policies in force allow if that is more. */
export function operatorBudget(
  { terms, failure, policy }: Omit<Budgeted, 'failures'>,
  { book, maxRetries }: NonNullable<Sight['rules']>,
): number {
  return Math.max(maxRetries, terms.settings.maxRetries ?? 0, retriesInForce(book, terms, failure, policy))
}

const NO_RULES = { book: NO_POLICIES, maxRetries: DEFAULT_MAX_RETRIES }

const hasBudget = (of: Budgeted, { rules = NO_RULES }: Sight): boolean => of.failures <= operatorBudget(of, rules)

/** Whether an operator may retry it now (A9): its latest attempt has failed, it is dead or waits, and there is budget left. */
function isRetryable(task: Task, sight: Sight): boolean {
  const { state, failures, losses, deferrals } = task
  if (state.status === 'dead') {
    return state.failure.reason !== 'worker_lost' && hasBudget({ ...task, terms: task, failure: state.failure }, sight)
  }
  if (state.status !== 'waiting' || failures === 0 || state.reason === 'worker_lost') return false
  // Put off after an attempt that may have been lost: the attempts tell.
  if (losses > 0 && deferrals > 0) return false
  return hasBudget({ ...task, terms: task, failure: null }, sight)
}

export function taskView(task: Task, redaction: Sight = NO_REDACTION): z.output<typeof TaskView> {
  const { acceptedAt, generation, attempt, failures, losses, parks, deferrals, policy } = task
  return {
    ...snapshotView(task, redaction),
    acceptedAt,
    generation,
    attempt,
    failures,
    losses,
    parks,
    deferrals,
    ...present({ policy }),
    retryable: isRetryable(task, redaction),
    lastWorker: lastWorkerView(task, redaction),
    state: stateView(task.state, redaction),
  }
}

/** Of the task at this moment, if it is known: whether its latest attempt can be retried. */
export function executionView(
  execution: Execution,
  redaction: Sight = NO_REDACTION,
  task?: Task,
): z.output<typeof ExecutionView> {
  const { taskId, attempt, generation, status, dispatchedAt, resolvedAt, errorCode, retryReason, decision } = execution
  const { worker, build } = workerHidden({ worker: execution.worker, build: execution.build }, redaction)
  return {
    taskId,
    attempt,
    generation,
    status,
    worker,
    build: build === null ? null : { ...build, runtimes: [...build.runtimes] },
    dispatchedAt,
    resolvedAt,
    errorCode: errorCode === null ? null : redaction.text(errorCode),
    errorMessage: execution.errorMessage === null ? null : redaction.text(execution.errorMessage),
    retryReason,
    failure: execution.failure === null ? null : failureView(execution.failure, redaction),
    decision: decision === null ? null : { ...decision, sentence: redaction.text(decision.sentence) },
    retryable:
      task?.attempt === attempt &&
      status === 'failed' &&
      task.generation === generation &&
      isRetryable(task, redaction),
    taskSnapshot: snapshotView(execution.taskSnapshot, redaction),
    chain: {
      ...retryChain(execution, redaction.rules?.book, task?.policy),
      previousExecution: attempt > 1 ? { taskId, attempt: attempt - 1 } : null,
    },
  }
}

function isExportedRetryable({ snapshot, state, attempts, failures }: ExportedTask, sight: Sight): boolean {
  const { status } = state as Pick<TaskState, 'status'>
  const last = attempts.at(-1) as Pick<Execution, 'status' | 'failure'> | undefined
  if (last?.status !== 'failed' || (status !== 'dead' && status !== 'waiting')) return false
  return hasBudget({ failures, terms: snapshot, failure: last.failure }, sight)
}

/** An exported task has attempts and state as they are stored. */
export async function exportedView(
  task: ExportedTask,
  sight: Sight,
  turns: Pick<Turns, 'isSpent' | 'wait'>,
): Promise<z.output<typeof ExportedTaskView>> {
  const { state, attempts } = task
  const hidden = {
    ...task,
    retryable: isExportedRetryable(task, sight),
    state: workerHidden(state, sight),
    attempts: attempts.map((one) => workerHidden(one, sight)),
  }
  // After that: of a task that is too long, not even its form is left.
  const shown = await sight.paced(hidden, turns)
  const view = shown as z.output<typeof ExportedTaskView>
  // An import must not take such a one for the whole task.
  return shown === hidden ? view : { ...view, redacted: true }
}

export function explanationView(
  explanation: Explanation,
  redaction: Sight = NO_REDACTION,
  queueRetry: z.output<typeof ExplanationView>['queueRetry'] = null,
): z.output<typeof ExplanationView> {
  const { task, summary, gates, workers, nextAt } = explanation
  return {
    task: taskView(task, redaction),
    summary: summaryView(redaction.isLimited === true ? neutralSummary(explanation) : summary, gates, redaction),
    gates: gates.map((gate) => gateView(gate, redaction, knownBreakers(task))),
    workers:
      redaction.isLimited === true
        ? []
        : workers.map(({ worker, verdict, reasons }) => ({ worker, verdict, reasons: [...reasons] })),
    nextAt,
    queueRetry,
  }
}

/** A gate that is told without its names may have fewer fields than the store's. */
export function laneView({ gates, ...lane }: LaneView, sight: Sight = NO_REDACTION): LaneView {
  const breakers = [breakerName('action', lane.action)]
  return { ...lane, gates: gates.map((gate) => gateView(gate, sight, breakers) as Gate) }
}

export const holdView = (hold: Hold, sight: Sight): Hold => gateView(hold, sight, []) as Hold

function gateView(gate: Gate, sight: Sight, breakers: readonly string[]): z.output<typeof GateView> {
  if (sight.isLimited === true && !isOwnGate(gate, breakers)) return neutralGate(gate)
  return gate.kind === 'paused' ? { ...gate, by: { ...gate.by, reason: sight.text(gate.by.reason) } } : { ...gate }
}

/** It may name who paused the lanes: `token:deploys` is somebody, and no token. */
function summaryView(summary: string, gates: Explanation['gates'], redaction: Redaction): string {
  const [first] = gates
  const actor = first?.kind === 'paused' ? first.by.actor : ''
  const at = summary.indexOf(actor)
  if (actor === '' || at === -1) return redaction.text(summary)
  return redaction.text(summary.slice(0, at)) + actor + redaction.text(summary.slice(at + actor.length))
}

export function failureGroupView(
  group: FailureGroup,
  redaction: Redaction = NO_REDACTION,
): z.output<typeof FailureGroupView> {
  return { ...group, sample: failureView(group.sample, redaction) }
}
