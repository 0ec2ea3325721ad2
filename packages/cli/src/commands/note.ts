// reprise note: leaves a note on a task or a failure group, for the next person who looks.

import type { CommandDefinition } from '../command/definition.ts'
import { usageError } from '../output/errors.ts'
import { plain } from '../output/plain-text.ts'

export const note: CommandDefinition = {
  path: ['note'],
  group: 'Operate',
  summary: 'Leave a note on a task or a failure group',
  details:
    'Leaves a note for the next person who looks: what was tried, who was asked. status, explain and groups show it. With --group the note is on a failure group. --remove takes a note away again.',
  arguments: [
    { name: '[id]', about: 'The task' },
    { name: '[text]', about: 'The note' },
  ],
  options: [
    { flags: '--group <fingerprint>', about: 'On this failure group, in place of a task' },
    { flags: '--remove <note>', about: 'Remove the note of this id' },
  ],
  examples: [
    ["reprise note 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 'asked billing, ticket 4711'", 'On a task'],
    ["reprise note --group 5d41402abc4b 'fixed in 2.3, redrive after the deploy'", 'On a cause'],
  ],
  async run(invocation) {
    const { api, options, output } = invocation
    const remove = options.text('remove')
    const group = options.text('group')
    const given = [...invocation.arguments]
    if (remove !== undefined) {
      if (given.length > 0 || group !== undefined)
        throw usageError('--remove takes the id of a note, and nothing beside it.')
      await api.removeNote({ id: remove })
      output.note('The note is removed.')
      return
    }
    const task = group === undefined ? given.shift() : undefined
    const [text, ...more] = given
    if (text === undefined || more.length > 0) {
      throw usageError(
        'Say what the note is on, and the note as one text in quotes.',
        "reprise note <task> '…', or reprise note --group <fingerprint> '…'",
      )
    }
    const subject = task === undefined ? { fingerprint: group ?? '' } : { task }
    const added = await api.addNote({ ...subject, text })
    output.one(added, ({ line }) => line(`Noted on ${plain(task ?? `failure group ${group}`)} as ${added.id}.`))
  },
}
