// reprise groups: dead letters by their cause.

import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { LIMIT_MAX, showList, showRows } from '../command/rows.ts'
import { LIMIT, WATCH } from '../command/shared-options.ts'
import { askedQuery, termOf } from '../tasks/query.ts'
import { type FailureGroup, groupColumns } from '../views/overview.ts'

export const groups: CommandDefinition = {
  path: ['groups'],
  group: 'Operate',
  summary: 'List dead letters by their cause',
  details:
    'Lists failure groups, the largest first: dead letters that failed for the same cause have one fingerprint, by which redrive and discard take them all. With a query, as for list, only the dead letters that it finds count.',
  arguments: [{ name: '[query...]', about: 'Which dead letters; all if nothing is said' }],
  options: [
    { flags: '--action <action>', about: 'Only of this action' },
    {
      flags: '--order <order>',
      about: 'What comes first: the largest, or the most recent',
      choices: ['count', 'recent'],
    },
    LIMIT,
    WATCH,
  ],
  examples: [
    ['reprise groups', 'What is broken?'],
    ["reprise groups 'died<10m' label.region:eu", 'What breaks now, and there?'],
    ["reprise groups --action invoice.send -o json | jq -r '.[].fingerprint'", 'For a program'],
  ],
  async run(invocation) {
    const { api, options } = invocation
    const order = options.text('order') === 'recent' ? 'recent' : 'count'
    const query = askedQuery(invocation)
    if (query !== '') return showFound(invocation, [query, ...actionTerm(options.text('action'))].join(' '), order)
    return showList(invocation, {
      read: (page) => api.listFailureGroups({ ...options.given('action'), order, ...page }),
      key: keyOf,
      columns: groupColumns,
      none: NONE,
    })
  },
}

const LIMIT_DEFAULT = 100
const NONE = 'There are no dead letters.'

const actionTerm = (action: string | undefined): readonly string[] =>
  action === undefined ? [] : [termOf('action', action)]

const keyOf = ({ fingerprint, action }: FailureGroup): string => `${action} ${fingerprint}`

/** Groups of what a query finds come in parts, which are added up. */
async function showFound(invocation: Invocation, q: string, order: 'count' | 'recent'): Promise<undefined> {
  const { pages } = await import('@reprise/client')
  const limit = invocation.options.whole('limit', 1, LIMIT_MAX) ?? LIMIT_DEFAULT
  return showRows(invocation, {
    read: async () => {
      const groups = new Map<string, FailureGroup>()
      for await (const { items } of pages(invocation.api.listFailureGroups, { q, order })) {
        for (const group of items) groups.set(keyOf(group), together(groups.get(keyOf(group)), group))
      }
      const all = [...groups.values()].sort((one, other) =>
        order === 'count' ? other.count - one.count : other.lastAt - one.lastAt,
      )
      return all.slice(0, limit)
    },
    key: keyOf,
    columns: groupColumns,
    none: NONE,
  })
}

function together(one: FailureGroup | undefined, other: FailureGroup): FailureGroup {
  if (one === undefined) return other
  const latest = one.lastAt >= other.lastAt ? one : other
  return { ...latest, count: one.count + other.count, firstAt: Math.min(one.firstAt, other.firstAt) }
}
