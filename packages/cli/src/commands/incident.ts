// reprise incident: what happened in a period, on one line, at a terminal or as Markdown for the post-mortem.

import type { OperationOutput } from '@reprise/client'
import { incidentMarkdown, incidentText, joinedIncident } from '@reprise/core'
import type { CommandDefinition, OptionDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { plain } from '../output/plain-text.ts'
import { isoTime } from '../output/times.ts'

type Line = OperationOutput<'getIncident'>['items'][number]

const PAGES_MAX = 1_000
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
          beside(`${isoTime(one.at)} ${one.kind.padEnd(10)} `, plain(incidentText(one)), 'dim'),
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
    invocation.output.raw(incidentMarkdown(await timeline(invocation)))
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
  return joinedIncident(lines)
}
