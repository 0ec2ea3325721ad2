// What cancel, redrive, discard and promote have in common: which tasks are meant, a count before anything happens, a question
// before much happens at once, progress while it happens, and a word on tasks that were named and could not be changed.

import { NotFoundError, type TaskStatus } from '@reprise/core'
import type { Invocation } from '../command/invocation.ts'
import { reasonOf, scopeOf } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import { scopeText } from '../views/gates.ts'
import { askedQuery } from './query.ts'

export interface Change {
  readonly verb: 'cancel' | 'redrive' | 'discard' | 'promote'
  /** As in `12 tasks cancelled.` */
  readonly done: string
  /** Only tasks in one of these can be changed so. */
  readonly from: readonly TaskStatus[]
}

const STEP = 500
const SAMPLES = 5

type Selection = ReturnType<typeof selectionOf>
type Target = { readonly ids: string[] } | { readonly q: string } | Selection | { readonly all: true }

/** What a change would do. */
interface Tried {
  readonly matched: number
  readonly byAction: readonly { readonly action: string; readonly count: number }[]
  readonly samples: readonly { readonly id: string; readonly action: string; readonly tenant: string }[]
}

export async function changeTasks(
  invocation: Invocation,
  change: Change,
  ids: readonly string[] = invocation.arguments,
): Promise<ExitCode> {
  const { options } = invocation
  const { verb } = change
  const given = options.text('query')
  const query = given === undefined ? undefined : askedQuery(invocation, [given])
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
  if (invocation.options.flag('dry-run')) {
    const tasks = await statuses(invocation, ids)
    const matched = ids.filter((id) => change.from.some((status) => status === tasks.get(id)))
    showDone(invocation, change, { changed: [], matched: matched.length })
    return unchangedExit(invocation, change, tasks, ids, new Set(matched))
  }
  const changed = await changedOf(invocation, change, inSteps(ids), ids.length)
  showDone(invocation, change, { changed, matched: changed.length })
  const done = new Set(changed)
  const others = ids.filter((id) => !done.has(id))
  return unchangedExit(invocation, change, await statuses(invocation, others), ids, done)
}

async function changeFound(invocation: Invocation, change: Change, q: string): Promise<ExitCode> {
  const target = { q }
  const meant = await triedOn(invocation, change, target)
  return changeIfAgreed(invocation, change, { target, meant, words: `found by ${q}` })
}

async function changeSelected(invocation: Invocation, change: Change, selection: Selection): Promise<ExitCode> {
  const { fingerprint } = selection
  const target = Object.keys(selection).length === 0 ? { all: true as const } : selection
  const meant = await triedOn(invocation, change, target)
  // None in the scope may be right; none anywhere is a fingerprint that was mistyped, or is of the past.
  if (meant.matched === 0 && fingerprint !== undefined) {
    if ((await triedOn(invocation, change, { fingerprint })).matched === 0) {
      throw new NotFoundError('failure group', fingerprint)
    }
  }
  return changeIfAgreed(invocation, change, { target, meant, words: selectionText(selection) })
}

/** A dry run of the operation, to its end. */
async function triedOn({ api, output }: Invocation, { verb }: Change, target: Target): Promise<Tried> {
  const { pages } = await import('@reprise/client')
  const progress = output.progress('found')
  const actions = new Map<string, number>()
  const samples: Tried['samples'][number][] = []
  let matched = 0
  try {
    for await (const step of pages(api[`${verb}Tasks`], { ...target, dryRun: true })) {
      matched += step.matched ?? 0
      for (const { action, count } of step.byAction ?? []) actions.set(action, (actions.get(action) ?? 0) + count)
      samples.push(...(step.samples ?? []).slice(0, SAMPLES - samples.length))
      progress.update(matched, null)
    }
  } finally {
    progress.end()
  }
  const byAction = [...actions].map(([action, count]) => ({ action, count })).sort((a, b) => b.count - a.count)
  return { matched, byAction, samples }
}

interface Meant {
  readonly target: Target
  readonly meant: Tried
  readonly words: string
}

async function changeIfAgreed(invocation: Invocation, change: Change, asked: Meant): Promise<ExitCode> {
  const { target, meant, words } = asked
  const { matched } = meant
  if (matched === 0 || invocation.options.flag('dry-run')) {
    showDone(invocation, change, { changed: [], ...meant })
    return EXIT.ok
  }
  if (!(await invocation.confirm(`${capital(change.verb)} ${tasksText(matched)} (${words})?`))) return EXIT.error
  showDone(invocation, change, { changed: await changedOf(invocation, change, [target], matched), ...meant })
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
  const call = invocation.api[`${verb}Tasks`]
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

async function statuses(
  invocation: Invocation,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TaskStatus | null>> {
  const client = await invocation.connect()
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
const ACTIONS_MAX = 10

function showDone(
  { output, options }: Invocation,
  { verb, done }: Change,
  { changed, matched, byAction = [], samples = [] }: Partial<Tried> & Pick<Tried, 'matched'> & Done,
): void {
  const dryRun = options.flag('dry-run')
  const tried = dryRun ? { byAction, samples } : {}
  output.one({ changed, next: null, matched, dryRun, ...tried }, ({ line }) => {
    line(dryRun ? `Would ${verb} ${tasksText(matched)}.` : `${tasksText(changed.length)} ${done}.`)
    for (const id of changed.slice(0, SHOWN_MAX)) line(`  ${plain(id)}`)
    if (changed.length > SHOWN_MAX) line(`  and ${changed.length - SHOWN_MAX} more`)
    if (!dryRun) return
    for (const { action, count } of byAction.slice(0, ACTIONS_MAX)) line(`  ${count} of ${plain(action)}`)
    if (byAction.length > ACTIONS_MAX) line(`  and of ${byAction.length - ACTIONS_MAX} more actions`)
    if (samples.length > 0) line(samples.length < matched ? 'Among them:' : 'They are:')
    for (const { id, action, tenant } of samples) line(`  ${plain(id)}  ${plain(action)}  ${plain(tenant)}`)
  })
}

interface Done {
  readonly changed: readonly string[]
}

const tasksText = (count: number): string => `${count} ${count === 1 ? 'task' : 'tasks'}`
const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)
