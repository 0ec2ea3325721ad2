// reprise groups: dead letters by their cause, and what to do about a cause: look into it, take it on, resolve or ignore it,
// merge and split.

import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { LIMIT_MAX, showList, showRows } from '../command/rows.ts'
import { DRY_RUN, LIMIT, named, REASON, reasonOf, refuseOfList, WATCH, YES } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import { plain } from '../output/plain-text.ts'
import { askedQuery, termOf } from '../tasks/query.ts'
import { type Case, caseText, tellCause, tellGroup, tellNext } from '../views/failure-group.ts'
import { type FailureGroup, groupColumns } from '../views/overview.ts'

export const groups: CommandDefinition = {
  path: ['groups'],
  group: 'Operate',
  summary: 'List dead letters by cause, look into a cause, and say what is done about it',
  details: [
    'Lists failure groups, the largest first: dead letters that failed for the same cause have one fingerprint, and redrive and discard take all of them by it. With a query, as for list, it counts only the dead letters that the query finds.',
    'Verbs: list; show <group>, or the group alone; cause <group>, which compares its failures with successes and says what changed before; ack <group>, which makes you or --owner the owner; resolve <group>, also --in-version: if the cause comes back, the group opens again by itself; ignore <group> --for or --count; reopen <group>; merge <group> <others>; split <group>, which takes it out again, or with --by divides its dead letters; notify <group> <message>, which sends the message to the tenants that are affected.',
  ].join('\n\n'),
  arguments: [
    { name: '[query...]', about: 'Which dead letters, all if nothing is said; or a verb and what it is about' },
  ],
  options: [
    { flags: '--action <action>', about: 'Only of this action' },
    { flags: '--state <state>', about: 'Only in this state', choices: ['open', 'acknowledged', 'resolved', 'ignored'] },
    {
      flags: '--order <order>',
      about: 'What comes first: the largest, or the most recent',
      choices: ['count', 'recent'],
    },
    { flags: '--owner <owner>', about: 'For ack: who takes it on' },
    { flags: '--in-version <version>', about: 'For resolve: workers of this version and newer have the fix' },
    { flags: '--for <duration>', about: 'For ignore: how long, such as 2d' },
    { flags: '--count <count>', about: 'For ignore: until this many more tasks have died' },
    {
      flags: '--by <field>',
      about: 'For split: tenant, version, host, worker, code or label.<name>; none for nothing',
    },
    REASON,
    LIMIT,
    WATCH,
    DRY_RUN,
    YES,
  ],
  examples: [
    ['reprise groups', 'What is broken?'],
    ["reprise groups 'died<10m' label.region:eu", 'What breaks now, and there?'],
    ['reprise groups 5f3a0c1e9b7d2468', 'Look into one of them'],
    ['reprise groups cause 5f3a0c1e9b7d2468', 'What is different about these failures?'],
    ['reprise groups ack 5f3a0c1e9b7d2468 --owner team:billing', 'Somebody is on it'],
    ['reprise groups resolve 5f3a0c1e9b7d2468 --in-version 2.4.1', 'Tell me if it comes back'],
    ["reprise groups --action invoice.send -o json | jq -r '.[].fingerprint'", 'For a program'],
  ],
  async run(invocation) {
    const [verb = '', ...rest] = invocation.arguments
    const act = Object.hasOwn(ACTS, verb) ? ACTS[verb as keyof typeof ACTS] : undefined
    if (act !== undefined) {
      refuseOfList(invocation, verb)
      const [group, ...others] = rest
      if (invocation.options.flag('dry-run') && !READS.has(verb))
        return wouldDo(invocation, verb, named(group, 'group'))
      return act(invocation, named(group, 'group'), others)
    }
    // What `groups` prints, and nothing else: a group itself is meant.
    if (FINGERPRINT.test(verb) && rest.length === 0) return ACTS.show(invocation, verb, [])
    return list(invocation, verb === 'list' ? rest : invocation.arguments)
  },
}

const LIMIT_DEFAULT = 100
const NONE = 'There are no dead letters.'
const FINGERPRINT = /^[0-9a-f]{16}$/

async function list(invocation: Invocation, words: readonly string[]): Promise<undefined> {
  const { api, options } = invocation
  const order = options.text('order') === 'recent' ? 'recent' : 'count'
  // Choices are checked by the parser.
  const state = options.given('state') as { readonly state?: Case['state']['status'] }
  const query = askedQuery(invocation, words)
  if (query !== '') {
    const q = [query, ...actionTerm(options.text('action'))].join(' ')
    return showFound(invocation, { q, order, ...state })
  }
  return showList(invocation, {
    read: (page) => api.listFailureGroups({ ...options.given('action'), order, ...state, ...page }),
    key: keyOf,
    columns: groupColumns,
    none: NONE,
  })
}

const READS: ReadonlySet<string> = new Set(['show', 'cause'])

/** A dry run: the group is there, and this is what it has. */
async function wouldDo({ api, output }: Invocation, verb: string, fingerprint: string): Promise<undefined> {
  const group = await api.getFailureGroup({ fingerprint })
  const { count, action } = group
  output.one({ ...group, dryRun: true }, ({ line }) =>
    line(
      `Would ${verb} failure group ${plain(group.fingerprint)}: ${count} ${count === 1 ? 'dead letter' : 'dead letters'} of ${plain(action)}.`,
    ),
  )
}

