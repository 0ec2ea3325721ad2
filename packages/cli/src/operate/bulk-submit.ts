// Submits a file of tasks, one JSON object per line, in the form of the API. It is read twice: first every line is checked, so
// that nothing is submitted if one is wrong; then they go out in order, a few hundred at a time, each with what became of it.

import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Client, SubmitOptions } from '@reprise/client'
import { SubmissionInput } from '@reprise/contract'
import type { Invocation } from '../frame/invocation.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
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
  readonly outcome: 'accepted' | 'duplicate'
}

const BATCH = 500
const PROBLEMS_SHOWN = 5
/** So many actions, by their first task, are looked at for whether anybody takes them. */
const LOOKED_AT_MAX = 10

export async function submitLines(invocation: Invocation, file: string, action: string | null): Promise<ExitCode> {
  const { output } = invocation
  const total = await checkedCount(await source(invocation, file), action)
  const client = await invocation.connect()
  const progress = output.progress('submitted')
  const results: LineResult[] = []
  let done = 0
  let duplicates = 0
  const firsts = new Map<string, string>()
  try {
    for await (const batch of batches(await source(invocation, file), action)) {
      for (const result of await submitBatch(client, batch, done)) {
        if (result.outcome === 'duplicate') duplicates++
        else if (firsts.size < LOOKED_AT_MAX && !firsts.has(batch[0]?.action ?? ''))
          firsts.set(batch[0]?.action ?? '', result.id)
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
    output.one(results, ({ line }) => line(`${done - duplicates} tasks submitted, ${duplicates} were there already.`))
  }
  for (const id of firsts.values()) await noteIfNobodyTakes(invocation, client, id)
  return EXIT.ok
}

type Source = AsyncIterable<string> | Iterable<string>

/** Opened anew each time: standard input is kept, a file is not. */
async function source({ host }: Invocation, file: string): Promise<Source> {
  if (file === '-') {
    const text = kept.get(host) ?? (await host.stdin.text())
    kept.set(host, text)
    return text.split('\n')
  }
  const stream = createReadStream(resolve(host.cwd, file))
  await new Promise<void>((opened, failed) => {
    stream.once('open', () => opened())
    stream.once('error', (error) =>
      failed(
        new CommandError(`The file ${file} can't be read: ${error.message}`, { exitCode: EXIT.usage, cause: error }),
      ),
    )
  })
  return createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })
}
const kept = new WeakMap<object, string>()

async function checkedCount(lines: Source, action: string | null): Promise<number> {
  const problems: string[] = []
  let count = 0
  let number = 0
  for await (const text of lines) {
    number++
    if (text.trim() === '') continue
    count++
    const line = lineOf(text, number, action)
    if (typeof line === 'string') problems.push(line)
  }
  if (problems.length > 0) {
    const more = problems.length > PROBLEMS_SHOWN ? `\n  and ${problems.length - PROBLEMS_SHOWN} more` : ''
    throw new CommandError(
      `Of ${count} lines ${problems.length} can't be submitted, so none was:\n  ${problems.slice(0, PROBLEMS_SHOWN).join('\n  ')}${more}`,
      { exitCode: EXIT.usage, hint: `Each line is a JSON object such as {"action":"greet","payload":{"name":"Ann"}}.` },
    )
  }
  return count
}

async function* batches(lines: Source, action: string | null): AsyncGenerator<readonly Line[]> {
  let batch: Line[] = []
  let number = 0
  for await (const text of lines) {
    number++
    if (text.trim() === '') continue
    const line = lineOf(text, number, action)
    if (typeof line === 'string') throw new CommandError(`The file has changed: ${line}`)
    // A batch is of one action.
    if (batch.length === BATCH || (batch.length > 0 && batch[0]?.action !== line.action)) {
      yield batch
      batch = []
    }
    batch.push(line)
  }
  if (batch.length > 0) yield batch
}

async function submitBatch(client: Client, batch: readonly Line[], done: number): Promise<readonly LineResult[]> {
  const [first] = batch
  if (first === undefined) return []
  const last = batch.at(-1)?.number ?? first.number
  try {
    const tasks = await client.submitMany(
      first.action,
      batch.map(({ payload }) => payload),
      (_, index) => batch[index]?.options ?? {},
    )
    return tasks.map(({ id, accepted }, index) => ({
      line: batch[index]?.number ?? 0,
      id,
      outcome: accepted ? 'accepted' : 'duplicate',
    }))
  } catch (error) {
    if (error instanceof Error) {
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
    return `${where}: it is not JSON: ${error instanceof Error ? error.message : ''}`
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
    ...(runAt === undefined ? {} : { runAt: new Date(runAt) }),
    ...(deadlineAt === undefined ? {} : { deadline: new Date(deadlineAt) }),
    ...(deadline === undefined ? {} : { deadline }),
  }
  return { number, action: name, payload, options: withoutUndefined(options) }
}

type Issue = NonNullable<ReturnType<typeof SubmissionInput.safeParse>['error']>['issues'][number]

/** What the schema found, in the words of this command line. */
function problemText(where: string, line: object, issue: Issue): string {
  const field = issue.path.join('.')
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => `'${field === '' ? '' : `${field}.`}${key.slice(0, 40)}'`)
    return `${where}: there is no field ${names.join(', ')}`
  }
  const given = issue.path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    line,
  )
  if (given === undefined) return field === 'action' ? `${where} names no action` : `${where}: ${field} is missing`
  if (issue.code === 'invalid_type')
    return `${where}: ${field} must be ${kindText(issue.expected)}, not ${kindOf(given)}`
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

/** What is not given is missing, not undefined. */
function withoutUndefined<T extends object>(fields: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
