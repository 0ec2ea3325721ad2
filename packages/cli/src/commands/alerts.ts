// reprise alerts: what the store wants people to know: list it, look at one, say that one is at it, keep it quiet for a time; and the
// rules that make alerts.

import type { OperationOutput } from '@reprise/client'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { showList, watching } from '../command/rows.ts'
import { LIMIT, named, REASON, reasonOf, refuseOfList, SCOPE, verbOf, WATCH } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import { alertColumns, alertText, ruleColumns, silenceColumns, tellAlert } from '../views/alert.ts'
import { testChannel } from './channels.ts'

export const alerts: CommandDefinition = {
  path: ['alerts'],
  group: 'Operate',
  summary: 'List alerts; acknowledge and silence them, and see and set their rules',
  details: [
    'An alert fires when a figure is above the limit of its rule, and resolves by itself when the figure is below it again. Channels tell people of it: see reprise channels.',
    'Verbs: list; show <alert>; ack <alert>, which stops reminders and escalation; silence <alert, or matchers such as rule=retry_rate,action=mail.*> --for 2h; silences; unsilence <silence>; rules; rule <name>, which sets one with --metric and others, or with --off switches it off; unrule <name>, which removes one; export, which writes the rules as a file for Prometheus; test <channel>, which sends a channel a test message.',
  ].join('\n\n'),
  arguments: [
    { name: '[verb]', about: 'list, show, ack, silence, silences, unsilence, rules, rule, unrule, export or test' },
    { name: '[name]', about: 'An alert, matchers, a silence, a rule or a channel' },
  ],
  options: [
    {
      flags: '--status <status>',
      about: 'For list: only these; all that are not resolved if not given',
      choices: ['pending', 'firing', 'acknowledged', 'resolved', 'all'],
    },
    { flags: '--rule <rule>', about: 'For list: only of this rule' },
    { flags: '--for <duration>', about: 'For silence: how long; for rule: how long the figure has to be above' },
    { flags: '--metric <metric>', about: 'For rule: the figure that is watched (docs/alerts.md)' },
    { flags: '--above <number>', about: 'For rule: it fires while the figure is above this' },
    { flags: '--critical-above <number>', about: 'For rule: above this the severity is critical' },
    { flags: '--window <duration>', about: 'For rule: the time that the figure is about' },
    { flags: '--by <what>', about: 'For rule: one alert for each', choices: ['pool', 'action', 'tenant'] },
    {
      flags: '--severity <severity>',
      about: 'For rule: how bad it is',
      choices: ['low', 'normal', 'high', 'critical'],
    },
    { flags: '--runbook <name>', about: 'For rule: the runbook that helps, by its name or address' },
    { flags: '--off', about: 'For rule: switch it off' },
    ...SCOPE,
    REASON,
    LIMIT,
    WATCH,
  ],
  examples: [
    ['reprise alerts', 'What is wrong now?'],
    ['reprise alerts ack al-5f3a0c1e9b7d2468', 'I am at it'],
    ["reprise alerts silence 'rule=retry_rate' --for 2h --reason 'the bank is down, we know'", 'Not now'],
    [
      'reprise alerts rule nightly --metric no_success --action report.nightly --window 23h',
      'Tell me if it did not run',
    ],
    ['reprise alerts export > reprise-rules.yml', 'The same rules for Prometheus'],
  ],
  async run(invocation) {
    const [verb = 'list', name] = invocation.arguments
    const act = verbOf<Act>('alerts', verb, ACTS)
    if (!LISTS.has(verb)) refuseOfList(invocation, verb)
    return act(invocation, name)
  },
}

type Act = (invocation: Invocation, name: string | undefined) => Promise<ExitCode | undefined>

const LISTS = new Set(['list', 'rules', 'silences'])

