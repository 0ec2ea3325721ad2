// reprise lanes: what waits and runs where, and what holds it, also names that no lane has yet; and how to hold, let go and
// limit it.

import type { Hold, LaneView } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { lookedThrough, showList } from '../command/rows.ts'
import {
  LIMIT,
  REASON,
  reasonOf,
  refuseOfList,
  SCOPE,
  scopeOf,
  statedScope,
  verbOf,
  WATCH,
  YES,
} from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import type { Column } from '../output/table.ts'
import { shortSpan } from '../output/times.ts'
import { gateText, scopeText } from '../views/gates.ts'

const CONCURRENCY_MAX = 1_000_000

export const lanes: CommandDefinition = {
  path: ['lanes'],
  group: 'Operate',
  summary: 'List lanes; pause, resume and limit them',
  details:
    'A lane is all tasks of one action and tenant in one pool. Without a verb, the command lists lanes. holds lists every hold and limit, also those on names that no task has yet. pause holds lanes, present and future ones. resume lifts exactly that hold again. limit <count> sets how many tasks may run in all these lanes together (none lifts it). Name the lanes by --action, --tenant, --pool, or --all; the command asks before it holds or limits all lanes.',
  arguments: [
    { name: '[verb]', about: 'holds, pause, resume or limit' },
    { name: '[count]', about: 'For limit: how many may run at once, or none' },
  ],
  options: [...SCOPE, { flags: '--all', about: 'All lanes, for pause, resume and limit' }, REASON, LIMIT, YES, WATCH],
  examples: [
    ['reprise lanes', 'What waits where?'],
    ['reprise lanes holds', 'What is held or limited, and why?'],
    ['reprise lanes pause --action invoice.send --reason "the bank is down"', 'Hold an action'],
    ['reprise lanes resume --action invoice.send', 'Let it go on'],
    ['reprise lanes limit 5 --tenant acme', 'At most five at once for a tenant'],
  ],
  async run(invocation) {
    const [verb, count] = invocation.arguments
    if (verb === undefined) return listLanes(invocation)
    if (verb === 'holds') return listHolds(invocation)
    refuseOfList(invocation, verb)
    if (count !== undefined && verb !== 'limit') {
      throw usageError(
        `'reprise lanes ${verb}' takes no '${count}'.`,
        'Which lanes are meant is said with --action, --tenant, --pool or --all.',
      )
    }
    return verbOf<Verb>('lanes', verb, { pause, resume, limit })(invocation, count)
  },
}

const orderOf = ({ pool, action, tenant }: LaneView): string => `${pool}\0${action}\0${tenant}`

async function listLanes(invocation: Invocation): Promise<undefined> {
  if (invocation.options.flag('all')) {
    throw usageError('--all is for pause, resume and limit: lanes are all listed anyway.')
  }
  const scope = scopeOf(invocation.options)
  await showList(invocation, {
    read: (page) => invocation.api.listLanes({ ...scope, ...page }),
    order: (one, other) => (orderOf(one) < orderOf(other) ? -1 : 1),
    key: orderOf,
    columns,
    none: 'There is no lane yet: nothing was submitted.',
  })
  if (!invocation.options.flag('watch') && Object.keys(scope).length === 0) await noteUnseen(invocation)
}

/** The table shows what is held, lane by lane: a hold on a name that no lane has would go unseen. */
async function noteUnseen({ api, output }: Invocation): Promise<void> {
  const holds = (await lookedThrough(api.listHolds)).filter(isPause)
  if (holds.length === 0) return
  const lanes = await lookedThrough(api.listLanes)
  const unseen = holds.filter(({ scope }) => !lanes.some((lane) => isOn(scope, lane)))
  if (unseen.length === 0) return
  const first = unseen.slice(0, NAMED_MAX).map(({ scope }) => scopeText(scope))
  const more = unseen.length > NAMED_MAX ? ` and ${unseen.length - NAMED_MAX} more` : ''
  output.note(`Held, though no lane has it yet: ${first.join('; ')}${more}. 'reprise lanes holds' tells who and why.`)
}

const NAMED_MAX = 3

const isPause = (hold: Hold) => hold.kind === 'paused'

const isOn = ({ pool, action, tenant }: Hold['scope'], lane: LaneView): boolean =>
  (pool ?? lane.pool) === lane.pool &&
  (action ?? lane.action) === lane.action &&
  (tenant ?? lane.tenant) === lane.tenant

