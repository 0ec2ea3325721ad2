// Acceptance: many tasks in one script call. Tasks that agree in lane, priority and settings share a class, so that the
// call carries what they have in common once.

import {
  BacklogFullError,
  type SubmitResult,
  TASK_DIFFERENCES,
  type TaskDifference,
  type TaskId,
  type TaskSettings,
  type TaskSpec,
} from '@reprise/core'
import { DIFFERENCE_LETTERS } from './layout.ts'
import { asList, type Partition } from './partition.ts'
import { pastText } from './past.ts'
import { textRest } from './records.ts'
import { submitScript } from './scripts.generated.ts'

/** The dedupe key of a task; in a store with several partitions, the ticket in its place. */
export type KeyOf = (spec: TaskSpec) => string | null

/** The calls take effect one after the other, each whole or not at all. A refused one answers with its error. */
export async function submit(
  partition: Partition,
  calls: readonly (readonly TaskSpec[])[],
  maxBacklog: number,
  keyOf: KeyOf = ({ dedupeKey }) => dedupeKey,
): Promise<readonly (readonly SubmitResult[] | BacklogFullError)[]> {
  const answers = asList(await partition.run(submitScript, submitArguments(calls, maxBacklog, keyOf)))
  const exceptions = new Map<number, string>()
  for (let at = 0; at < answers.length; at += 2) exceptions.set(Number(answers[at]), String(answers[at + 1]))
  const [drawn, at, beginning] = exceptions.get(DRAWN)?.split(' ') ?? []
  if (beginning !== undefined) partition.witness.saw(Number(drawn), Number(at), beginning)
  let place = 0
  return calls.map((specs) => {
    const first = exceptions.get(place) ?? ''
    const refusal = first.startsWith(REFUSED) ? first.slice(REFUSED.length).split(' ') : null
    const results = specs.map(({ id }): SubmitResult => {
      const holder = exceptions.get(place++)
      return holder === undefined ? { outcome: 'accepted', id } : parseRepeat(holder)
    })
    return refusal === null ? results : new BacklogFullError(Number(refusal[0]), Number(refusal[1]), maxBacklog)
  })
}

/** What a task hears whose id or key this one has. */
export const repeatOf = (id: TaskId, differs: readonly TaskDifference[]): SubmitResult =>
  differs.length === 0 ? { outcome: 'duplicate', id } : { outcome: 'conflict', id, differs }

/** The same from a script's answer: the id, after letters for in what the two differ. */
function parseRepeat(text: string): SubmitResult {
  if (!text.startsWith(DIFFERING)) return repeatOf(text as TaskId, [])
  const blank = text.indexOf(' ')
  return repeatOf(text.slice(blank + 1) as TaskId, differencesNamed(text.slice(DIFFERING.length, blank)))
}

export const differencesNamed = (letters: string): readonly TaskDifference[] =>
  TASK_DIFFERENCES.filter((part) => letters.includes(DIFFERENCE_LETTERS[part]))

/** The place of what is no task's. */
const DRAWN = -1
const DIFFERING = '\t'

/** In place of a task id, for a task whose ticket is no good any more. */
export const BARRED = '\r'

/** What a refused call's answers start with. No task id does. */
const REFUSED = '\n'

function submitArguments(calls: readonly (readonly TaskSpec[])[], maxBacklog: number, keyOf: KeyOf): string[] {
  const classes = new Classes()
  const runs: string[] = []
  for (const specs of calls) {
    const countAt = runs.push('') - 1
    let count = 0
    let sizeAt = 0
    let size = 0
    let bytes = 0
    let last: TaskSpec | null = null
    let lastExtra = ''
    for (const spec of specs) {
      const extra = extraText(spec, keyOf(spec))
      if (last === null || extra !== lastExtra || !isSameClass(last, spec)) {
        if (last !== null) closeRun(runs, sizeAt, size, bytes)
        runs.push(classes.numberOf(spec), extra, '', '')
        sizeAt = runs.length - 2
        size = 0
        bytes = 0
        count++
        last = spec
        lastExtra = extra
      }
      runs.push(spec.id, textRest(spec))
      size++
      bytes += Buffer.byteLength(spec.payload)
    }
    closeRun(runs, sizeAt, size, bytes)
    runs[countAt] = String(count)
  }
  return [String(maxBacklog), String(classes.size), String(calls.length), ...classes.args, ...runs]
}

/** How many tasks a run has, and how many bytes their payloads. */
function closeRun(runs: string[], at: number, size: number, bytes: number): void {
  runs[at] = String(size)
  runs[at + 1] = String(bytes)
}

/** What many tasks share, numbered from 1 in the order in which it is met. */
class Classes {
  readonly args: string[] = []
  readonly #numbers = new Map<string, string>()

  get size(): number {
    return this.#numbers.size
  }

  numberOf({ pool, action, tenant, priority, settings }: TaskSpec): string {
    const text = settingsText(settings)
    const name = `${pool}\n${action}\n${tenant}\n${priority}\n${text}`
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const number = String(this.#numbers.size + 1)
    this.#numbers.set(name, number)
    this.args.push(pool, action, tenant, String(priority), text)
    return number
  }
}

function isSameClass(a: TaskSpec, b: TaskSpec): boolean {
  return (
    a.pool === b.pool &&
    a.action === b.action &&
    a.tenant === b.tenant &&
    a.priority === b.priority &&
    a.settings === b.settings
  )
}

/** Every field has to be named, so that a new one is not forgotten. */
type Complete<T> = { readonly [Field in keyof Required<T>]: T[Field] | undefined }

// Actions hand out one settings object for all their tasks.
const settingsTexts = new WeakMap<TaskSettings, string>()

export function settingsText(settings: TaskSettings): string {
  const known = settingsTexts.get(settings)
  if (known !== undefined) return known
  const { timeoutMs, maxRetries, maxLosses, queueTtlMs, backoff, retryUnknown } = settings
  const { breakers, quota, onLost, slaMs, pack, runtime, ownTimeout, healthAware, notify } = settings
  const always = { timeoutMs, maxRetries, maxLosses, queueTtlMs, backoff, retryUnknown }
  // Named one by one, so that equal settings are one text; what is missing is left out.
  const seldom = { breakers, quota, onLost, slaMs, pack, runtime, ownTimeout, healthAware, notify }
  const text = JSON.stringify({ ...always, ...seldom } satisfies Complete<TaskSettings>)
  settingsTexts.set(settings, text)
  return text
}

/** What only some tasks have: a past, times and a dedupe key. */
function extraText(spec: TaskSpec, key: string | null): string {
  return spec.past === undefined ? timesText(spec, key) : pastText(spec.action, spec.past) + timesText(spec, key)
}

function timesText({ delayMs, dueAt, deadlineAt, deadlineMs, dedupeMs }: TaskSpec, key: string | null): string {
  if (delayMs === 0 && dueAt === null && deadlineAt === null && deadlineMs === null && key === null) return ''
  return `${delayMs} ${dueAt ?? '-'} ${deadlineAt ?? '-'} ${deadlineMs ?? '-'} ${dedupeMs ?? '-'} ${key ?? ''}`
}