const ACTS: Readonly<Record<string, Act>> = {
  list(invocation) {
    const { api, options } = invocation
    // Choices are checked by the parser.
    const given = options.given('status', 'rule') as Parameters<typeof api.listAlerts>[0]
    return showList(invocation, {
      read: watching(invocation, (page) => api.listAlerts({ ...given, ...page })),
      key: ({ id }) => id,
      columns: alertColumns,
      none: 'Nothing is wrong that a rule watches.',
    })
  },
  async show(invocation, name) {
    const { api, output } = invocation
    const one = await api.getAlert({ id: named(name, 'alert') })
    output.one(one, (people) => tellAlert(one, output.now(), people))
  },
  async ack(invocation, name) {
    const { api, options, output } = invocation
    const one = await api.acknowledgeAlert({ id: named(name, 'alert'), ...reasonOf(options) })
    output.one(one, ({ line }) => line(`Alert ${plain(one.id)} is ${plain(alertText(one))}.`))
  },
  async silence(invocation, name) {
    const { api, options, output } = invocation
    const span = options.text('for')
    if (span === undefined) throw usageError('For how long? Nothing says so.', 'Give --for 2h, for example.')
    const matches = await matchersOf(invocation, named(name, 'alert'))
    const one = await api.createSilence({ matches, for: span, ...reasonOf(options) })
    output.one(one, ({ line }) => line(`Quiet for ${plain(span)}: ${plain(words(matches))} (${plain(one.id)}).`))
  },
  silences(invocation) {
    return showList(invocation, {
      read: () => invocation.api.listSilences({}),
      key: ({ id }) => id,
      columns: silenceColumns,
      none: 'Nothing is silenced.',
    })
  },
  async unsilence(invocation, name) {
    const one = await invocation.api.endSilence({ id: named(name, 'silence') })
    invocation.output.one(one, ({ line }) => line(`The silence ${plain(one.id)} is over.`))
  },
  rules(invocation) {
    return showList(invocation, {
      read: () => invocation.api.listAlertRules({}),
      key: ({ name }) => name,
      columns: ruleColumns,
      none: 'There is no rule.',
    })
  },
  async rule(invocation, name) {
    const { api, options, output } = invocation
    const known = (await api.listAlertRules({})).items.find((rule) => rule.name === name)
    const metric = options.text('metric') ?? known?.metric
    if (metric === undefined) throw usageError('Which figure? Give --metric: docs/alerts.md lists them.')
    const number = (option: string): number | undefined => {
      const text = options.text(option)
      if (text === undefined) return undefined
      if (!/^\d+(\.\d+)?$/.test(text))
        throw usageError(`--${option} takes a number, such as 0.2, not '${text.slice(0, 40)}'.`)
      return Number(text)
    }
    const above = number('above')
    const criticalAbove = number('critical-above')
    const rule = await api.putAlertRule({
      ...(known?.metric === metric ? asInput(known) : {}),
      name: named(name, 'rule'),
      // The server knows which there are, and says so.
      metric: metric as RuleInput['metric'],
      ...(options.given('action', 'tenant', 'pool', 'by', 'window', 'for', 'severity', 'runbook') as object),
      ...(above === undefined ? {} : { above }),
      ...(criticalAbove === undefined ? {} : { criticalAbove }),
      enabled: !options.flag('off'),
    })
    const is = rule.enabled ? `${rule.metric} above ${rule.above}` : 'off'
    output.one(rule, ({ line }) => line(`The rule ${plain(rule.name)} is set: ${plain(is)}.`))
  },
  async unrule(invocation, name) {
    const rule = named(name, 'rule')
    await invocation.api.removeAlertRule({ name: rule })
    invocation.output.one({ name: rule, removed: true }, ({ line }) => line(`The rule ${plain(rule)} is gone.`))
  },
  async export(invocation) {
    const rules = await invocation.api.exportAlertRules({})
    invocation.output.one(rules, ({ line }) => {
      for (const text of rules.text.trimEnd().split('\n')) line(plain(text))
    })
    return EXIT.ok
  },
  test: (invocation, name) => testChannel(invocation, named(name, 'channel')),
}

type RuleInput = Parameters<Invocation['api']['putAlertRule']>[0]
type Rule = OperationOutput<'putAlertRule'>

/** What a rule says already: options change it. */
function asInput(rule: Rule): Omit<RuleInput, 'metric'> {
  const { name, pool, action, tenant, by, windowMs, above, criticalAbove, forMs, severity, unless, runbook } = rule
  const figure = { window: windowMs, above, criticalAbove, for: forMs, severity }
  return { name, pool, action, tenant, by, ...figure, unless: [...unless], runbook }
}

/** Of an alert: its rule and group. Else as they are written: rule=retry_rate,action=mail.* */
async function matchersOf({ api }: Invocation, given: string): Promise<Record<string, string>> {
  if (!given.includes('=')) {
    const { rule, group } = await api.getAlert({ id: given })
    return { ...group, rule }
  }
  const pairs = given.split(',').map((pair) => {
    const [, name, value] = /^\s*(\w+)=(.+?)\s*$/.exec(pair) ?? []
    if (name === undefined || value === undefined) {
      throw usageError(`'${pair.slice(0, 40)}' is no matcher.`, 'Write rule=retry_rate,action=mail.*, for example.')
    }
    return [name, value] as const
  })
  return Object.fromEntries(pairs)
}

const words = (matches: Readonly<Record<string, string>>): string =>
  Object.entries(matches)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
