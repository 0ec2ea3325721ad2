// reprise breakers: what holds work back because something it depends on is down; and how to let it go on.

import type { Breaker } from '@reprise/client'
import { NotFoundError } from '@reprise/core'
import type { CommandDefinition } from '../frame/definition.ts'
import type { Invocation } from '../frame/invocation.ts'
import { LIMIT, listed } from '../frame/listing.ts'
import { byOf, REASON } from '../operate/by.ts'
import { showRows } from '../operate/rows.ts'
import { refuseBeside, unknownVerb } from '../operate/verbs.ts'
import { statusStyle } from '../output/colours.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import type { Column } from '../output/table.ts'
import { shortSpan } from '../views/spans.ts'

export const breakers: CommandDefinition = {
  path: ['breakers'],
  group: 'Operate',
  summary: 'List circuit breakers, and reset them',
  details:
    'Lists the breakers that hold work back, or have seen failures lately. reset <name> closes one and forgets its failures: work goes on at once.',
  arguments: [
    { name: '[verb]', about: 'reset' },
    { name: '[name]', about: 'For reset: the breaker, such as dependency:stripe' },
  ],
  options: [REASON, LIMIT, { flags: '-w, --watch', about: 'Keep looking, until interrupted' }],
  examples: [
    { command: 'reprise breakers', says: 'What is down?' },
    { command: 'reprise breakers reset dependency:stripe --reason "it is back"', says: 'Do not wait any longer' },
  ],
  async run(invocation) {
    const [verb, name] = invocation.arguments
    if (verb === undefined) return listBreakers(invocation)
    refuseBeside(invocation, verb, ['limit', 'watch'])
    if (verb !== 'reset') throw unknownVerb('breakers', verb, ['reset'])
    if (name === undefined) {
      throw new CommandError('Which breaker? Nothing says so.', {
        exitCode: EXIT.usage,
        hint: "'reprise breakers' lists them.",
      })
    }
    const client = await invocation.connect()
    if (!(await client.resetBreaker(name, await byOf(invocation)))) throw new NotFoundError('breaker', name)
    invocation.output.one({ changed: true }, ({ line }) => line(`The breaker ${plain(name)} is closed.`))
    return undefined
  },
}

async function listBreakers(invocation: Invocation): Promise<undefined> {
  const client = await invocation.connect()
  await showRows<Breaker>(invocation, {
    read: async () => (await listed(invocation, (page) => client.breakers(page))).items,
    key: ({ name }) => name,
    columns: (_, now) => breakerColumns(now),
    none: 'No breaker holds anything, and none has seen failures lately.',
  })
  return undefined
}

const breakerColumns = (now: number): readonly Column<Breaker>[] => [
  { title: 'BREAKER', value: ({ name }) => name },
  { title: 'STATE', value: ({ state }) => state.status, style: statusStyle },
  {
    title: 'SINCE',
    value: ({ state }) => (state.status === 'closed' ? null : shortSpan(now - state.since)),
    right: true,
  },
  {
    title: 'PROBES IN',
    value: ({ state }) => (state.status === 'open' ? shortSpan(state.until - now) : null),
    right: true,
  },
  { title: 'FAILED', value: ({ buckets }) => buckets.reduce((sum, { failed }) => sum + failed, 0), right: true },
  { title: 'OK', value: ({ buckets }) => buckets.reduce((sum, { ok }) => sum + ok, 0), right: true },
  { title: 'ACTIONS', value: ({ actions }) => actions.join(', '), flexible: true },
]