type Act = (invocation: Invocation, group: string, others: readonly string[]) => Promise<undefined>

/** A step of one case. */
const stepping =
  (step: (invocation: Invocation, group: string) => Promise<Case>): Act =>
  async (invocation, group, others) => {
    refuseMore(others)
    tellCase(invocation, await step(invocation, group))
  }

function tellCase({ output }: Invocation, one: Case): undefined {
  output.one(one, ({ line }) =>
    line(`Failure group ${plain(one.fingerprint)} is ${plain(caseText(one, output.now()))}.`),
  )
}

function refuseMore(others: readonly string[]): void {
  if (others.length > 0) throw usageError('This takes one failure group at a time.')
}

const ACTS = {
  async show(invocation, fingerprint, others) {
    refuseMore(others)
    const group = await invocation.api.getFailureGroup({ fingerprint })
    invocation.output.one(group, (people) => {
      tellGroup(group, invocation.output.now(), people)
      tellNext(group, people)
    })
  },
  async cause(invocation, fingerprint, others) {
    refuseMore(others)
    const cause = await invocation.api.explainFailureGroup({ fingerprint })
    invocation.output.one(cause, (people) => tellCause(cause, invocation.output.now(), people))
  },
  ack: stepping(({ api, options }, fingerprint) =>
    api.acknowledgeFailureGroup({ fingerprint, ...options.given('owner'), ...reasonOf(options) }),
  ),
  resolve: stepping(({ api, options }, fingerprint) => {
    const version = options.text('in-version')
    return api.resolveFailureGroup({ fingerprint, ...(version === undefined ? {} : { version }), ...reasonOf(options) })
  }),
  ignore: stepping(({ api, options }, fingerprint) => {
    const count = options.whole('count', 1, 1_000_000_000)
    if (count === undefined && !options.isGiven('for')) {
      throw usageError('Until when? Nothing says so.', 'Give --for 2d, or --count 100 for that many more dead letters.')
    }
    const until = { ...options.given('for'), ...(count === undefined ? {} : { count }) }
    return api.ignoreFailureGroup({ fingerprint, ...until, ...reasonOf(options) })
  }),
  async notify({ api, output }, fingerprint, words) {
    const message = words.join(' ')
    if (message === '') throw usageError('What are they told? Give a message, behind the group.')
    const answer = await api.notifyTenants({ fingerprint, message })
    const { told } = answer
    output.one(answer, ({ line }) => line(`${told} ${told === 1 ? 'tenant was' : 'tenants were'} told.`))
  },
  reopen: stepping(({ api, options }, fingerprint) => api.reopenFailureGroup({ fingerprint, ...reasonOf(options) })),
  async merge(invocation, fingerprint, from) {
    const { api, options } = invocation
    if (from.length === 0) {
      throw usageError('Merge which groups into it? Nothing says so.', 'reprise groups merge <group> <others…>')
    }
    tellCase(invocation, await api.mergeFailureGroups({ fingerprint, from: [...from], ...reasonOf(options) }))
  },
  split: stepping(({ api, options }, fingerprint) =>
    api.splitFailureGroup({ fingerprint, ...fieldOf(options.given('by')), ...reasonOf(options) }),
  ),
} satisfies Readonly<Record<string, Act>>

/** What dead letters are told apart by; null to show them together again. */
const fieldOf = ({ by }: { readonly by?: string }): { readonly by?: string | null } =>
  by === undefined ? {} : { by: by === 'none' ? null : by }

const actionTerm = (action: string | undefined): readonly string[] =>
  action === undefined ? [] : [termOf('action', action)]

const keyOf = ({ fingerprint, action }: FailureGroup): string => `${action} ${fingerprint}`

interface Found {
  readonly q: string
  readonly order: 'count' | 'recent'
  readonly state?: Case['state']['status']
}

/** Groups of what a query finds come in parts, which are added up. */
async function showFound(invocation: Invocation, asked: Found): Promise<undefined> {
  const { pages } = await import('@reprise/client')
  const limit = invocation.options.whole('limit', 1, LIMIT_MAX) ?? LIMIT_DEFAULT
  return showRows(invocation, {
    read: async () => {
      const groups = new Map<string, FailureGroup>()
      for await (const { items } of pages(invocation.api.listFailureGroups, { ...asked })) {
        for (const group of items) groups.set(keyOf(group), together(groups.get(keyOf(group)), group))
      }
      const all = [...groups.values()].sort((one, other) =>
        asked.order === 'count' ? other.count - one.count : other.lastAt - one.lastAt,
      )
      return all.slice(0, limit)
    },
    key: keyOf,
    columns: groupColumns,
    none: `No dead letter matches ${plain(asked.q)}`,
  })
}

function together(one: FailureGroup | undefined, other: FailureGroup): FailureGroup {
  if (one === undefined) return other
  const latest = one.lastAt >= other.lastAt ? one : other
  return { ...latest, count: one.count + other.count, firstAt: Math.min(one.firstAt, other.firstAt) }
}
