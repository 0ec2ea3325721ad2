// reprise diff: a failed attempt beside the last good one.

import { unitOf } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import { plain } from '../output/plain-text.ts'
import { relativeTime } from '../output/times.ts'

export const diff: CommandDefinition = {
  path: ['diff'],
  group: 'Operate',
  summary: 'Show how a failed attempt differs from the last good one',
  details:
    'Compares the last failed attempt of a task with the last success of the same action and tenant before it: worker, version, host, labels, payload, duration. It leaves out what is the same.',
  arguments: [{ name: '<id>', about: 'The task' }],
  examples: [
    ['reprise diff 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', 'What is different?'],
    ["reprise diff 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 -o json | jq '.differences[].feature'", 'For a program'],
  ],
  async run({ api, output, arguments: [id = ''] }) {
    const found = await api.diffAttempt({ id })
    output.one(found, ({ line, table }) => {
      const { failed, good, differences } = found
      if (good === null) return line(plain(found.summary))
      const now = output.now()
      line(`failed  ${plain(failed.task)}, attempt ${failed.attempt}, ${relativeTime(failed.at, now)}`)
      line(`good    ${plain(good.task)}, attempt ${good.attempt}, ${relativeTime(good.at, now)}`)
      line()
      table(differences, [
        { title: 'WHAT', value: ({ feature }) => feature },
        { title: 'FAILED', value: ({ feature, failed }) => withUnit(feature, failed), flexible: true },
        { title: 'GOOD', value: ({ feature, good }) => withUnit(feature, good), flexible: true },
      ])
    })
  },
}

const withUnit = (feature: string, value: string | number | null) =>
  value === null ? null : `${value}${unitOf(feature)}`
