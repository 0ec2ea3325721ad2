// Acceptance: many tasks in one script call. Tasks that agree in lane, priority and settings share a class, so that the
// call carries what they have in common once.

import { BacklogFullError, type SubmitResult, type TaskId, type TaskSettings, type TaskSpec } from '@reprise/core'
import { asList, type Partition } from './partition.ts'
import { textRest } from './records.ts'
import { submitScript } from './scripts.generated.ts'

/** The dedupe key of a task; in a store with several partitions, the ticket in its place. */
export type KeyOf = (spec: TaskSpec) => string | null

/** The calls take effect one after the other, each whole or not at all. A refused one answers with its error. */
export async function submit(
  partition: Partition,
  calls: readonly (readonly TaskSpec[])[],
  backlogMax: number,
  keyOf: KeyOf = ({ dedupeKey }) => dedupeKey,
): Promise<readonly (readonly SubmitResult[] | BacklogFullError)[]> {
  const answers = asList(await partition.run(submitScript, submitArguments(calls, backlogMax, keyOf)))
  const exceptions = new Map<number, string>()
  for (let at = 0; at < answers.length; at += 2) exceptions.set(Number(answers[at]), String(answers[at + 1]))
  let place = 0
  return calls.map((specs) => {
    const first = exceptions.get(place) ?? ''
    const refusal = first.startsWith(REFUSED) ? first.slice(REFUSED.length).split(' ') : null
    const results = specs.map(({ id }): SubmitResult => {
      const holder = exceptions.get(place++)
      return holder === undefined ? { outcome: 'accepted', id } : { outcome: 'duplicate', id: holder as TaskId }
    })
    return refusal === null ? results : new BacklogFullError(Number(refusal[0]), Number(refusal[1]), backlogMax)
  })
}

/** In place of a task id, for a task whose ticket is no good any more. */
export const BARRED = '\r'

/** What a refused call's answers start with. No task id does. */
const REFUSED = '\n'

function submitArguments(calls: readonly (readonly TaskSpec[])[], backlogMax: number, keyOf: KeyOf): string[] {
  const classes = new Classes()
  const runs: string[] = []
  for (const specs of calls) {
    const countAt = runs.push('') - 1
    let count = 0
    let sizeAt = 0
    let size = 0
    let last: TaskSpec | null = null
    let lastExtra = ''
    for (const spec of specs) {
      const extra = extraText(spec, keyOf(spec))
      if (last === null || extra !== lastExtra || !isSameClass(last, spec)) {
        if (last !== null) runs[sizeAt] = String(size)
        runs.push(classes.numberOf(spec), extra, '')
        sizeAt = runs.length - 1
        size = 0
        count++
        last = spec
        lastExtra = extra
      }
      runs.push(spec.id, textRest(spec))
      size++
    }
    runs[sizeAt] = String(size)
    runs[countAt] = String(count)
  }
  return [String(backlogMax), String(classes.size), String(calls.length), ...classes.args, ...runs]
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
  const { timeoutMs, maxRetries, lossesMax, queueTtlMs, backoff, retryUnknown, breakers, quota, onLost, slaMs, pack } =
    settings
  const always = { timeoutMs, maxRetries, lossesMax, queueTtlMs, backoff, retryUnknown }
  // Named one by one, so that equal settings are one text; what is missing is left out.
  const text = JSON.stringify({ ...always, breakers, quota, onLost, slaMs, pack } satisfies Complete<TaskSettings>)
  settingsTexts.set(settings, text)
  return text
}

/** What only some tasks have: times and a dedupe key. */
function extraText({ delayMs, dueAt, deadlineAt, deadlineMs }: TaskSpec, key: string | null): string {
  if (delayMs === 0 && dueAt === null && deadlineAt === null && deadlineMs === null && key === null) return ''
  return `${delayMs} ${dueAt ?? '-'} ${deadlineAt ?? '-'} ${deadlineMs ?? '-'} ${key ?? ''}`
}
