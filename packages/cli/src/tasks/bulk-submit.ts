// Submits a file of tasks, one JSON object per line, in the form of the API. It is read twice: first every line is checked, so
// that nothing is submitted if one is wrong; then they go out in order, a few hundred at a time, each with what became of it.

import { resolve } from 'node:path'
import type { Client, SubmitOptions, SubmittedTask } from '@reprise/client'
import { messageOf, present } from '@reprise/core'
import { SubmissionInput } from '@reprise/operations'
import type { Invocation } from '../command/invocation.ts'
import { CommandError, usageError } from '../output/errors.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import { fileLines } from './file-lines.ts'
import { noteIfNobodyTakes } from './waiting.ts'

interface Line {
  readonly number: number
  readonly action: string
  readonly payload: unknown
  readonly options: SubmitOptions
}

interface LineResult {
  readonly line: number
  readonly id: string
  readonly outcome: SubmittedTask['outcome']
  readonly differs?: SubmittedTask['differs']
}

const BATCH = 500
const PROBLEMS_SHOWN = 5
/** How many actions, by their first task, are looked at for whether anybody takes them. */
const LOOKED_AT_MAX = 10

export async function submitLines(invocation: Invocation, file: string, action: string | null): Promise<ExitCode> {
  const { output } = invocation
  // Standard input can be read only once.
  const text = file === '-' ? await invocation.host.stdin.text() : null
  const lines = () =>
    linesOf(text === null ? fileLines(resolve(invocation.host.cwd, file), file) : text.split('\n'), action)
  const total = await checkedCount(lines())
  const client = await invocation.connect()
  const progress = output.progress('submitted')
  const results: LineResult[] = []
  let done = 0
  let duplicates = 0
  let conflicts = 0
  const clashing: string[] = []
  const firsts = new Map<string, string>()
  try {
    for await (const batch of batches(lines())) {
      for (const [at, result] of (await submitBatch(client, batch, done)).entries()) {
        const name = batch[at]?.action ?? ''
        if (result.outcome === 'duplicate') duplicates++
        else if (result.outcome === 'conflict') {
          if (++conflicts <= PROBLEMS_SHOWN) clashing.push(plain(result.id))
        } else if (firsts.size < LOOKED_AT_MAX && !firsts.has(name)) firsts.set(name, result.id)
        if (output.format === 'jsonl') output.event(result, () => undefined)
        else if (output.format === 'json') results.push(result)
      }
      done += batch.length
      progress.update(done, total)
    }
  } finally {
    progress.end()
  }
  if (output.format !== 'jsonl') {
    output.one(results, ({ line }) => {
      const submitted = done - duplicates - conflicts
      const were = `${duplicates} ${duplicates === 1 ? 'was' : 'were'} there already`
      line(`${submitted} ${submitted === 1 ? 'task' : 'tasks'} submitted, ${were}.`)
    })
  }
  for (const id of firsts.values()) await noteIfNobodyTakes(invocation, id)
  if (conflicts === 0) return EXIT.ok
  const rest = conflicts > PROBLEMS_SHOWN ? '; -o jsonl names them all' : ''
  output.note(
    `${conflicts} not submitted: other tasks, asked for otherwise, have their ids or dedupe keys (${clashing.join(', ')}${rest}).`,
  )
  return EXIT.conflict
}

/** A text says what is wrong with a line. */
async function* linesOf(
  texts: AsyncIterable<string> | Iterable<string>,
  action: string | null,
): AsyncGenerator<Line | string> {
  let number = 0
  for await (const text of texts) {
    number++
    if (text.trim() !== '') yield lineOf(text, number, action)
  }
}

async function checkedCount(lines: AsyncIterable<Line | string>): Promise<number> {
  const problems: string[] = []
  let count = 0
  for await (const line of lines) {
    count++
    if (typeof line === 'string') problems.push(line)
  }
  if (problems.length === 0) return count
  const more = problems.length > PROBLEMS_SHOWN ? `\n  and ${problems.length - PROBLEMS_SHOWN} more` : ''
  throw usageError(
    `Of ${count} lines ${problems.length} can't be submitted, so none was:\n  ${problems.slice(0, PROBLEMS_SHOWN).join('\n  ')}${more}`,
    `Each line is a JSON object such as {"action":"greet","payload":{"name":"Ann"}}.`,
  )
}

type Batch = [Line, ...Line[]]

/** Actions may be mixed: a batch is one call. */
async function* batches(lines: AsyncIterable<Line | string>): AsyncGenerator<Batch> {
  let batch: Batch | null = null
  for await (const line of lines) {
    if (typeof line === 'string') throw new CommandError(`The file has changed: ${line}`)
    if (batch !== null && batch.length < BATCH) batch.push(line)
    else {
      if (batch !== null) yield batch
      batch = [line]
    }
  }
  if (batch !== null) yield batch
}

async function submitBatch(client: Client, batch: Batch, done: number): Promise<readonly LineResult[]> {
  const [first] = batch
  try {
    const { submission } = await import('@reprise/client')
    const tasks = await client.submitMany(
      batch.map(({ action, payload, options }) => submission(action, payload, options)),
    )
    return tasks.map(({ id, outcome, differs }, index) => ({
      line: batch[index]?.number ?? 0,
      id,
      outcome,
      ...(outcome === 'conflict' ? { differs } : {}),
    }))
  } catch (error) {
    if (error instanceof Error) {
      const last = batch.at(-1)?.number
      error.message = `Lines ${first.number} to ${last}, after ${done} that were submitted: ${error.message}`
    }
    throw error
  }
}

/** A text says what is wrong with it. */
function lineOf(text: string, number: number, action: string | null): Line | string {
  const where = `line ${number}`
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return `${where}: it is not JSON: ${messageOf(error)}`
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${where}: it is not an object`
  const parsed = SubmissionInput.safeParse(action === null ? value : { action, ...value })
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return issue === undefined ? `${where} is not as it should be` : problemText(where, value, issue)
  }
  const { action: name, payload = null, runAt, deadlineAt, deadline, settings, ...rest } = parsed.data
  if (settings !== undefined) return `${where}: settings can only be given through the API`
  if (deadline !== undefined && deadlineAt !== undefined) return `${where}: it has both deadline and deadlineAt`
  const options = {
    ...rest,
    runAt: runAt === undefined ? undefined : new Date(runAt),
    deadline: deadlineAt === undefined ? deadline : new Date(deadlineAt),
  }
  return { number, action: name, payload, options: present(options) }
}

type Issue = NonNullable<ReturnType<typeof SubmissionInput.safeParse>['error']>['issues'][number]

/** What the schema found, in the words of this command line. */
function problemText(where: string, line: object, issue: Issue): string {
  const field = issue.path.join('.')
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => `'${field === '' ? '' : `${field}.`}${key.slice(0, 40)}'`)
    return `${where}: there is no field ${names.join(', ')}`
  }
  const found = issue.path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    line,
  )
  if (found === undefined) return field === 'action' ? `${where} names no action` : `${where}: ${field} is missing`
  if (issue.code === 'invalid_type')
    return `${where}: ${field} must be ${kindText(issue.expected)}, not ${kindOf(found)}`
  return `${where}: ${field}: ${issue.message}`
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
}
const kindText = (kind: string): string => KINDS[kind] ?? kind
const kindOf = (value: unknown): string =>
  value === null ? 'null' : kindText(Array.isArray(value) ? 'array' : typeof value)
