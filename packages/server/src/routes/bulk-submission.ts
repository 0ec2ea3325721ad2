// Takes tasks in as lines of JSON: gathers lines into batches, submits each, and answers line by line in their order. A batch
// goes when it is full, when its first line has waited for a moment, and when the server stops. A line that is wrong is
// refused by itself; once the store has failed, the rest is refused without asking it again.

import type { IncomingMessage } from 'node:http'
import { InvalidError, isRepriseError, type SubmitResult, type TaskSpec, type Turns, turnsOf } from '@reprise/core'
import { type Caller, type Context, InputError, parsedInput, SubmissionInput } from '@reprise/operations'
import { parsedJson } from '../http/json-body.ts'
import { problemOf } from '../http/problem.ts'
import type { TenantIntake } from '../tenants/intake.ts'
import { HeldAnswers, type LineAnswer } from './held-answers.ts'
import { LineReader, lineTooLong, type TextLine } from './ndjson.ts'
import { conflictError, isOfAnotherTenant } from './other-tenants.ts'
import { admitted, type Submission, submittedTask } from './submission.ts'

/** Nobody should hold the store for long: a batch is sent when it has this number of tasks, or this much text. */
const BATCH_TASKS_MAX = 200
const BATCH_LENGTH_MAX = 1_000_000
/** How long a line waits for others to go with it. */
const BATCH_WAIT_MS = 200

interface Refusal {
  readonly code: string
  readonly detail: string
}

type Line = { readonly line: number; readonly spec: TaskSpec } | { readonly line: number; readonly refused: Refusal }

export interface BulkCaller {
  readonly caller: Caller
  readonly traceparent: string | null
  /** Fires when the caller has gone, or the server stops. */
  readonly signal: AbortSignal
}

export async function* submittedLines(
  context: Context,
  intake: TenantIntake,
  request: IncomingMessage,
  caller: BulkCaller,
): AsyncGenerator<LineAnswer, void, undefined> {
  const answers = new HeldAnswers()
  const unread = new AbortController()
  const reader = new LineReader(request, context.clock, AbortSignal.any([caller.signal, unread.signal]))
  const taking = new BulkSubmission(context, intake, caller, reader, answers).run().finally(() => answers.end())
  try {
    yield* answers.read()
    await taking
  } finally {
    unread.abort()
    answers.end()
    reader.close()
  }
}

class BulkSubmission {
  readonly #context: Context
  readonly #intake: TenantIntake
  readonly #caller: BulkCaller
  readonly #reader: LineReader
  readonly #answers: HeldAnswers
  readonly #turns: Turns
  #batch: Line[] = []
  #length = 0
  /** When the batch has to go at the latest, on the monotonic clock. */
  #goesAt = 0
  /** Why nothing more is taken. */
  #failed: Refusal | null = null

  constructor(context: Context, intake: TenantIntake, caller: BulkCaller, reader: LineReader, answers: HeldAnswers) {
    this.#context = context
    this.#intake = intake
    this.#caller = caller
    this.#reader = reader
    this.#answers = answers
    this.#turns = turnsOf(context.clock)
  }