const listHolds = (invocation: Invocation): Promise<undefined> =>
  showList(invocation, {
    read: (page) => invocation.api.listHolds({ ...page }),
    key: ({ kind, scope }) => `${kind} ${JSON.stringify(scope)}`,
    columns: holdColumns,
    none: 'Nothing is held or limited by an operator.',
  })

const holdColumns = (now: number): readonly Column<Hold>[] => [
  { title: 'LANES', value: ({ scope }) => scopeText(scope), flexible: true },
  {
    title: 'WHAT',
    value: (hold) => (hold.kind === 'paused' ? 'held' : `at most ${hold.concurrency}, ${hold.running} run`),
    style: (_, { kind }) => (kind === 'paused' ? 'yellow' : null),
  },
  { title: 'FOR', value: (hold) => (hold.kind === 'paused' ? shortSpan(now - hold.since) : null), right: true },
  { title: 'BY', value: (hold) => (hold.kind === 'paused' ? hold.by.actor : null), flexible: true },
  { title: 'WHY', value: (hold) => (hold.kind === 'paused' ? hold.by.reason : null), flexible: true, below: true },
]

const columns = (now: number): readonly Column<LaneView>[] => [
  { title: 'ACTION', value: ({ action }) => action, flexible: true },
  { title: 'TENANT', value: ({ tenant }) => tenant, flexible: true },
  { title: 'POOL', value: ({ pool }) => pool, flexible: true },
  { title: 'QUEUED', value: ({ counts }) => counts.queued, right: true },
  { title: 'WAITING', value: ({ counts }) => counts.waiting, right: true },
  { title: 'RUNNING', value: ({ counts }) => counts.running, right: true },
  { title: 'DEAD', value: ({ counts }) => counts.dead, right: true, style: (text) => (text === '0' ? null : 'red') },
  {
    title: 'HELD BY',
    value: ({ gates }) => gates.map((gate) => gateText(gate, now)).join('; '),
    flexible: true,
    style: (text) => (text === '-' ? null : 'yellow'),
  },
]

type Verb = (invocation: Invocation, count: string | undefined) => Promise<ExitCode | undefined>

async function pause(invocation: Invocation): Promise<ExitCode> {
  const scope = statedScope(invocation.options, 'lanes')
  // What stops everything is asked about.
  if (scope.all && !(await invocation.confirm('Hold all lanes there are and will be?'))) return EXIT.error
  const answer = await invocation.api.pauseLanes({ ...scope, ...reasonOf(invocation.options) })
  invocation.output.one(answer, ({ line }) => line(`Held: ${wordsOf(invocation)}.`))
  warned(invocation, answer)
  return EXIT.ok
}

async function resume(invocation: Invocation): Promise<undefined> {
  const scope = statedScope(invocation.options, 'lanes')
  const answer = await invocation.api.resumeLanes({ ...scope, ...reasonOf(invocation.options) })
  const words = wordsOf(invocation)
  invocation.output.one(answer, ({ line }) =>
    line(answer.changed ? `No longer held: ${words}.` : `Nothing to do: no hold was put on exactly this (${words}).`),
  )
}

async function limit(invocation: Invocation, count: string | undefined): Promise<ExitCode> {
  const concurrency = concurrencyOf(count)
  const scope = statedScope(invocation.options, 'lanes')
  const question = `Let at most ${concurrency} tasks run at once, of all there are and will be?`
  if (concurrency !== null && scope.all && !(await invocation.confirm(question))) return EXIT.error
  const answer = await invocation.api.limitLanes({ ...scope, concurrency, ...reasonOf(invocation.options) })
  const words = wordsOf(invocation)
  invocation.output.one(answer, ({ line }) =>
    line(concurrency === null ? `No limit any more: ${words}.` : `At most ${concurrency} run at once: ${words}.`),
  )
  warned(invocation, answer)
  return EXIT.ok
}

function warned(
  { output }: Invocation,
  { warnings = [] }: { readonly warnings?: readonly string[] | undefined },
): void {
  for (const warning of warnings) output.warn(warning)
}

const wordsOf = ({ options }: Invocation): string => plain(scopeText(scopeOf(options)))

function concurrencyOf(text: string | undefined): number | null {
  if (text === 'none') return null
  const value = text !== undefined && /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
  if (value <= CONCURRENCY_MAX) return value
  throw usageError(
    text === undefined ? 'How many may run at once? Nothing says so.' : `'${text}' is not a number of tasks.`,
    "'reprise lanes limit 5 --action invoice.send', or none in place of the number.",
  )
}
