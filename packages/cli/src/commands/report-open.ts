// reprise report open: what waits for a person, by owner and age.

import type { OperationOutput } from '@reprise/client'
import type { CommandDefinition } from '../command/definition.ts'
import type { Column } from '../output/table.ts'
import { relativeTime } from '../output/times.ts'

type Report = OperationOutput<'reportOpenGroups'>
type Owner = Report['owners'][number]
type Group = Report['groups'][number]

const NOBODY = '(nobody)'
const AGES = ['< 1D', '< 3D', '< 7D', 'OLDER'] as const

const ownerColumns = (now: number): readonly Column<Owner>[] => [
  { title: 'OWNER', value: ({ owner }) => owner ?? NOBODY, flexible: true },
  { title: 'GROUPS', value: ({ groups }) => groups, right: true },
  { title: 'DEAD LETTERS', value: ({ deadLetters }) => deadLetters, right: true },
  ...AGES.map((title, at): Column<Owner> => ({ title, value: ({ ages }) => ages[at] ?? 0, right: true })),
  { title: 'OLDEST', value: ({ oldestSince }) => relativeTime(oldestSince, now) },
]

const groupColumns = (now: number): readonly Column<Group>[] => [
  { title: 'GROUP', value: ({ fingerprint }) => fingerprint },
  { title: 'ACTION', value: ({ action }) => action, flexible: true },
  { title: 'CODE', value: ({ code }) => code, flexible: true },
  { title: 'OWNER', value: ({ owner }) => owner ?? NOBODY, flexible: true },
  { title: 'STATE', value: ({ status }) => status },
  { title: 'DEAD', value: ({ deadLetters }) => deadLetters, right: true },
  { title: 'OPEN', value: ({ since }) => relativeTime(since, now) },
]

export const reportOpen: CommandDefinition = {
  path: ['report', 'open'],
  group: 'Operate',
  summary: 'List what waits for a person: open failure groups by owner and age',
  details:
    'Sums the failure groups that are open or acknowledged and still have dead letters, by owner, and lists the oldest. The owner is the person who took the group (groups ack --owner), or the owner that the policies name.',
  examples: [
    ['reprise report open', 'Who has to look at what?'],
    ["reprise report open -o json | jq '.owners'", 'For a program'],
  ],
  async run({ api, output }) {
    const report = await api.reportOpenGroups()
    output.one(report, ({ line, table }) => {
      if (report.groups.length === 0) {
        line('Nothing waits for a person.')
        return
      }
      table(report.owners, ownerColumns(output.now()))
      line()
      table(report.groups, groupColumns(output.now()))
      if (!report.isWhole) line('There are more groups than one report looks at: the rest is not in it.')
    })
  },
}
