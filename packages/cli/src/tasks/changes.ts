// What cancel, redrive, discard and promote have in common: which tasks are meant, a count before anything happens, a question
// before much happens at once, progress while it happens, and a word on tasks that were named and could not be changed.

import type { Client } from '@reprise/client'
import { NotFoundError, type TaskStatus } from '@reprise/core'
import type { Invocation } from '../command/invocation.ts'
import { listed } from '../command/rows.ts'
import { reasonOf, scopeOf } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import { scopeText } from '../views/gates.ts'
import { termOf } from './query.ts'

export interface Change {
  readonly verb: 'cancel' | 'redrive' | 'discard' | 'promote'
  /** As in `12 tasks cancelled.` */
  readonly done: string
  /** Only tasks in one of these can be changed so. */
  readonly from: readonly TaskStatus[]
}

const STEP = 500

type Selection = ReturnType<typeof selectionOf>
type Target = { readonly ids: string[] } | Selection | { readonly all: true }
export async function changeTasks(invocation: Invocation, change: Change): Promise<ExitCode> {
  const { arguments: ids, options } = invocation
  const { verb } = change
  const query = options.text('query')
  const selection = selectionOf(invocation)
  const ways = [ids.length > 0, query !== undefined, Object.keys(selection).length > 0, options.flag('all')]
  if (ways.filter(Boolean).length !== 1) {
    throw usageError(
      ways.includes(true)
        ? 'Tasks are named in one way only: by ids, --query, options such as --action, or --all.'
        : 'Which tasks? Nothing says so.',
      `reprise ${verb} <id>, reprise ${verb} --query '…', or see 'reprise ${verb} --help'.`,
    )
  }
  if (ids.length > 0) return changeNamed(invocation, change, [...new Set(ids)])
  return query === undefined ? changeSelected(invocation, change, selection) : changeFound(invocation, change, query)
}

const selectionOf = ({ options }: Invocation) => ({ ...scopeOf(options), ...options.given('fingerprint') })

function selectionText({ fingerprint, ...scope }: Selection): string {
  const isNarrow = Object.keys(scope).length > 0
  return [
    ...(isNarrow || fingerprint === undefined ? [scopeText(scope)] : []),
    ...(fingerprint === undefined ? [] : [`failure group ${fingerprint}`]),
  ].join(', ')
}

async function changeNamed(invocation: Invocation, change: Change, ids: readonly string[]): Promise<ExitCode> {
  const client = await invocation.connect()
  if (invocation.options.flag('dry-run')) {
    const tasks = await statuses(client, ids)
    const matched = ids.filter((id) => change.from.some((status) => status === tasks.get(id)))
    showDone(invocation, change, { changed: [], matched: matched.length })
    return unchangedExit(invocation, change, tasks, ids, new Set(matched))
  }
  const changed = await changedOf(invocation, change, inSteps(ids), ids.length)
  showDone(invocation, change, { changed, matched: changed.length })
  const done = new Set(changed)
  const others = ids.filter((id) => !done.has(id))
  return unchangedExit(invocation, change, await statuses(client, others), ids, done)
}

async function changeFound(invocation: Invocation, change: Change, query: string): Promise<ExitCode> {
  const client = await invocation.connect()
  const q = `${query} status:${change.from.join(',')}`
  const progress = invocation.output.progress('found')
  const { items } = await listed((page) => client.listTasks({ q, ...page }), { limit: Infinity, progress })
  const targets = inSteps(items.map(({ id }) => id))
  return changeIfAgreed(invocation, change, { targets, matched: items.length, words: `found by ${query}` })
}

async function changeSelected(invocation: Invocation, change: Change, selection: Selection): Promise<ExitCode> {
  const client = await invocation.connect()
  const { fingerprint } = selection
  const matched = await countOf(client, change, selection)
  // None in the scope may be right; none anywhere is a fingerprint that was mistyped, or is of the past.
  if (matched === 0 && fingerprint !== undefined && (await countOf(client, change, { fingerprint })) === 0) {
    throw new NotFoundError('failure group', fingerprint)
  }
  const targets = [Object.keys(selection).length === 0 ? { all: true as const } : selection]
  return changeIfAgreed(invocation, change, { targets, matched, words: selectionText(selection) })
}

