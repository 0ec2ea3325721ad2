// Submits over HTTP, so that a lost reply does no harm: every task has its id before it is sent, a request that got no answer
// is sent again, and a task that is then found as a duplicate of itself counts as accepted. One task goes by itself, several
// as lines of JSON.

import {
  type ErrorCode,
  errorOf,
  isErrorCode,
  isRepriseError,
  KEY_FOREVER_MS,
  notReprise,
  path,
  present,
  type RepriseError,
  reworded,
  type SubmitResult,
  TaskConflictError,
  type TaskDifference,
  type TaskId,
  type TaskSettings,
  type Transport,
} from '@reprise/core'
import type { OperationOutput } from '@reprise/operations'
import type { Submission } from '../backend.ts'
import { objectOf, parsedObject } from './answers.ts'
import { textLines } from './text-lines.ts'

interface LineWire {
  readonly line: number
  readonly id?: TaskId
  readonly outcome: SubmitResult['outcome'] | 'refused'
  readonly differs?: readonly TaskDifference[]
  readonly code?: string
  readonly detail?: string
}

/** What became of one line. */
type LineEnd =
  | { readonly outcome: 'done'; readonly result: SubmitResult }
  | { readonly outcome: 'refused'; readonly error: RepriseError }

/** How long lines may take to come, once the answer has begun. */
const IDLE_MS = 60_000
const ROUNDS_MAX = 5

export async function submitOver(
  transport: Transport,
  submissions: readonly Submission[],
): Promise<readonly SubmitResult[]> {
  const [only] = submissions
  if (only === undefined) return []
  return submissions.length === 1 ? [await submitOne(transport, only)] : submitLines(transport, submissions)
}

async function submitOne(transport: Transport, submission: Submission): Promise<SubmitResult> {
  const request = {
    method: 'POST',
    path: '/api/v1/tasks',
    text: { type: 'application/json', text: submissionText(submission) },
    isRepeatable: true,
  } as const
  const answer = await transport.call(request).catch(conflictIn)
  if ('outcome' in answer) return answer
  const { body, repeats } = answer
  const result = objectOf<SubmitResult>(body, transport.serverName)
  return repeats === 0 ? result : own(transport, submission, result)
}

/** What the store would have answered, from the error that a server makes of it. */
function conflictIn(error: unknown): SubmitResult {
  if (!(error instanceof TaskConflictError)) throw error
  return { outcome: 'conflict', id: error.taskId as TaskId, differs: error.differs }
}

/** Sends what has no answer yet, until everything has one. */
async function submitLines(transport: Transport, submissions: readonly Submission[]): Promise<readonly SubmitResult[]> {
  const ends = new Map<Submission, LineEnd>()
  let open = submissions
  let repeats = 0
  for (let round = 1; open.length > 0; round++) {
    const cutOff = await sendLines(transport, open, repeats, ends)
    const left = submissions.filter((one) => !ends.has(one))
    if (left.length > 0 && (cutOff === null || round === ROUNDS_MAX)) throw cutOff ?? notReprise(transport.serverName)
    open = left
    repeats++
  }
  return resultsOf(submissions, ends)
}

/** Null if the answer came to its end. */
async function sendLines(
  transport: Transport,
  open: readonly Submission[],
  earlier: number,
  ends: Map<Submission, LineEnd>,
): Promise<RepriseError | null> {
  const { clock, serverName } = transport
  const stream = await transport.open({
    method: 'POST',
    path: '/api/v1/tasks/bulk',
    text: { type: 'application/x-ndjson', text: open.map((one) => `${submissionText(one)}\n`).join('') },
    isRepeatable: true,
  })
  try {
    for await (const text of textLines(stream, { clock, serverName, idleMs: IDLE_MS })) {
      if (text === '') continue
      const line = parsedObject<LineWire>(text, serverName)
      // A server that stops says so in the place of what it has not taken.
      if (line.outcome === 'refused' && line.code === 'REPRISE_UNREACHABLE') {
        return errorOf(line.code, line.detail ?? `${serverName} stopped.`)
      }
      const submission = open[line.line - 1]
      if (submission !== undefined) await note(transport, submission, line, earlier + stream.repeats, ends)
    }
    return null
  } catch (error) {
    // Cut off in the middle of the answer: what it has told counts.
    const isCutOff = isRepriseError(error, 'REPRISE_UNREACHABLE') || isRepriseError(error, 'REPRISE_TIMED_OUT')
    if (!isCutOff) throw error
    return error
  }
}

