// From core's types to what the API shows: JSON text becomes JSON, tokens of leases are left out, and what a rule redacts
// is redacted. Used by the server and by the command line, so that both show the same.

import {
  decodeJson,
  type Execution,
  type Explanation,
  type Failure,
  type FailureGroup,
  type JsonText,
  type Progress,
  retryChain,
  type Snapshot,
  type Task,
  type TaskState,
} from '@reprise/core'
import type { z } from 'zod'
import type { FailureGroupView } from './schemas/operations.ts'
import type {
  ExecutionView,
  ExplanationView,
  FailureView,
  SnapshotView,
  TaskStateView,
  TaskView,
} from './schemas/task.ts'

/** What must not be seen is taken out of values and texts by this. */
export interface Redaction {
  value(json: unknown): unknown
  text(text: string): string
}

/** Shows everything. */
export const NO_REDACTION: Redaction = { value: (json) => json, text: (text) => text }

const shown = (text: JsonText | null, redaction: Redaction): unknown =>
  text === null ? null : redaction.value(decodeJson(text))

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

function labelsView(labels: Snapshot['labels'], redaction: Redaction): Record<string, string> {
  const redacted = redaction.value(labels)
  return typeof redacted === 'object' && redacted !== null ? { ...redacted } : {}
}

function snapshotView(snapshot: Snapshot, redaction: Redaction): z.output<typeof SnapshotView> {
  const { id, action, pool, tenant, payload, labels, priority, settings, retryToken, dedupeKey, deadlineAt } = snapshot
  return {
    id,
    action,
    pool,
    tenant,
    payload: shown(payload, redaction),
    labels: labelsView(labels, redaction),
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

function stateView(state: TaskState, redaction: Redaction): z.output<typeof TaskStateView> {
  switch (state.status) {
    case 'running': {
      const { token: _, progress, ...rest } = state
      return { ...rest, progress: progressView(progress, redaction) }
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

export function taskView(task: Task, redaction: Redaction = NO_REDACTION): z.output<typeof TaskView> {
  const { acceptedAt, generation, attempt, failures, losses, parks, deferrals } = task
  return {
    ...snapshotView(task, redaction),
    acceptedAt,
    generation,
    attempt,
    failures,
    losses,
    parks,
    deferrals,
    state: stateView(task.state, redaction),
  }
}

export function executionView(
  execution: Execution,
  redaction: Redaction = NO_REDACTION,
): z.output<typeof ExecutionView> {
  const { taskId, attempt, generation, status, worker, dispatchedAt, resolvedAt, errorCode, retryReason, decision } =
    execution
  return {
    taskId,
    attempt,
    generation,
    status,
    worker,
    dispatchedAt,
    resolvedAt,
    errorCode: errorCode === null ? null : redaction.text(errorCode),
    errorMessage: execution.errorMessage === null ? null : redaction.text(execution.errorMessage),
    retryReason,
    failure: execution.failure === null ? null : failureView(execution.failure, redaction),
    decision: decision === null ? null : { ...decision, sentence: redaction.text(decision.sentence) },
    taskSnapshot: snapshotView(execution.taskSnapshot, redaction),
    chain: {
      ...retryChain(execution),
      previousExecution: attempt > 1 ? { taskId, attempt: attempt - 1 } : null,
    },
  }
}

interface ExplanationOptions {
  /** False for those who may not list workers: which there are is left out. */
  readonly showWorkers?: boolean
}

export function explanationView(
  { task, summary, gates, workers, nextAt }: Explanation,
  redaction: Redaction = NO_REDACTION,
  { showWorkers = true }: ExplanationOptions = {},
): z.output<typeof ExplanationView> {
  return {
    task: taskView(task, redaction),
    summary: summaryView(summary, gates, redaction),
    gates: gates.map((gate) =>
      gate.kind === 'paused' ? { ...gate, by: { ...gate.by, reason: redaction.text(gate.by.reason) } } : { ...gate },
    ),
    workers: showWorkers
      ? workers.map(({ worker, verdict, reasons }) => ({ worker, verdict, reasons: [...reasons] }))
      : [],
    nextAt,
  }
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
