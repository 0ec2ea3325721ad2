// reprise workorders: what waits for a person: list it, look at one, take it, say something about it, and close it.

import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { showList, watching } from '../command/rows.ts'
import { LIMIT, named, REASON, reasonOf, refuseOfList, WATCH } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import { plain } from '../output/plain-text.ts'
import { tellFigures, tellWorkOrder, type WorkOrder, workOrderColumns, workOrderText } from '../views/work-order.ts'

export const workorders: CommandDefinition = {
  path: ['workorders'],
  group: 'Operate',
  summary: 'List what waits for a person; take, comment and close it',
  details: [
    'Every failure group with dead letters has a work order; if the policy says so, every dead task has its own. It opens within seconds, opens again when another task dies of the same cause, and closes by itself once the tasks have recovered.',
    'Verbs: list; show <work order>; take <work order>, which makes you or --owner the owner; comment <work order> <text>; resolve <work order> <result>, or with --wont-fix why nothing will be done; reopen <work order>; figures, which says how many were completed in --window and how many are tracked. Name a work order by its id or by the fingerprint of its failure group.',
  ].join('\n\n'),
  arguments: [{ name: '[words...]', about: 'A verb, a work order, and a text where the verb takes one' }],
  options: [
    {
      flags: '--status <status>',
      about: 'For list: only these; open and in_progress if not given',
      choices: ['open', 'in_progress', 'resolved', 'wont_fix', 'all'],
    },
    { flags: '--owner <owner>', about: 'For list: only of this owner; for take: who takes it' },
    { flags: '--action <action>', about: 'For list: only of this action' },
    { flags: '--wont-fix', about: 'For resolve: nothing will be done, and new deaths do not open it again' },
    { flags: '--window <duration>', about: 'For figures: how far back; 30d if not given' },
    REASON,
    LIMIT,
    WATCH,
  ],
  examples: [
    ['reprise workorders', 'What waits for a person?'],
    ['reprise workorders show wo-5f3a0c1e9b7d2468', 'What is known about it?'],
    ['reprise workorders take wo-5f3a0c1e9b7d2468', 'I am on it'],
    ["reprise workorders resolve wo-5f3a0c1e9b7d2468 'billing was restarted'", 'Done, and what helped'],
    ['reprise workorders figures --window 7d', 'How many were completed this week?'],
  ],
  async run(invocation) {
    const [verb = 'list', ...words] = invocation.arguments
    if (verb === 'list') return list(invocation, words)
    if (verb === 'figures') return figures(invocation)
    const act = Object.hasOwn(ACTS, verb) ? ACTS[verb as keyof typeof ACTS] : undefined
    if (act === undefined) {
      throw usageError(`'reprise workorders' can not '${verb.slice(0, 40)}'.`, `It can ${VERBS.join(', ')}.`)
    }
    refuseOfList(invocation, verb)
    const [id, ...text] = words
    return act(invocation, named(id, 'workorder'), text.join(' '))
  },
}

function list(invocation: Invocation, words: readonly string[]): Promise<undefined> {
  if (words.length > 0) throw usageError('The list takes options, no words.', 'reprise workorders list --status all')
  const { api, options } = invocation
  // Choices are checked by the parser.
  const given = options.given('status', 'owner', 'action') as Parameters<typeof api.listWorkOrders>[0]
  return showList(invocation, {
    read: watching(invocation, (page) => api.listWorkOrders({ ...given, ...page })),
    key: ({ id }) => id,
    columns: workOrderColumns,
    none: 'Nothing waits for a person.',
  })
}

async function figures(invocation: Invocation): Promise<undefined> {
  refuseOfList(invocation, 'figures')
  const { api, options, output } = invocation
  const found = await api.measureWorkOrders(options.given('window'))
  output.one(found, (people) => tellFigures(found, people))
}

type Act = (invocation: Invocation, id: string, text: string) => Promise<undefined>

/** A step of one work order. Those that say something need a text. */
const stepping =
  (step: (invocation: Invocation, id: string, text: string) => Promise<WorkOrder>, needs?: string): Act =>
  async (invocation, id, text) => {
    if (needs !== undefined && text === '') throw usageError(`Give ${needs}, behind the work order.`)
    if (needs === undefined && text !== '') throw usageError('This takes one work order, and no text.')
    const one = await step(invocation, id, text)
    const { output } = invocation
    output.one(one, ({ line }) => line(`Work order ${plain(one.id)} is ${plain(workOrderText(one))}.`))
  }

const ACTS = {
  async show(invocation, id, text) {
    if (text !== '') throw usageError('This takes one work order, and no text.')
    const { api, output } = invocation
    const one = await api.getWorkOrder({ id })
    // A server of before does not know it.
    const context = await api.getWorkOrderContext({ id }).catch(() => null)
    output.one({ ...one, context }, (people) => tellWorkOrder(one, context, output.now(), people))
  },
  take: stepping(({ api, options }, id) => api.takeWorkOrder({ id, ...options.given('owner'), ...reasonOf(options) })),
  comment: stepping(({ api }, id, text) => api.commentWorkOrder({ id, text }), 'a comment'),
  resolve: stepping(
    ({ api, options }, id, result) =>
      api.closeWorkOrder({ id, result, status: options.flag('wont-fix') ? 'wont_fix' : 'resolved' }),
    'a result: what was done, or why nothing will be',
  ),
  reopen: stepping(({ api, options }, id) => api.reopenWorkOrder({ id, ...reasonOf(options) })),
} satisfies Readonly<Record<string, Act>>

const VERBS = ['list', 'figures', ...Object.keys(ACTS)]
