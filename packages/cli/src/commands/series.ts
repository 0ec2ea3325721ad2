// reprise series: what happened, minute by minute.

import { present, SERIES_POINTS_MAX } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { showRows } from '../command/rows.ts'
import { SCOPE, scopeOf, WATCH } from '../command/shared-options.ts'
import { isoTime } from '../output/times.ts'

const FIGURES = ['accepted', 'started', 'succeeded', 'failed', 'lost', 'retried', 'dead', 'cancelled'] as const

export const series: CommandDefinition = {
  path: ['series'],
  group: 'Operate',
  summary: 'Show what happened, minute by minute',
  details:
    'Shows for each of the last minutes how many tasks were accepted and started, and how they ended. Minutes in which nothing happened are left out.',
  options: [{ flags: '--minutes <count>', about: 'How many of the last; 60 if not given' }, ...SCOPE, WATCH],
  examples: [
    ['reprise series --minutes 10', 'Since when does it fail?'],
    ["reprise series --action invoice.send -o json | jq '.[-1].failed'", 'For a program'],
  ],
  async run(invocation) {
    const { api, options } = invocation
    const minutes = options.whole('minutes', 1, SERIES_POINTS_MAX)
    return showRows(invocation, {
      read: async () => (await api.series({ ...scopeOf(options), ...present({ minutes }) })).items,
      key: ({ at }) => String(at),
      columns: () => [
        { title: 'MINUTE', value: ({ at }) => isoTime(at).slice(minuteFrom(invocation), 16) },
        ...FIGURES.map((name) => ({
          title: name.toUpperCase(),
          value: (point: Readonly<Record<typeof name, number>>) => point[name],
          right: true,
        })),
      ],
      none: 'Nothing happened in this time.',
    })
  },
}

/** The day takes the room of figures: a narrow terminal shows the time alone. */
const minuteFrom = ({ host, output }: Invocation): number =>
  output.isForPeople && host.stdout.isTTY === true && (host.stdout.columns ?? 80) < 90 ? 'yyyy-mm-ddT'.length : 0
