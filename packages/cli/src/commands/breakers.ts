// reprise breakers: what holds work back because something it depends on is down; and how to let it go on.

import { type Breaker, NotFoundError } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { showList } from '../command/rows.ts'
import { LIMIT, named, REASON, reasonOf, refuseOfList, verbOf, WATCH } from '../command/shared-options.ts'
import { statusStyle } from '../output/colours.ts'
import { plain } from '../output/plain-text.ts'
import type { Column } from '../output/table.ts'
import { shortSpan } from '../output/times.ts'

export const breakers: CommandDefinition = {
  path: ['breakers'],
  group: 'Operate',
  summary: 'List circuit breakers, and reset them',
  details:
    'Lists the breakers that hold work back, or have seen failures lately. A breaker belongs to one tenant, or to all. reset <name> closes all breakers of this name, or with --tenant that of one tenant, and forgets their failures: work goes on at once.',
  arguments: [
    { name: '[verb]', about: 'reset' },
    { name: '[name]', about: 'For reset: the breaker, such as dependency:stripe' },
  ],
  options: [{ flags: '--tenant <tenant>', about: 'Only of this tenant' }, REASON, LIMIT, WATCH],
  examples: [
    ['reprise breakers', 'What is down?'],
    ['reprise breakers reset dependency:stripe --reason "it is back"', 'Do not wait any longer'],
    ['reprise breakers reset dependency:stripe --tenant acme', 'For one tenant'],
  ],
  async run(invocation) {
    const [verb, name] = invocation.arguments
    if (verb !== undefined) return verbOf('breakers', verb, { reset })(invocation, named(name, 'breaker'))
    return showList(invocation, {
      read: (page) => invocation.api.listBreakers({ ...page, ...invocation.options.given('tenant') }),
      key: ({ name: one, tenant }) => `${one}\0${tenant ?? ''}`,
      columns,
      none: 'No breaker holds anything, and none has seen failures lately.',
    })
  },
}

async function reset(invocation: Invocation, name: string): Promise<undefined> {
  refuseOfList(invocation, 'reset')
  const { options } = invocation
  const answer = await invocation.api.resetBreaker({ name, ...options.given('tenant'), ...reasonOf(options) })
  if (!answer.changed) throw new NotFoundError('breaker', name)
  invocation.output.one(answer, ({ line }) => line(`The breaker ${plain(name)} is closed.`))
}

const columns = (now: number): readonly Column<Breaker>[] => [
  { title: 'BREAKER', value: ({ name }) => name },
  { title: 'TENANT', value: ({ tenant }) => tenant ?? 'all', flexible: true },
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
  { title: 'FAILED', value: (breaker) => sumOf(breaker, 'failed'), right: true },
  { title: 'OK', value: (breaker) => sumOf(breaker, 'ok'), right: true },
  { title: 'ACTIONS', value: ({ actions }) => actions.join(', '), flexible: true },
]

const sumOf = ({ buckets, voices }: Breaker, what: 'ok' | 'failed'): number =>
  [...buckets, ...voices].reduce((sum, one) => sum + one[what], 0)