async function note(
  transport: Transport,
  submission: Submission,
  line: LineWire,
  repeats: number,
  ends: Map<Submission, LineEnd>,
): Promise<void> {
  if (line.outcome === 'refused') {
    const code: ErrorCode = isErrorCode(line.code) ? line.code : 'REPRISE_INTERNAL'
    ends.set(submission, { outcome: 'refused', error: errorOf(code, line.detail ?? 'The task was refused.') })
    return
  }
  const { outcome, id = submission.id, differs = [] } = line
  const result: SubmitResult = outcome === 'conflict' ? { outcome, id, differs } : { outcome, id }
  ends.set(submission, {
    outcome: 'done',
    result: repeats === 0 ? result : await own(transport, submission, result),
  })
}

/** After a repeat, a duplicate may be the very task of the request that was answered to nobody. */
async function own(transport: Transport, submission: Submission, result: SubmitResult): Promise<SubmitResult> {
  // The server stores the id of a caller who is limited to tenants in the namespace of the tenant: `@acme~order-17`.
  const isSame = result.id === submission.id || result.id.endsWith(`~${submission.id}`)
  if (result.outcome !== 'duplicate' || !isSame) return result
  const accepted: SubmitResult = { outcome: 'accepted', id: result.id }
  // An id that was drawn here is the retry token as well, and nobody else's.
  if (submission.retryToken === (submission.id as string)) return accepted
  const found = await transport.ask({
    method: 'GET',
    path: path`/api/v1/tasks/${result.id}`,
    isRepeatable: true,
  })
  // Who may submit and not read can't be told: then it is what the server calls it.
  if ('error' in found) return result
  const task = objectOf<OperationOutput<'getTask'>>(found.body, transport.serverName)
  return task.retryToken === submission.retryToken ? accepted : result
}

function resultsOf(submissions: readonly Submission[], ends: ReadonlyMap<Submission, LineEnd>): SubmitResult[] {
  const refused: { readonly index: number; readonly error: RepriseError }[] = []
  const results: SubmitResult[] = []
  for (const [index, submission] of submissions.entries()) {
    const end = ends.get(submission)
    if (end?.outcome === 'done') results.push(end.result)
    else if (end !== undefined) refused.push({ index, error: end.error })
  }
  const [first] = refused
  if (first === undefined) return results
  const others = submissions.length - refused.length
  if (others === 0) throw first.error
  throw reworded(
    first.error,
    `Of ${submissions.length} tasks ${refused.length} were refused, the first at place ${first.index}: ${first.error.message} The other ${others} were taken.`,
  )
}

/** The submission as the API takes it. The payload goes in as the text that it is. */
function submissionText(submission: Submission): string {
  const { id, action, pool, tenant, payload, labels, priority, settings, retryToken } = submission
  const { delayMs, dueAt, deadlineAt, deadlineMs } = submission
  const head = JSON.stringify({
    id,
    action,
    priority,
    retryToken,
    ...dedupeText(submission),
    ...present({ tenant, pool, runAt: dueAt, deadlineAt, deadline: deadlineMs }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(delayMs === 0 ? {} : { delay: delayMs }),
    ...(submission.notify === true || settings?.notify === true ? { notify: true } : {}),
    ...(settings === null ? {} : { settings: settingsOf(settings, submission.leftOpen) }),
  })
  return `${head.slice(0, -1)},"payload":${payload}}`
}

function dedupeText({ dedupeKey: key, dedupeMs }: Submission) {
  if (key === null) return {}
  if (dedupeMs === undefined) return { dedupeKey: key }
  return { dedupe: { key, until: dedupeMs === KEY_FOREVER_MS ? 'forever' : dedupeMs } }
}

/** What a submission may say of its settings; the rest, and what it depends on, is as the server knows the action. */
function settingsOf(settings: TaskSettings, leftOpen: Submission['leftOpen']) {
  const { timeoutMs, maxRetries, maxLosses, queueTtlMs, retryUnknown, onLost, slaMs } = settings
  return {
    ...(leftOpen?.includes('timeoutMs') === true ? {} : { timeout: timeoutMs }),
    maxLosses,
    retry: { unknown: retryUnknown, ...present({ max: maxRetries }) },
    ...present({ queueTtl: queueTtlMs, sla: slaMs }),
    ...(onLost === undefined || onLost === 'reconcile' ? {} : { onLost }),
  }
}
