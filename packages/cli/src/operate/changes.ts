// What cancel, redrive, discard and promote have in common: which tasks are meant, a count before anything happens, a question
// before much happens at once, progress while it happens, and a word on tasks that were named and could not be changed.

import type { BulkOptions, BulkResult, Client, TaskTarget } from '@reprise/client'
import { NotFoundError, type TaskStatus } from '@reprise/core'
import { type CommandDefinition, DRY_RUN, type Example, type OptionDefinition, YES } from '../frame/definition.ts'
import type { Invocation } from '../frame/invocation.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import { scopeText } from '../views/scopes.ts'
import { byOf, REASON } from './by.ts'
import { SCOPE, scopeOf } from './scope.ts'
import { allFound } from './search.ts'

export interface Change {
  readonly verb: 'cancel' | 'redrive' | 'discard' | 'promote'
  /** As in `12 tasks cancelled.` */
  readonly done: string
  /** Only tasks in one of these can be changed so. */
  readonly from: readonly TaskStatus[]
  /** Whether they can be named by their failure group. */
  readonly byGroup: boolean
  readonly summary: string
  readonly details: string
  readonly examples: readonly [Example, ...Example[]]
}

const STEP = 500

export function changeCommand(change: Change): CommandDefinition {
  const group: OptionDefinition = { flags: '--fingerprint <group>', about: 'Only of this failure group' }
  return {
    path: [change.verb],
    group: 'Operate',
    summary: change.summary,
    details: `${change.details} Tasks are named by their ids, or found by --query or by action, tenant and pool; then it says how many they are and asks.`,
    arguments: [{ name: '[ids...]', about: 'The tasks' }],
    options: [
      { flags: '--query <query>', about: 'Those that this query finds, as for list' },
      ...SCOPE,
      ...(change.byGroup ? [group] : []),
      { flags: '--all', about: 'Every one there is' },
      REASON,
      DRY_RUN,
      YES,
    ],
    examples: change.examples,
    async run(invocation) {
      const meant = meantBy(invocation, change)
      return meant.kind === 'named'
        ? changeNamed(invocation, change, meant.ids)
        : changeFound(invocation, change, meant)
    },
  }
}

type Selection = Exclude<TaskTarget, string | readonly string[]>
type Meant =
  | { readonly kind: 'named'; readonly ids: readonly string[] }
  | { readonly kind: 'query'; readonly query: string; readonly words: string }
  | { readonly kind: 'selection'; readonly selection: Selection; readonly words: string }

function meantBy({ arguments: ids, options }: Invocation, { verb }: Change): Meant {
  const query = options.text('query')
  const fingerprint = options.text('fingerprint')
  const selection = { ...scopeOf(options), ...(fingerprint === undefined ? {} : { fingerprint }) }
  const ways = [ids.length > 0, query !== undefined, Object.keys(selection).length > 0, options.flag('all')]
  if (ways.filter(Boolean).length !== 1) {
    const none = !ways.includes(true)
    throw new CommandError(
      none
        ? `Which tasks? Nothing says so.`
        : 'Tasks are named in one way only: by ids, --query, options such as --action, or --all.',
      {
        exitCode: EXIT.usage,
        hint: `reprise ${verb} <id>, reprise ${verb} --query '…', or see 'reprise ${verb} --help'.`,
      },
    )
  }
  if (ids.length > 0) return { kind: 'named', ids: [...new Set(ids)] }
  if (query !== undefined) return { kind: 'query', query, words: `found by ${query}` }
  const { fingerprint: group, ...scope } = selection
  const isNarrow = Object.keys(scope).length > 0
  const words = [
    ...(isNarrow || group === undefined ? [scopeText(scope)] : []),
    ...(group === undefined ? [] : [`failure group ${group}`]),
  ]
  return { kind: 'selection', selection, words: words.join(', ') }
}

async function changeNamed(invocation: Invocation, change: Change, ids: readonly string[]): Promise<ExitCode> {
  const client = await invocation.connect()
  const { output } = invocation
  if (invocation.options.flag('dry-run')) {
    const tasks = await statuses(client, ids)
    const matched = ids.filter((id) => change.from.some((status) => status === tasks.get(id)))
    showDone(invocation, change, { changed: [], matched: matched.length })
    return unchangedExit(invocation, change, tasks, ids, new Set(matched))
  }
  const progress = output.progress(change.verb)
  const changed: string[] = []
  const by = await byOf(invocation)
  try {
    for (let start = 0; start < ids.length; start += STEP) {
      changed.push(...(await make(client, change, ids.slice(start, start + STEP), by)).changed)
      progress.update(Math.min(start + STEP, ids.length), ids.length)
    }
  } finally {
    progress.end()
  }
  showDone(invocation, change, { changed, matched: changed.length })
  const done = new Set(changed)
  const others = ids.filter((id) => !done.has(id))
  return unchangedExit(invocation, change, await statuses(client, others), ids, done)
}

