// reprise note: leaves a note on a task or a failure group, for the next person who looks.

import { isRepriseError } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { usageError } from '../output/errors.ts'
import { plain } from '../output/plain-text.ts'

export const note: CommandDefinition = {
  path: ['note'],
  group: 'Operate',
  summary: 'Leave a note on a task or a failure group',
  details:
    'Leaves a note for the next person who looks: what was tried, who was asked. status, explain and groups show it. With --group, or if the id is no task but the fingerprint of a failure group, the note is on that group. --remove takes a note away again.',
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
    ["reprise note --group 5f3a0c1e9b7d2468 'fixed in 2.3, redrive after the deploy'", 'On a cause'],
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
    const { added, on } = task === undefined ? await onGroup(api, group ?? '', text) : await onTask(api, task, text)
    output.one(added, ({ line }) => line(`Noted on ${plain(on)} as ${added.id}.`))
  },
}

type Api = Invocation['api']

async function onGroup(api: Api, fingerprint: string, text: string) {
  return { added: await api.addNote({ fingerprint, text }), on: `failure group ${fingerprint}` }
}

/** What was copied from a list of causes is no id of a task. */
async function onTask(api: Api, task: string, text: string) {
  try {
    return { added: await api.addNote({ task, text }), on: task }
  } catch (error) {
    if (!(isRepriseError(error) && error.code === 'REPRISE_NOT_FOUND' && FINGERPRINT.test(task))) throw error
    return onGroup(api, task, text)
  }
}

const FINGERPRINT = /^[0-9a-f]{16}$/
