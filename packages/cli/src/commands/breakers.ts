// reprise breakers: what holds work back because something it depends on is down; and how to let it go on.

import { type Breaker, NotFoundError } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import { showList } from '../command/rows.ts'
import { LIMIT, REASON, reasonOf, refuseBeside, unknownVerb, WATCH } from '../command/shared-options.ts'
import { statusStyle } from '../output/colours.ts'
import { usageError } from '../output/errors.ts'
import { plain } from '../output/plain-text.ts'
import type { Column } from '../output/table.ts'
import { shortSpan } from '../output/times.ts'

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
  options: [REASON, LIMIT, WATCH],
  examples: [
    { command: 'reprise breakers', says: 'What is down?' },
    { command: 'reprise breakers reset dependency:stripe --reason "it is back"', says: 'Do not wait any longer' },
  ],
  async run(invocation) {
    const [verb, name] = invocation.arguments
    if (verb === undefined) {
      const client = await invocation.connect()
      await showList(invocation, {
        read: client.listBreakers,
        key: (breaker) => breaker.name,
        columns,
        none: 'No breaker holds anything, and none has seen failures lately.',
      })
      return
    }
    refuseBeside(invocation, verb, ['limit', 'watch'])
    if (verb !== 'reset') throw unknownVerb('breakers', verb, ['reset'])
    if (name === undefined) throw usageError('Which breaker? Nothing says so.', "'reprise breakers' lists them.")
    const client = await invocation.connect()
    const answer = await client.resetBreaker({ name, ...reasonOf(invocation.options) })
    if (!answer.changed) throw new NotFoundError('breaker', name)
    invocation.output.one(answer, ({ line }) => line(`The breaker ${plain(name)} is closed.`))
  },
}

const columns = (now: number): readonly Column<Breaker>[] => [
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
