// reprise export: tasks with all their attempts, one per line, for another pipeline (B12).

import type { CommandDefinition } from '../command/definition.ts'
import { askedQuery } from '../tasks/query.ts'

const LIMIT_MAX = 1_000_000_000

export const exportCommand: CommandDefinition = {
  path: ['export'],
  group: 'Tasks',
  summary: 'Write tasks and their attempts as lines of JSON',
  details:
    'Writes every task that a query finds, with all its attempts, as one line of JSON each, newest first. Changes nothing. A server hides what its rules redact. With --raw it hides nothing; this needs the scope configure.',
  arguments: [{ name: '[query...]', about: 'What to find, as for list; everything if missing' }],
  options: [
    { flags: '-n, --limit <count>', about: 'At most this many; all if not given' },
    { flags: '--raw', about: 'Nothing redacted' },
  ],
  examples: [
    ['reprise export status:dead > dead.ndjson', 'All dead letters'],
    ['reprise export -n 1', 'What does one look like?'],
    ["reprise export 'action:invoice.*' --raw | gzip > invoices.ndjson.gz", 'For another pipeline'],
  ],
  async run(invocation) {
    const { output, options } = invocation
    const limit = options.whole('limit', 1, LIMIT_MAX) ?? Number.POSITIVE_INFINITY
    const client = await invocation.connect()
    const progress = output.progress('written')
    let count = 0
    try {
      const input = { q: askedQuery(invocation), raw: options.flag('raw') }
      for await (const task of client.exportTasks(input)) {
        output.json(JSON.stringify(task))
        count++
        progress.update(count, null)
        if (count >= limit) break
      }
    } finally {
      progress.end()
    }
    output.note(`${count} ${count === 1 ? 'task' : 'tasks'} written.`)
  },
}
