// reprise lanes: what waits and runs where, and what holds it; and how to hold, let go and limit it.

import type { LaneView, ScopeQuery } from '@reprise/client'
import { type CommandDefinition, YES } from '../frame/definition.ts'
import type { Invocation } from '../frame/invocation.ts'
import { LIMIT, listed } from '../frame/listing.ts'
import { byOf, REASON } from '../operate/by.ts'
import { showRows } from '../operate/rows.ts'
import { SCOPE, scopeOf, statedScope } from '../operate/scope.ts'
import { refuseBeside, unknownVerb } from '../operate/verbs.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import type { Column } from '../output/table.ts'
import { gateText, scopeText } from '../views/scopes.ts'

const CONCURRENCY_MAX = 1_000_000

export const lanes: CommandDefinition = {
  path: ['lanes'],
  group: 'Operate',
  summary: 'List lanes; pause, resume and limit them',
  details:
    'A lane is all tasks of one action and tenant in one pool. Without a verb they are listed. pause holds lanes, present and future ones, resume lifts exactly that hold again, and limit <count> sets how many tasks may run in all of them together (none lifts it). Which lanes: --action, --tenant, --pool, or --all; before all of them are held or limited, it asks.',
  arguments: [
    { name: '[verb]', about: 'pause, resume or limit' },
    { name: '[count]', about: 'For limit: how many may run at once, or none' },
  ],
  options: [
    ...SCOPE,
    { flags: '--all', about: 'All lanes there are, for pause, resume and limit' },
    REASON,
    LIMIT,
    YES,
    { flags: '-w, --watch', about: 'Keep looking, until interrupted' },
  ],
  examples: [
    { command: 'reprise lanes', says: 'What waits where?' },
    { command: 'reprise lanes pause --action invoice.send --reason "the bank is down"', says: 'Hold an action' },
    { command: 'reprise lanes resume --action invoice.send', says: 'Let it go on' },
    { command: 'reprise lanes limit 5 --tenant acme', says: 'At most five at once for a tenant' },
  ],
  async run(invocation) {
    const [verb, count] = invocation.arguments
    if (verb === undefined) return listLanes(invocation)
    refuseBeside(invocation, verb, ['limit', 'watch'])
    if (count !== undefined && verb !== 'limit') {
      throw new CommandError(`'reprise lanes ${verb}' takes no '${count}'.`, {
        exitCode: EXIT.usage,
        hint: 'Which lanes are meant is said with --action, --tenant, --pool or --all.',
      })
    }
    switch (verb) {
      case 'pause':
        return pause(invocation)
      case 'resume':
        return resume(invocation)
      case 'limit':
        return limit(invocation, concurrencyOf(count))
      default:
        throw unknownVerb('lanes', verb, ['pause', 'resume', 'limit'])
    }
  },
}

const orderOf = ({ pool, action, tenant }: LaneView): string => `${pool}\0${action}\0${tenant}`

async function listLanes(invocation: Invocation): Promise<undefined> {
  if (invocation.options.flag('all')) {
    throw new CommandError('--all is for pause, resume and limit: lanes are all listed anyway.', {
      exitCode: EXIT.usage,
    })
  }
  const client = await invocation.connect()
  const scope = scopeOf(invocation.options)
  await showRows<LaneView>(invocation, {
    read: async () => {
      const { items } = await listed(invocation, (page) => client.lanes({ ...scope, ...page }))
      return items.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
    },
    key: ({ pool, action, tenant }) => JSON.stringify([pool, action, tenant]),
    columns: (_, now) => columns(now),
    none: 'There is no lane yet: nothing was submitted.',
  })
  return undefined
}

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

/** What stops everything is asked about. */
async function agreed(invocation: Invocation, scope: ScopeQuery, question: string): Promise<boolean> {
  if (Object.keys(scope).length > 0 || (await invocation.confirm(question))) return true
  invocation.output.note('Nothing was done.')
  return false
}

async function pause(invocation: Invocation): Promise<ExitCode | undefined> {
  const scope = statedScope(invocation.options, 'lanes')
  if (!(await agreed(invocation, scope, 'Hold all lanes there are and will be?'))) return EXIT.error
  const client = await invocation.connect()
  await client.pause(scope, await byOf(invocation))
  invocation.output.one({ changed: true }, ({ line }) => line(`Held: ${plain(scopeText(scope))}.`))
  return undefined
}

async function resume(invocation: Invocation): Promise<undefined> {
  const scope = statedScope(invocation.options, 'lanes')
  const client = await invocation.connect()
  const changed = await client.resume(scope, await byOf(invocation))
  const words = plain(scopeText(scope))
  invocation.output.one({ changed }, ({ line }) =>
    line(changed ? `No longer held: ${words}.` : `Nothing to do: no hold was put on exactly this (${words}).`),
  )
  return undefined
}

async function limit(invocation: Invocation, concurrency: number | null): Promise<ExitCode | undefined> {
  const scope = statedScope(invocation.options, 'lanes')
  const question = `Let at most ${concurrency} tasks run at once, of all there are and will be?`
  if (concurrency !== null && !(await agreed(invocation, scope, question))) return EXIT.error
  const client = await invocation.connect()
  await client.limit(scope, concurrency, await byOf(invocation))
  const words = plain(scopeText(scope))
  invocation.output.one({ changed: true }, ({ line }) =>
    line(concurrency === null ? `No limit any more: ${words}.` : `At most ${concurrency} run at once: ${words}.`),
  )
  return undefined
}

function concurrencyOf(text: string | undefined): number | null {
  if (text === 'none') return null
  const value = text !== undefined && /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
  if (value <= CONCURRENCY_MAX) return value
  throw new CommandError(
    text === undefined ? 'How many may run at once? Nothing says so.' : `'${text}' is not a number of tasks.`,
    { exitCode: EXIT.usage, hint: "'reprise lanes limit 5 --action invoice.send', or none in place of the number." },
  )
}