async function changeFound(
  invocation: Invocation,
  change: Change,
  meant: Exclude<Meant, { readonly kind: 'named' }>,
): Promise<ExitCode> {
  const client = await invocation.connect()
  const found = meant.kind === 'query' ? await idsFound(invocation, change, meant.query) : null
  const matched = found?.length ?? (meant.kind === 'selection' ? await countOf(client, change, meant.selection) : 0)
  if (matched === 0 && meant.kind === 'selection') await refuseUnknownGroup(client, change, meant.selection)
  if (matched === 0 || invocation.options.flag('dry-run')) {
    showDone(invocation, change, { changed: [], matched })
    return EXIT.ok
  }
  const question = `${capital(change.verb)} ${tasksText(matched)} (${meant.words})?`
  if (!(await invocation.confirm(question))) {
    invocation.output.note('Nothing was done.')
    return EXIT.error
  }
  const by = await byOf(invocation)
  const progress = invocation.output.progress(change.verb)
  const changed: string[] = []
  try {
    for await (const step of meant.kind === 'query'
      ? stepsByIds(client, change, found ?? [], by)
      : stepsBySelection(client, change, meant.selection, by)) {
      changed.push(...step)
      progress.update(changed.length, matched)
    }
  } finally {
    progress.end()
  }
  showDone(invocation, change, { changed, matched })
  return EXIT.ok
}

async function* stepsByIds(
  client: Client,
  change: Change,
  ids: readonly string[],
  by: BulkOptions,
): AsyncGenerator<readonly string[]> {
  for (let start = 0; start < ids.length; start += STEP) {
    yield (await make(client, change, ids.slice(start, start + STEP), by)).changed
  }
}

async function* stepsBySelection(
  client: Client,
  change: Change,
  selection: Selection,
  by: BulkOptions,
): AsyncGenerator<readonly string[]> {
  let cursor: string | null = null
  do {
    const place: BulkOptions = { ...by, limit: STEP, ...(cursor === null ? {} : { cursor }) }
    const result: BulkResult = await make(client, change, selection, place)
    yield result.changed
    cursor = result.next
  } while (cursor !== null)
}

function make(client: Client, { verb }: Change, target: TaskTarget, options: BulkOptions): Promise<BulkResult> {
  return client[verb](target, options)
}

async function idsFound(invocation: Invocation, { from }: Change, query: string): Promise<readonly string[]> {
  const progress = invocation.output.progress('found')
  const ids: string[] = []
  try {
    for await (const task of allFound(await invocation.connect(), `${query} status:${from.join(',')}`)) {
      ids.push(task.id)
      progress.update(ids.length, null)
    }
  } finally {
    progress.end()
  }
  return ids
}

/** Kept counters tell it at once; a failure group is counted by looking. */
async function countOf(client: Client, { from }: Change, { fingerprint, ...scope }: Selection): Promise<number> {
  if (fingerprint === undefined) {
    const counts = await client.counts(scope)
    return from.reduce((sum, status) => sum + counts[status], 0)
  }
  let count = 0
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<Client['list']>> = await client.list({
      ...scope,
      fingerprint,
      status: 'dead',
      limit: 1_000,
      ...(cursor === null ? {} : { cursor }),
    })
    count += page.items.length
    cursor = page.next
  } while (cursor !== null)
  return count
}

/** None in the scope may be right; none anywhere is a fingerprint that was mistyped, or is of the past. */
async function refuseUnknownGroup(client: Client, change: Change, { fingerprint }: Selection): Promise<void> {
  if (fingerprint === undefined || (await countOf(client, change, { fingerprint })) > 0) return
  throw new NotFoundError('failure group', fingerprint)
}

async function statuses(client: Client, ids: readonly string[]): Promise<ReadonlyMap<string, TaskStatus | null>> {
  const found = new Map<string, TaskStatus | null>()
  for (const id of ids) found.set(id, (await client.get(id))?.state.status ?? null)
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
