// Acceptance: many tasks in one script call. Tasks that agree in lane, priority and settings share a class, so that the
// call carries what they have in common once.

import { BacklogFullError, type SubmitResult, type TaskId, type TaskSettings, type TaskSpec } from '@reprise/core'
import { asTexts, type Partition } from './partition.ts'
import { textRest } from './records.ts'
import { submitScript } from './scripts.generated.ts'

/** The calls take effect one after the other, each whole or not at all. A refused one answers with its error. */
export async function submit(
  partition: Partition,
  calls: readonly (readonly TaskSpec[])[],
  backlogMax: number,
): Promise<readonly (readonly SubmitResult[] | BacklogFullError)[]> {
  const holders = asTexts(await partition.run(submitScript, submitArguments(calls, backlogMax)))
  let at = 0
  return calls.map((specs) => {
    const first = holders[at] ?? ''
    const refusal = first.startsWith(REFUSED) ? first.slice(REFUSED.length).split(' ') : null
    const results = specs.map(({ id }): SubmitResult => {
      const holder = holders[at++] ?? ''
      return holder === '' ? { outcome: 'accepted', id } : { outcome: 'duplicate', id: holder as TaskId }
    })
    return refusal === null ? results : new BacklogFullError(Number(refusal[0]), Number(refusal[1]), backlogMax)
  })
}

/** What a refused call's answers start with. No task id does. */
const REFUSED = '\n'

function submitArguments(calls: readonly (readonly TaskSpec[])[], backlogMax: number): string[] {
  const classes = new Map<string, number>()
  const classArguments: string[] = []
  const taskArguments: string[] = []
  let last: TaskSpec | null = null
  let lastClass = '1'
  for (const spec of calls.flat()) {
    if (last === null || !isSameClass(last, spec)) {
      const settings = settingsText(spec.settings)
      const name = `${spec.pool}\n${spec.action}\n${spec.tenant}\n${spec.priority}\n${settings}`
      let number = classes.get(name)
      if (number === undefined) {
        number = classes.size + 1
        classes.set(name, number)
        classArguments.push(spec.pool, spec.action, spec.tenant, String(spec.priority), settings)
      }
      lastClass = String(number)
      last = spec
    }
    taskArguments.push(lastClass, spec.id, textRest(spec), extraText(spec))
  }
  const sizes = calls.map((specs) => String(specs.length))
  return [String(backlogMax), String(classes.size), String(calls.length), ...classArguments, ...sizes, ...taskArguments]
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

// Actions hand out one settings object for all their tasks.
const settingsTexts = new WeakMap<TaskSettings, string>()

export function settingsText(settings: TaskSettings): string {
  const known = settingsTexts.get(settings)
  if (known !== undefined) return known
  const { timeoutMs, maxRetries, lossesMax, queueTtlMs, backoff, retryUnknown } = settings
  const text = JSON.stringify({ timeoutMs, maxRetries, lossesMax, queueTtlMs, backoff, retryUnknown })
  settingsTexts.set(settings, text)
  return text
}

/** What only some tasks have: times and a dedupe key. */
export function extraText({ delayMs, dueAt, deadlineAt, deadlineMs, dedupeKey }: TaskSpec): string {
  if (delayMs === 0 && dueAt === null && deadlineAt === null && deadlineMs === null && dedupeKey === null) return ''
  return `${delayMs} ${dueAt ?? '-'} ${deadlineAt ?? '-'} ${deadlineMs ?? '-'} ${dedupeKey ?? ''}`
}
