// reprise ledger: whether every accepted task stands somewhere.

import type { OperationOutput } from '@reprise/client'
import type { CommandDefinition } from '../command/definition.ts'
import { EXIT } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import type { Column } from '../output/table.ts'
import { relativeTime } from '../output/times.ts'

type Ledger = OperationOutput<'getLedger'>
type Row = Ledger['items'][number]

const PAGES_MAX = 20

const number = (title: string, value: (row: Row) => number): Column<Row> => ({ title, value, right: true })

const COLUMNS: readonly Column<Row>[] = [
  { title: 'TENANT', value: ({ tenant }) => tenant, flexible: true },
  { title: 'ACTION', value: ({ action }) => action, flexible: true },
  number('ACCEPTED', ({ accepted }) => accepted),
  number('SUCCEEDED', ({ succeeded }) => succeeded),
  number('DEAD', ({ dead }) => dead),
  number('LIVE', ({ live }) => live),
  number('OTHER', ({ discarded, cancelled, removed }) => discarded + cancelled + removed),
  {
    ...number('OFF BY', ({ difference }) => difference),
    style: (_, { difference }) => (difference === 0 ? null : 'red'),
  },
]

export const ledger: CommandDefinition = {
  path: ['ledger'],
  group: 'Operate',
  summary: 'Check that no accepted task is missing from the counts',
  details:
    'Shows for each tenant and action that accepted = succeeded + dead + discarded + cancelled + live + removed. An orchestrator compares these counts with the tasks all the time. The command lists the differences, with the tasks that are gone, and ends with code 1 if there is one.',
  options: [
    { flags: '--action <action>', about: 'Only of this action' },
    { flags: '--tenant <tenant>', about: 'Only of this tenant' },
  ],
  examples: [
    ['reprise ledger', 'Is anything missing?'],
    ["reprise ledger -o json | jq '.differences'", 'For a program'],
  ],
  async run({ api, options, output }) {
    const asked = options.given('action', 'tenant')
    let found = await api.getLedger({ ...asked, limit: 1_000 })
    let { next } = found
    for (let page = 1; next !== null && page < PAGES_MAX; page++) {
      const more: Ledger = await api.getLedger({ ...asked, limit: 1_000, cursor: next })
      found = { ...more, items: [...found.items, ...more.items] }
      next = more.next
    }
    const { items, differences, checked, isChecking } = found
    const isOff = differences.length > 0 || items.some(({ difference }) => difference !== 0)
    output.one(found, ({ line, table, beside }) => {
      if (items.length > 0) table(items, COLUMNS)
      line()
      line(
        checked === null
          ? `No whole look through the store has ended yet${isChecking ? ', one is under way' : ': run an orchestrator'}.`
          : `Checked ${checked.checked} things, ended ${relativeTime(checked.endedAt, output.now())}.`,
      )
      if (!isOff) line('The counts agree: every accepted task is accounted for.')
      for (const { subject, found: is, expected, sentence, since } of differences) {
        const what = `${subject}: ${is}, expected: ${expected} (${relativeTime(since, output.now())}). ${sentence}`
        beside('! ', plain(what), 'red')
      }
    })
    return isOff ? EXIT.error : undefined
  },
}
