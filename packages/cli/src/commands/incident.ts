// reprise incident: what happened in a period, on one line, at a terminal or as Markdown for the post-mortem.

import type { OperationOutput } from '@reprise/client'
import type { CommandDefinition, OptionDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { plain } from '../output/plain-text.ts'
import { isoTime } from '../output/times.ts'

type Line = OperationOutput<'getIncident'>['items'][number]

const PAGES_MAX = 1_000
const MINUTE_MS = 60_000
const PERIOD: readonly OptionDefinition[] = [
  { flags: '--since <when>', about: 'From then on: 30m, 2h, or 2030-01-31T12:00:00Z; 1h if not given' },
  { flags: '--until <when>', about: 'Up to then; now if not given' },
  { flags: '--action <action>', about: 'Failures of this action alone' },
]

export const incidentShow: CommandDefinition = {
  path: ['incident', 'show'],
  group: 'Operate',
  summary: 'Show what happened in a period, on one line',
  details:
    'Failures, new versions of workers, breakers, alerts, what operators did, redrives and steps of runbooks, in their order. Failures of one cause are counted by the minute.',
  options: PERIOD,
  examples: [
    ['reprise incident show --since 2h', 'What happened?'],
    ['reprise incident show --since 2030-01-31T12:00:00Z --until 2030-01-31T13:00:00Z', 'What happened then?'],
  ],
  async run(invocation) {
    const { output } = invocation
    const lines = await timeline(invocation)
    if (output.format === 'json') output.one(lines, () => undefined)
    else {
      for (const one of lines) {
        output.event(one, ({ beside }) =>
          beside(`${isoTime(one.at)} ${one.kind.padEnd(10)} `, plain(textOf(one)), 'dim'),
        )
      }
    }
    if (lines.length === 0) output.note('Nothing happened in this period.')
    return undefined
  },
}

export const incidentExport: CommandDefinition = {
  path: ['incident', 'export'],
  group: 'Operate',
  summary: 'Write what happened in a period as Markdown',
  options: PERIOD,
  examples: [['reprise incident export --since 2h > post-mortem.md', 'For the post-mortem']],
  async run(invocation) {
    invocation.output.raw(markdownOf(await timeline(invocation)))
    return undefined
  },
}

async function timeline({ api, options }: Invocation): Promise<readonly Line[]> {
  const asked = { since: '1h', ...options.given('since', 'until', 'action') }
  const lines: Line[] = []
  let cursor: string | null = null
  for (let page = 0; page < PAGES_MAX; page++) {
    const found: OperationOutput<'getIncident'> = await api.getIncident({
      ...asked,
      ...(cursor === null ? {} : { cursor }),
    })
    lines.push(...found.items)
    cursor = found.next
    if (cursor === null) break
  }
  return joined(lines)
}

/** Parts of one minute that two pages had, and workers of one version that joined together, are one line. */
function joined(lines: readonly Line[]): readonly Line[] {
  const known = new Map<string, number>()
  const result: Line[] = []
  for (const line of lines) {
    const isCounted = line.kind === 'failures' || line.kind === 'recoveries' || line.kind === 'deploy'
    const key = `${line.kind} ${line.subject} ${Math.floor(line.at / MINUTE_MS)}`
    const place = isCounted ? known.get(key) : undefined
    const before = place === undefined ? undefined : result[place]
    if (place === undefined || before === undefined) {
      if (isCounted) known.set(key, result.length)
      result.push(line)
    } else {
      result[place] = { ...before, count: before.count + line.count, dead: before.dead + line.dead, until: line.until }
    }
  }
  return result
}

function textOf({ kind, text, count, dead, actor }: Line): string {
  if (kind === 'failures') return `${count} failed${dead === 0 ? '' : `, ${dead} died`}: ${text}`
  if (kind === 'recoveries') return `${count} recovered: ${text.replace(/: recovered$/, '')}`
  if (kind === 'deploy') return count === 1 ? text : `${count} workers joined: ${text}`
  return `${text} (${actor})`
}

/** One table, after the figures that every post-mortem begins with. */
function markdownOf(lines: readonly Line[]): string {
  const sum = (kind: Line['kind'], of: (line: Line) => number): number =>
    lines.filter((line) => line.kind === kind).reduce((total, line) => total + of(line), 0)
  const failures = lines.filter(({ kind }) => kind === 'failures')
  const [first] = failures
  const versions = [...new Set(lines.filter(({ kind }) => kind === 'deploy').map(({ subject }) => subject ?? '?'))]
  const rows = lines.map((line) => `| ${isoTime(line.at)} | ${line.kind} | ${cell(textOf(line))} |`)
  return [
    '# Incident',
    '',
    `- First failure: ${first === undefined ? 'none' : isoTime(first.at)}`,
    `- Last failure: ${first === undefined ? 'none' : isoTime(Math.max(...failures.map(({ until }) => until)))}`,
    `- Failed attempts: ${sum('failures', ({ count }) => count)}, tasks that died: ${sum('failures', ({ dead }) => dead)}, tasks that recovered: ${sum('recoveries', ({ count }) => count)}`,
    `- Causes: ${new Set(failures.map(({ subject }) => subject)).size}`,
    `- Versions of workers that joined: ${versions.length === 0 ? 'none' : cell(versions.join(', '))}`,
    '',
    '## Timeline',
    '',
    '| when | what | |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

/** Nothing in it ends a cell, or is taken for HTML. */
const cell = (text: string): string => plain(text).replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
