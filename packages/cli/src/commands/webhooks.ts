// reprise webhooks: where events are sent to, what was sent, and whether it arrives.

import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { showList } from '../command/rows.ts'
import { LIMIT, named, refuseOfList, verbOf } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import type { ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import { deliveryColumns, tellTest } from '../views/delivery.ts'
import { typeList } from '../views/events.ts'

export const webhooks: CommandDefinition = {
  path: ['webhooks'],
  group: 'Operate',
  summary: 'List webhooks; make, try and remove them',
  details:
    'Lists the addresses that events are sent to. create <url> makes one and writes its secret, now and never again. deliveries <id> lists what was sent to it, and test <id> sends a ping now: exit code 1 if it does not arrive. redeliver <id> <delivery> sends one of them again. disable <id> holds it, enable <id> lets it go on where it stopped, and remove <id> ends it.',
  arguments: [
    { name: '[verb]', about: 'create, deliveries, redeliver, test, disable, enable or remove' },
    { name: '[webhook]', about: 'Its address for create, else its id' },
    { name: '[delivery]', about: 'For redeliver: the delivery' },
  ],
  options: [
    { flags: '--type <types>', about: 'For create: only these types of events, such as execution.failed,task.*' },
    {
      flags: '--action <action>',
      about: 'For create: only events about this action; may be given several times',
      repeatable: true,
    },
    { flags: '--tenant <tenant>', about: 'For create: only events of this tenant' },
    { flags: '--description <text>', about: 'For create: what it is for' },
    LIMIT,
  ],
  examples: [
    ['reprise webhooks', 'Who gets events?'],
    ["reprise webhooks create https://hooks.example.com/in --type 'breaker.*'", 'Tell another system'],
    [
      'reprise webhooks create https://hooks.example.com/in --type task.succeeded,task.dead --action invoice.send',
      'Tell it when invoices are done',
    ],
    ['reprise webhooks deliveries 5f3a0c1e9b7d2468 -o jsonl', 'What was sent to it?'],
    ['reprise webhooks redeliver 5f3a0c1e9b7d2468 5f3a0c1e9b7d2468-4711', 'Send one of them again'],
    ['reprise webhooks test 5f3a0c1e9b7d2468', 'Does it arrive?'],
  ],
  async run(invocation) {
    const [verb, webhook, delivery] = invocation.arguments
    if (delivery !== undefined && verb !== 'redeliver') throw usageError('This takes one webhook, and nothing more.')
    if (verb === undefined) return list(invocation)
    const act = verbOf<Act>('webhooks', verb, {
      create,
      deliveries,
      redeliver: (_, id) => redeliver(invocation, id, delivery),
      test,
      disable: (_, id) => enable(invocation, id, false),
      enable: (_, id) => enable(invocation, id, true),
      remove,
    })
    if (verb !== 'deliveries') refuseOfList(invocation, verb)
    return act(invocation, named(webhook, 'webhook'))
  },
}

type Act = (invocation: Invocation, webhook: string) => Promise<ExitCode | undefined>

async function list(invocation: Invocation): Promise<undefined> {
  return showList(invocation, {
    read: invocation.api.listWebhooks,
    key: ({ id }) => id,
    columns: () => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'IS', value: ({ enabled }) => (enabled ? 'on' : 'off') },
      { title: 'URL', value: ({ url }) => url, flexible: true },
      { title: 'TYPES', value: ({ types }) => types.join(',') || 'all', flexible: true },
      { title: 'ACTIONS', value: ({ actions }) => actions.join(',') || 'all', flexible: true },
      { title: 'TENANT', value: ({ tenant }) => tenant ?? 'all' },
      { title: 'NOTE', value: (one) => one.disabledBecause ?? one.description, flexible: true },
    ],
    none: 'There is no webhook.',
  })
}

async function create(invocation: Invocation, url: string): Promise<undefined> {
  const { api, options, output } = invocation
  const types = typeList(options.text('type')).map((type) => `reprise.${type}`)
  const made = await api.createWebhook({
    url,
    types,
    actions: [...options.texts('action')],
    ...options.given('tenant', 'description'),
  })
  output.one(made, ({ line }) => {
    line(`${made.webhook.id}  ${plain(made.webhook.url)}`)
    line(`secret: ${made.secret ?? ''}`)
  })
  if (output.isForPeople) output.note('Keep the secret now: it is not shown again.')
}

async function deliveries(invocation: Invocation, id: string): Promise<undefined> {
  return showList(invocation, {
    read: (page) => invocation.api.listDeliveries({ id, ...page }),
    key: (delivery) => delivery.id,
    columns: deliveryColumns,
    none: 'Nothing was sent to it yet.',
  })
}

async function redeliver({ api, output }: Invocation, id: string, delivery: string | undefined): Promise<undefined> {
  if (delivery === undefined) {
    throw usageError('Which delivery? Nothing says so.', `'reprise webhooks deliveries ${plain(id)}' lists them.`)
  }
  const again = await api.redeliver({ id, delivery })
  output.one(again, ({ line }) => line(`The delivery ${plain(delivery)} is ${again.status}.`))
}

async function test(invocation: Invocation, id: string): Promise<ExitCode> {
  return tellTest(invocation.output, await invocation.api.testWebhook({ id }))
}

async function enable(invocation: Invocation, id: string, enabled: boolean): Promise<undefined> {
  const { webhook } = await invocation.api.updateWebhook({ id, enabled })
  invocation.output.one(webhook, ({ line }) => line(`The webhook ${plain(id)} is ${enabled ? 'on' : 'off'}.`))
}

async function remove(invocation: Invocation, id: string): Promise<undefined> {
  await invocation.api.removeWebhook({ id })
  invocation.output.one({ id, removed: true }, ({ line }) => line(`The webhook ${plain(id)} is gone.`))
}
