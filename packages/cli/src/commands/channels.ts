// reprise channels: where alerts are told, whether that works, and what was told.

import { resolve } from 'node:path'
import { formatDuration } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import { fileText } from '../command/input.ts'
import type { Invocation } from '../command/invocation.ts'
import { showList } from '../command/rows.ts'
import { LIMIT, named, refuseOfList, verbOf } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import type { ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import { deliveryColumns, tellTest } from '../views/delivery.ts'

const KINDS = ['pagerduty', 'slack', 'email', 'webhook', 'retry_alert', 'tenants', 'work_orders']

export const channels: CommandDefinition = {
  path: ['channels'],
  group: 'Operate',
  summary: 'List the channels that alerts are sent to; make, try and remove them',
  details: [
    'create <name> --kind <kind> --set <name=value> makes one: docs/alerts.md lists the settings of each kind. A value that begins with @ is read from that file: use this for secrets. A value that is JSON counts as JSON.',
    'A channel of kind work_orders is a system that gets a ticket for each work order, and no alerts: docs/work-orders.md.',
    'deliveries <name> lists what was sent to it. test <name> sends it a test message now: exit code 1 if the message does not arrive. update <name> changes the settings that you give, disable <name> and enable <name> switch it off and on, remove <name> ends it.',
  ].join('\n\n'),
  arguments: [
    { name: '[verb]', about: 'create, update, deliveries, test, disable, enable or remove' },
    { name: '[channel]', about: 'Its name' },
  ],
  options: [
    { flags: '--kind <kind>', about: 'For create: what kind of channel it is', choices: KINDS },
    {
      flags: '--set <name=value>',
      about: 'For create and update: a setting of its kind; may be given several times',
      repeatable: true,
    },
    { flags: '--rules <rules>', about: 'Only alerts of these rules, with commas between them' },
    {
      flags: '--min-severity <severity>',
      about: 'Only alerts of this severity and above; normal if not given',
      choices: ['low', 'normal', 'high', 'critical'],
    },
    { flags: '--after <duration>', about: 'Only alerts that nobody has acknowledged for this long' },
    {
      flags: '--remind <duration>',
      about: 'Send an alert again each time this long has passed, until somebody acknowledges it',
    },
    { flags: '--quiet-hours <hours>', about: 'Only critical alerts at these hours: 22:00-07:00@Europe/Berlin' },
    LIMIT,
  ],
  examples: [
    ['reprise channels create pager --kind pagerduty --set routingKey=@pagerduty.key', 'Call somebody'],
    ['reprise channels create boss --kind slack --set url=@slack.url --after 15m', 'Nobody answered: tell others'],
    ['reprise channels test pager', 'Does it arrive?'],
    ['reprise channels deliveries pager', 'What was it told?'],
  ],
  async run(invocation) {
    const [verb, name] = invocation.arguments
    if (verb === undefined) return list(invocation)
    const act = verbOf<Act>('channels', verb, {
      create,
      update,
      deliveries,
      test: testChannel,
      disable: (_, id) => change(invocation, id, { enabled: false }),
      enable: (_, id) => change(invocation, id, { enabled: true }),
      remove,
    })
    if (verb !== 'deliveries') refuseOfList(invocation, verb)
    return act(invocation, named(name, 'channel'))
  },
}

type Act = (invocation: Invocation, name: string) => Promise<ExitCode | undefined>

function list(invocation: Invocation): Promise<undefined> {
  return showList(invocation, {
    read: () => invocation.api.listChannels({}),
    key: ({ id }) => id,
    columns: () => [
      { title: 'CHANNEL', value: ({ name }) => name },
      { title: 'KIND', value: ({ kind }) => kind },
      { title: 'IS', value: ({ enabled }) => (enabled ? 'on' : 'off') },
      { title: 'TO', value: ({ destination }) => destination, flexible: true },
      { title: 'RULES', value: ({ rules }) => rules.join(',') || 'all', flexible: true },
      { title: 'FROM', value: ({ minSeverity }) => minSeverity },
      { title: 'AFTER', value: ({ afterMs }) => (afterMs === 0 ? null : formatDuration(afterMs)), right: true },
      { title: 'NOTE', value: ({ disabledBecause }) => disabledBecause, flexible: true },
    ],
    none: 'Nobody is told of alerts: there is no channel.',
  })
}

type Fields = Omit<Parameters<Invocation['api']['updateChannel']>[0], 'id'>

async function create(invocation: Invocation, name: string): Promise<undefined> {
  const { api, options, output } = invocation
  const kind = options.text('kind')
  if (kind === undefined) throw usageError('Which kind? Nothing says so.', `Give --kind: ${KINDS.join(', ')}.`)
  // Choices are checked by the parser.
  const made = await api.createChannel({ name, kind: kind as never, ...(await fieldsOf(invocation)) })
  const what = made.kind === 'work_orders' ? 'Work orders' : 'Alerts'
  output.one(made, ({ line }) =>
    line(`${what} are told to ${plain(made.name)} (${plain(made.destination)}) from now on.`),
  )
}

const update: Act = async (invocation, name) => change(invocation, name, await fieldsOf(invocation))

async function change({ api, output }: Invocation, id: string, fields: Fields): Promise<undefined> {
  const one = await api.updateChannel({ id, ...fields })
  output.one(one, ({ line }) => line(`The channel ${plain(one.name)} is ${one.enabled ? 'on' : 'off'}.`))
}

async function fieldsOf({ options, host }: Invocation): Promise<Fields> {
  const settings = Object.fromEntries(
    await Promise.all(options.texts('set').map((given) => settingOf(given, host.cwd))),
  )
  const rules = options.text('rules')
  const quiet = options.text('quiet-hours')
  const minSeverity = options.text('min-severity') as Fields['minSeverity']
  return {
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
    ...(rules === undefined ? {} : { rules: rules.split(',').map((rule) => rule.trim()) }),
    ...(minSeverity === undefined ? {} : { minSeverity }),
    ...(quiet === undefined ? {} : { quiet: quietOf(quiet) }),
    ...options.given('after', 'remind'),
  }
}

/** routingKey=@file, port=25, to=["ops@example.com"], url=https://example.com */
async function settingOf(given: string, folder: string): Promise<readonly [string, unknown]> {
  const [, name, value] = /^(\w+)=(.+)$/s.exec(given) ?? []
  if (name === undefined || value === undefined)
    throw usageError('--set takes name=value, such as url=https://example.com.')
  if (value.startsWith('@')) {
    return [name, jsonOr((await fileText(resolve(folder, value.slice(1)))).trim())]
  }
  return [name, jsonOr(value)]
}

/** A number, a list or a map; else the text as it is. A key of digits is meant as a text. */
function jsonOr(text: string): unknown {
  if (!/^(?:\d{1,5}$|\[|\{)/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function quietOf(given: string): NonNullable<Fields['quiet']> {
  const [, from, to, zone] = /^(\d\d:\d\d)-(\d\d:\d\d)@(\S+)$/.exec(given) ?? []
  if (from === undefined || to === undefined || zone === undefined) {
    throw usageError('--quiet-hours takes hours and a time zone.', 'Write 22:00-07:00@Europe/Berlin, for example.')
  }
  return { from, to, zone, butFrom: 'critical' }
}

function deliveries(invocation: Invocation, id: string): Promise<undefined> {
  return showList(invocation, {
    read: (page) => invocation.api.listChannelDeliveries({ id, ...page }),
    key: (delivery) => delivery.id,
    columns: deliveryColumns,
    none: 'It was told nothing yet.',
  })
}

export async function testChannel(invocation: Invocation, id: string): Promise<ExitCode> {
  return tellTest(invocation.output, await invocation.api.testChannel({ id }))
}

async function remove(invocation: Invocation, id: string): Promise<undefined> {
  await invocation.api.removeChannel({ id })
  invocation.output.one({ id, removed: true }, ({ line }) => line(`The channel ${plain(id)} is gone.`))
}