interface Meant {
  readonly targets: readonly Target[]
  readonly matched: number
  readonly words: string
}

async function changeIfAgreed(invocation: Invocation, change: Change, meant: Meant): Promise<ExitCode> {
  const { targets, matched, words } = meant
  if (matched === 0 || invocation.options.flag('dry-run')) {
    showDone(invocation, change, { changed: [], matched })
    return EXIT.ok
  }
  if (!(await invocation.confirm(`${capital(change.verb)} ${tasksText(matched)} (${words})?`))) return EXIT.error
  showDone(invocation, change, { changed: await changedOf(invocation, change, targets, matched), matched })
  return EXIT.ok
}

const inSteps = (ids: readonly string[]): readonly Target[] =>
  Array.from({ length: Math.ceil(ids.length / STEP) }, (_, step) => ({
    ids: ids.slice(step * STEP, (step + 1) * STEP),
  }))

/** Makes the change, step by step, and gives the ids of the tasks that it changed. */
async function changedOf(
  invocation: Invocation,
  { verb }: Change,
  targets: readonly Target[],
  total: number,
): Promise<readonly string[]> {
  const { pages } = await import('@reprise/client')
  const call = (await invocation.connect())[`${verb}Tasks`]
  const progress = invocation.output.progress(verb)
  const changed: string[] = []
  try {
    for (const target of targets) {
      for await (const step of pages(call, { ...target, ...reasonOf(invocation.options), limit: STEP })) {
        changed.push(...step.changed)
        progress.update(changed.length, total)
      }
    }
  } finally {
    progress.end()
  }
  return changed
}

/** Kept counters tell it at once; a failure group is counted by looking. */
async function countOf(client: Client, { from }: Change, selection: Selection): Promise<number> {
  const { fingerprint, ...scope } = selection
  if (fingerprint === undefined) {
    const counts = await client.counts(scope)
    return from.reduce((sum, status) => sum + counts[status], 0)
  }
  const q = ['status:dead', ...Object.entries(selection).map(([field, value]) => termOf(field, value))].join(' ')
  return (await listed((page) => client.listTasks({ q, ...page }), { limit: Infinity })).items.length
}

async function statuses(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, TaskStatus | null>> {
  const found = new Map<string, TaskStatus | null>()
  for (const id of ids) found.set(id, (await client.task(id).get())?.state.status ?? null)
  return found
}

/** Each task that was named and is not changed is told of; the worst of it decides. */
function unchangedExit(
  { output }: Invocation,
  { verb, from }: Change,
  tasks: ReadonlyMap<string, TaskStatus | null>,
  ids: readonly string[],
  changed: ReadonlySet<string>,
): ExitCode {
  let exitCode: ExitCode = EXIT.ok
  for (const id of ids) {
    if (changed.has(id)) continue
    const status = tasks.get(id) ?? null
    output.warn(
      status === null
        ? `There is no task '${id}'.`
        : `Task '${id}' is ${status}: ${verb} is for tasks that are ${from.join(', ')}.`,
    )
    if (status === null) exitCode = EXIT.notFound
    else if (exitCode === EXIT.ok) exitCode = EXIT.conflict
  }
  return exitCode
}

const SHOWN_MAX = 20

function showDone(
  { output, options }: Invocation,
  { verb, done }: Change,
  { changed, matched }: { readonly changed: readonly string[]; readonly matched: number },
): void {
  const dryRun = options.flag('dry-run')
  output.one({ changed, next: null, matched, dryRun }, ({ line }) => {
    line(dryRun ? `Would ${verb} ${tasksText(matched)}.` : `${tasksText(changed.length)} ${done}.`)
    for (const id of changed.slice(0, SHOWN_MAX)) line(`  ${plain(id)}`)
    if (changed.length > SHOWN_MAX) line(`  and ${changed.length - SHOWN_MAX} more`)
  })
}

const tasksText = (count: number): string => `${count} ${count === 1 ? 'task' : 'tasks'}`
const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)
