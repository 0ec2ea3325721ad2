// reprise policy list, show, publish and templates: the versions of the policies, and what policies can build on.

import { InvalidError, isRepriseError, NotFoundError, present } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import { textOf } from '../command/input.ts'
import { lookedThrough, showList, unlessRefused } from '../command/rows.ts'
import { DRY_RUN, LIMIT, REASON, reasonOf } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import { plainLines } from '../output/plain-text.ts'
import { isoTime } from '../output/times.ts'
import { appliedVersions, lagText } from '../policies/applied.ts'

const NUMBER_MAX = 1_000_000_000

export const policyList: CommandDefinition = {
  path: ['policy', 'list'],
  group: 'Policies',
  summary: 'List all versions of the policies',
  details:
    'Lists all versions of the policies, oldest first: who brought them in, and when, and how many workers apply them. The last one is in force. Names the workers that do not apply it yet; those over HTTP are left out, because the server judges for them.',
  options: [LIMIT],
  examples: [
    ['reprise policy list', 'Who changed what, and when?'],
    ["reprise policy list -o json | jq '.[-1].number'", 'The number of the newest'],
  ],
  async run(invocation) {
    const { api, output } = invocation
    const applied = appliedVersions((await unlessRefused(lookedThrough(api.listWorkers))) ?? [])
    await showList(invocation, {
      read: api.listPolicyVersions,
      key: ({ number }) => String(number),
      columns: () => [
        { title: 'VERSION', value: ({ number }) => number, right: true },
        { title: 'SINCE', value: ({ at }) => isoTime(at) },
        { title: 'LINES', value: ({ text }) => text.split('\n').length, right: true },
        { title: 'WORKERS', value: ({ number }) => appliedBy(applied, number), right: true },
        { title: 'HASH', value: ({ hash }) => hash.slice(0, 12) },
        { title: 'BY', value: ({ by }) => by, flexible: true },
        { title: 'REASON', value: ({ reason }) => reason ?? null, flexible: true },
      ],
      none: "There are no policies yet. 'reprise policy publish <file>' brings them in.",
    })
    const { version } = await api.policies()
    const lag = version === null ? null : lagText(applied, version.number)
    if (lag !== null && output.isForPeople) output.note(lag)
  },
}

const appliedBy = (applied: ReadonlyMap<string, number>, number: number): number =>
  [...applied.values()].filter((version) => version === number).length

export const policyShow: CommandDefinition = {
  path: ['policy', 'show'],
  group: 'Policies',
  summary: 'Show the policies in force, or a version of them',
  details:
    'Writes the policies in force, or the version of this number, as YAML. Warnings about them go to standard error.',
  arguments: [{ name: '[number]', about: 'A version; the one in force if missing' }],
  examples: [
    ['reprise policy show > retry-policies.yaml', 'To change them'],
    ['reprise policy show 3', 'As they were'],
  ],
  async run(invocation) {
    const [text] = invocation.arguments
    const number = text === undefined ? null : numberOf(text)
    const { api, output } = invocation
    const { version, notes } =
      number === null ? await api.policies() : { version: await api.getPolicyVersion({ number }), notes: [] }
    if (version === null) throw new NotFoundError('version of the policies', 'in force')
    output.one(version, ({ line }) => line(plainLines(version.text.trimEnd())))
    if (output.isForPeople) for (const note of notes) output.note(note)
  },
}

function numberOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidError(`A version of the policies has a number from 1, not '${text.slice(0, 40)}'.`)
}

export const policyPublish: CommandDefinition = {
  path: ['policy', 'publish'],
  group: 'Policies',
  summary: 'Bring policies into force',
  details:
    'Makes a file of retry policies the newest version, in force everywhere within seconds. The file is checked first; --dry-run only checks it. With --expected <number>, the file is published only if this is still the newest version: exit code 5 if somebody was faster.',
  arguments: [{ name: '<file>', about: 'The policies, as YAML; - for standard input' }],
  options: [
    { flags: '--expected <number>', about: 'The version that the change is made for; 0 for none' },
    REASON,
    DRY_RUN,
  ],
  examples: [
    ['reprise policy publish config/tasks/retry-policies.yaml --dry-run', 'Would it be accepted?'],
    ['reprise policy publish retry-policies.yaml --expected 3', 'Unless somebody changed them meanwhile'],
    ["reprise policy show 2 | reprise policy publish - --reason 'back to 2'", 'Roll back'],
  ],
  async run(invocation) {
    const { api, options, output } = invocation
    const [file = ''] = invocation.arguments
    const expected = options.whole('expected', 0, NUMBER_MAX)
    const text = await textOf(invocation, file === '-' ? '-' : `@${file}`)
    if (text.trim() === '') throw usageError('There is nothing in it: no policies were published.')
    const result = await api
      .publishPolicies({ text, dryRun: options.flag('dry-run'), ...present({ expected }), ...reasonOf(options) })
      .catch((error: unknown) => {
        throw withFileName(error, file === '-' ? 'standard input' : file)
      })
    output.one(result, ({ line }) => {
      line(
        result.version === null
          ? 'The policies are right. Nothing was changed.'
          : `Version ${result.version.number} is in force. Workers apply it within seconds; 'reprise policy list' shows which do.`,
      )
    })
    if (output.isForPeople) for (const note of result.notes) output.note(note)
  },
}

/** The check got the text alone, and calls it `policies`. */
function withFileName(error: unknown, file: string): unknown {
  if (!isRepriseError(error, 'REPRISE_INVALID')) return error
  error.message = error.message.replaceAll(
    /^( *)policies(?= has \d|:\d+:\d+: )/gm,
    (_, indent: string) => indent + file,
  )
  return error
}

export const policyTemplates: CommandDefinition = {
  path: ['policy', 'templates'],
  group: 'Policies',
  summary: 'List templates that policies can build on',
  examples: [
    ['reprise policy templates', 'What is there to begin with?'],
    ['reprise policy templates -o json', 'All their settings'],
  ],
  async run(invocation) {
    const { items: templates } = await invocation.api.policyTemplates()
    invocation.output.list(
      templates,
      [
        { title: 'TEMPLATE', value: ({ name }) => name },
        { title: 'SETS', value: settingsText, flexible: true, wraps: true },
      ],
      'There are no templates.',
    )
  },
}

const settingsText = (template: { readonly name: string }): string =>
  Object.entries(template)
    .filter(([setting]) => setting !== 'name')
    .map(([setting, value]) => `${setting}: ${JSON.stringify(value)}`)
    .join(', ')
