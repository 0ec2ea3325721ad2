// Submits over HTTP, so that a lost reply does no harm: every task has its id before it is sent, a request that got no answer
// is sent again, and a task that is then found as a duplicate of itself counts as accepted. One task goes by itself, several
// as lines of JSON.

import {
  type BreakerRef,
  type ErrorCode,
  isRepriseError,
  type RepriseError,
  type SubmitResult,
  type TaskId,
  type TaskSettings,
} from '@reprise/core'
import type { OperationOutput } from '@reprise/operations'
import type { Submission } from '../backend.ts'
import { path } from './address.ts'
import { objectOf, parsedObject } from './answers.ts'
import { errorOf, isErrorCode, notReprise, reworded } from './problems.ts'
import { textLines } from './text-lines.ts'
import type { Transport } from './transport.ts'

interface LineWire {
  readonly line: number
  readonly id?: TaskId
  readonly outcome: SubmitResult['outcome'] | 'refused'
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

export class Submissions {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  async submit(submissions: readonly Submission[]): Promise<readonly SubmitResult[]> {
    const [only] = submissions
    if (only === undefined) return []
    return submissions.length === 1 ? [await this.#submitOne(only)] : this.#submitLines(submissions)
  }

  async #submitOne(submission: Submission): Promise<SubmitResult> {
    const { body, repeats } = await this.#transport.call({
      method: 'POST',
      path: '/api/v1/tasks',
      text: { type: 'application/json', text: submissionText(submission) },
      isRepeatable: true,
    })
    const result = objectOf<SubmitResult>(body, this.#transport.serverName)
    return repeats === 0 ? result : this.#own(submission, result)
  }

  /** Sends what has no answer yet, until everything has one. */
  async #submitLines(submissions: readonly Submission[]): Promise<readonly SubmitResult[]> {
    const ends = new Map<Submission, LineEnd>()
    let open = submissions
    let repeats = 0
    for (let round = 1; open.length > 0; round++) {
      const cutOff = await this.#sendLines(open, repeats, ends)
      const left = submissions.filter((one) => !ends.has(one))
      if (left.length > 0 && (cutOff === null || round === ROUNDS_MAX))
        throw cutOff ?? notReprise(this.#transport.serverName)
      open = left
      repeats++
    }
    return resultsOf(submissions, ends)
  }

  /** Null if the answer came to its end. */
  async #sendLines(
    open: readonly Submission[],
    earlier: number,
    ends: Map<Submission, LineEnd>,
  ): Promise<RepriseError | null> {
    const { clock, serverName } = this.#transport
    const stream = await this.#transport.open({
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
        if (submission !== undefined) await this.#note(submission, line, earlier + stream.repeats, ends)
      }
      return null
    } catch (error) {
      // Cut off in the middle of the answer: what it has told counts.
      const isCutOff = isRepriseError(error, 'REPRISE_UNREACHABLE') || isRepriseError(error, 'REPRISE_TIMED_OUT')
      if (!isCutOff) throw error
      return error
    }
  }

  async #note(submission: Submission, line: LineWire, repeats: number, ends: Map<Submission, LineEnd>): Promise<void> {
    if (line.outcome === 'refused') {
      const code: ErrorCode = isErrorCode(line.code) ? line.code : 'REPRISE_INTERNAL'
      ends.set(submission, { outcome: 'refused', error: errorOf(code, line.detail ?? 'The task was refused.') })
      return
    }
    const result: SubmitResult = { outcome: line.outcome, id: line.id ?? submission.id }
    ends.set(submission, {
      outcome: 'done',
      result: repeats === 0 ? result : await this.#own(submission, result),
    })
  }

  /** After a repeat, a duplicate may be the very task of the request that was answered to nobody. */
  async #own(submission: Submission, result: SubmitResult): Promise<SubmitResult> {
    if (result.outcome === 'accepted' || result.id !== submission.id) return result
    const accepted: SubmitResult = { outcome: 'accepted', id: result.id }
    // An id that was drawn here is the retry token as well, and nobody else's.
    if (submission.retryToken === (submission.id as string)) return accepted
    const found = await this.#transport.ask({
      method: 'GET',
      path: path`/api/v1/tasks/${result.id}`,
      isRepeatable: true,
    })
    // Who may submit and not read can't be told: then it is what the server calls it.
    if ('error' in found) return result
    const task = objectOf<OperationOutput<'getTask'>>(found.body, this.#transport.serverName)
    return task.retryToken === submission.retryToken ? accepted : result
  }
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
  const { id, action, pool, tenant, payload, labels, priority, settings, retryToken, dedupeKey } = submission
  const { delayMs, dueAt, deadlineAt, deadlineMs } = submission
  const head = JSON.stringify({
    id,
    action,
    priority,
    retryToken,
    ...(tenant === null ? {} : { tenant }),
    ...(pool === null ? {} : { pool }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(dedupeKey === null ? {} : { dedupeKey }),
    ...(delayMs === 0 ? {} : { delay: delayMs }),
    ...(dueAt === null ? {} : { runAt: dueAt }),
    ...(deadlineAt === null ? {} : { deadlineAt }),
    ...(deadlineMs === null ? {} : { deadline: deadlineMs }),
    ...(settings === null ? {} : { settings: settingsOf(settings) }),
  })
  return `${head.slice(0, -1)},"payload":${payload}}`
}

/** What a submission may say of its settings; the rest is as the server knows the action. */
function settingsOf(settings: TaskSettings) {
  const { timeoutMs, maxRetries, lossesMax, queueTtlMs, retryUnknown, onLost, slaMs, breakers } = settings
  return {
    timeout: timeoutMs,
    lossesMax,
    retryUnknown,
    ...(maxRetries === null ? {} : { maxRetries }),
    ...(queueTtlMs === null ? {} : { queueTtl: queueTtlMs }),
    ...(onLost === undefined || onLost === 'reconcile' ? {} : { onLost }),
    ...(slaMs === undefined ? {} : { sla: slaMs }),
    ...(breakers === undefined ? {} : dependenciesOf(breakers)),
  }
}

const DEPENDENCY = 'dependency:'

/** A breaker of the action alone has no name that a submission could give. */
function dependenciesOf(breakers: readonly BreakerRef[]): { readonly dependsOn?: readonly string[] } {
  const names = breakers.flatMap(({ name }) => (name.startsWith(DEPENDENCY) ? [name.slice(DEPENDENCY.length)] : []))
  return names.length === 0 ? {} : { dependsOn: names }
}