  async run(): Promise<void> {
    try {
      while (await this.#step());
    } catch (error) {
      // The status is sent already: what went wrong with the rest is told in a line of its own, after those before it.
      const { line } = this.#reader
      await this.#flush()
      await this.#answers.hold([refused(line, refusalOf(error))])
    }
    // Not waited for: the answer may be read, and end.
    void this.#reader.leave()
  }

  /** Whether more may come. */
  async #step(): Promise<boolean> {
    const { clock } = this.#context
    const waitMs = this.#batch.length === 0 ? null : Math.max(this.#goesAt - clock.monotonic(), 0)
    const arrival = await this.#reader.next(waitMs)
    if (typeof arrival !== 'string') {
      for (const one of arrival) await this.#take(one)
      if (this.#batch.length > 0 && clock.monotonic() >= this.#goesAt) await this.#flush()
      return true
    }
    await this.#flush()
    if (arrival === 'stopped') await this.#answers.hold([refused(this.#reader.line, STOPPING)])
    return arrival === 'quiet'
  }

  async #take(one: TextLine): Promise<void> {
    // Lines that came together would hold up everybody else.
    if (this.#turns.isSpent) await this.#turns.wait()
    if (this.#batch.length === 0) this.#goesAt = this.#context.clock.monotonic() + BATCH_WAIT_MS
    this.#batch.push(await this.#read(one))
    this.#length += one.text?.length ?? 0
    if (this.#batch.length >= BATCH_TASKS_MAX || this.#length >= BATCH_LENGTH_MAX) await this.#flush()
  }

  async #read({ line, text }: TextLine): Promise<Line> {
    if (this.#failed !== null) return { line, refused: this.#failed }
    const { catalogue, wishes } = this.#context
    const { caller, traceparent } = this.#caller
    try {
      if (text === null) throw lineTooLong()
      const submission = submissionOf(text)
      const action = catalogue.known(submission.action) ?? (await catalogue.find(submission.action))
      const look = wishes.look()
      if (look !== null) await look
      const spec = submittedTask(submission, { caller, action, wishes, idempotencyKey: null, traceparent })
      const admission = admitted(spec, submission, this.#context.room, caller)
      if (admission !== undefined) await admission
      return { line, spec }
    } catch (error) {
      return { line, refused: this.#refusal(error) }
    }
  }

  #refusal(error: unknown): Refusal {
    const refusal = refusalOf(error)
    if (isOfStore(error)) this.#failed ??= refusal
    return refusal
  }

  async #flush(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    this.#length = 0
    await this.#answers.hold(await this.#answersTo(batch))
  }

  /** In the order of the lines, whatever became of each. */
  async #answersTo(batch: readonly Line[]): Promise<readonly LineAnswer[]> {
    const specs = batch.flatMap((one) => ('spec' in one ? [one.spec] : []))
    const results = await this.#submit(specs)
    let next = 0
    return batch.map((one) => {
      if ('refused' in one) return refused(one.line, one.refused)
      const result = results[next++]
      if (result === undefined || 'code' in result) return refused(one.line, result ?? INTERNAL)
      return { line: one.line, ...result }
    })
  }

  async #submit(specs: readonly TaskSpec[]): Promise<readonly (SubmitResult | Refusal)[]> {
    const failed = this.#failed
    if (failed !== null) return specs.map(() => failed)
    if (specs.length === 0) return []
    try {
      const { caller, signal } = this.#caller
      const outcomes = await this.#intake.submit(caller, specs, signal)
      return outcomes.map((one): SubmitResult | Refusal => {
        if (isRepriseError(one)) return refusalOf(one)
        const isHidden = one.outcome === 'conflict' && isOfAnotherTenant(one, caller)
        return isHidden ? refusalOf(conflictError(one, caller)) : one
      })
    } catch (error) {
      // The batch was refused whole.
      const refusal = this.#refusal(error)
      return specs.map(() => refusal)
    }
  }
}

function submissionOf(text: string): Submission {
  try {
    return parsedInput(SubmissionInput, parsedJson(text), () => 'line')
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    const [first] = error.problems
    throw new InvalidError(`The line is not valid. ${first?.path ?? ''}: ${first?.message ?? ''}`)
  }
}

const INTERNAL: Refusal = {
  code: 'REPRISE_INTERNAL',
  detail: 'Something went wrong inside. This line and what follows was not taken.',
}

const STOPPING: Refusal = {
  code: 'REPRISE_UNREACHABLE',
  detail: 'The server stops. This line and what follows was not taken: send it again in a moment.',
}

const refused = (line: number, { code, detail }: Refusal): LineAnswer => ({ line, outcome: 'refused', code, detail })

/** Whether asking the store for the next line would end the same way. */
const isOfStore = (error: unknown): boolean =>
  !isRepriseError(error) || (error.status >= 500 && error.code !== 'REPRISE_BACKLOG_FULL')

function refusalOf(error: unknown): Refusal {
  if (!isRepriseError(error) || error.status === 500) return INTERNAL
  // In the words that any route would use: what the store says of itself is for the log.
  const { code, detail } = problemOf(error, '').body
  return { code, detail }
}
