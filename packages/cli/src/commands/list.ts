// reprise list: finds tasks by the query language.

import type { CommandDefinition } from '../command/definition.ts'
import { LIMIT_MAX, listed, pagesOf, type Read, showRows } from '../command/rows.ts'
import { WATCH } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import { plain } from '../output/plain-text.ts'
import { askedQuery } from '../tasks/query.ts'
import { type Task, taskColumns } from '../views/task-rows.ts'

const LIMIT_DEFAULT = 50

export const list: CommandDefinition = {
  path: ['list'],
  group: 'Tasks',
  summary: 'Find tasks, newest first',
  details:
    'Finds tasks by a query such as: status:dead action:invoice.* tenant:acme age>1h "connection reset". All terms must hold. A list means any of several (status:dead,waiting). not or - before a term negates it. Without a query: the newest tasks.',
  arguments: [{ name: '[query...]', about: 'What to find' }],
  options: [
    { flags: '-n, --limit <count>', about: `At most this many; ${LIMIT_DEFAULT} if not given` },
    { flags: '--all', about: 'Show all of them' },
    { flags: '--cursor <cursor>', about: 'Go on where the list before stopped' },
    WATCH,
  ],
  examples: [
    ['reprise list', 'What is going on?'],
    ["reprise list status:dead 'action:invoice.*' 'age>1h' 'connection reset'", 'What went wrong?'],
    ['reprise list --all -o jsonl status:waiting | jq -r .id', 'For a program'],
  ],
  async run(invocation) {
    const { api, options, output } = invocation
    const q = askedQuery(invocation)
    const all = options.flag('all')
    const some = options.whole('limit', 1, LIMIT_MAX)
    if (all && (some !== undefined || options.flag('watch'))) {
      throw usageError('--all can not stand beside --limit or --watch.')
    }
    const read: Read<Task> = (page) => api.listTasks({ q, ...page })
    const limit = all ? Number.POSITIVE_INFINITY : (some ?? LIMIT_DEFAULT)
    const part = { limit, cursor: options.text('cursor') }
    if (all && output.format === 'jsonl') {
      // Line by line as they are found, however many.
      for await (const { items } of pagesOf(read, part)) for (const task of items) output.event(task, () => undefined)
      return
    }
    let next: string | null = null
    await showRows(invocation, {
      read: async () => {
        const found = await listed(read, { ...part, ...(all ? { progress: output.progress('found') } : {}) })
        next = found.next
        return found.items
      },
      key: ({ id }) => id,
      columns: taskColumns,
      none: q === '' ? 'There is no task.' : `No task matches ${plain(q)}`,
    })
    if (next !== null && !options.flag('watch')) output.note(`There are more: -n, --all, or --cursor ${String(next)}`)
  },
}
