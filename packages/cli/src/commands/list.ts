// reprise list: finds tasks by the query language.

import type { CommandDefinition } from '../frame/definition.ts'
import type { Invocation } from '../frame/invocation.ts'
import { showRows } from '../operate/rows.ts'
import { allFound, queryOf } from '../operate/search.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'
import type { TaskRecord } from '../views/records.ts'
import { taskColumns } from '../views/task-rows.ts'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 100_000
const PAGE_MAX = 1_000

export const list: CommandDefinition = {
  path: ['list'],
  group: 'Tasks',
  summary: 'Find tasks, newest first',
  details:
    'Finds tasks by a query such as: status:dead action:invoice.* tenant:acme age>1h "connection reset". All terms hold together; a list means any of several (status:dead,waiting), and not or - before a term turns it round (after -- if it comes first). Without a query: the newest tasks.',
  arguments: [{ name: '[query...]', about: 'What to find' }],
  options: [
    { flags: '-n, --limit <count>', about: `At most so many; ${LIMIT_DEFAULT} if not given` },
    { flags: '--all', about: 'As many as there are' },
    { flags: '--cursor <cursor>', about: 'Go on where the list before stopped' },
    { flags: '-w, --watch', about: 'Keep looking, until interrupted' },
  ],
  examples: [
    { command: 'reprise list', says: 'What is going on?' },
    { command: "reprise list status:dead 'action:invoice.*' 'age>1h' 'connection reset'", says: 'What went wrong?' },
    { command: 'reprise list --all -o jsonl status:waiting | jq -r .id', says: 'For a program' },
  ],
  async run(invocation) {
    const { options, output } = invocation
    const query = queryOf(invocation.arguments)
    const limit = options.whole('limit', 1, LIMIT_MAX)
    const all = options.flag('all')
    if (all && (limit !== undefined || options.flag('watch'))) {
      throw new CommandError('--all can not stand beside --limit or --watch.', { exitCode: EXIT.usage })
    }
    if (all && output.format === 'jsonl') return streamed(invocation, query)
    let next: string | null = null
    await showRows<TaskRecord>(invocation, {
      read: async () => {
        if (all) return everything(invocation, query)
        const found = await firstOnes(invocation, query, limit ?? LIMIT_DEFAULT)
        next = found.next
        return found.tasks
      },
      key: ({ id }) => id,
      columns: taskColumns,
      none: query === '' ? 'There is no task.' : 'No task agrees with that.',
    })
    if (next !== null && !options.flag('watch')) output.note(`There are more: -n, --all, or --cursor ${String(next)}`)
    return undefined
  },
}

/** Line by line as they are found, however many. */
async function streamed(invocation: Invocation, query: string): Promise<undefined> {
  const { taskRecord } = await import('../views/records.ts')
  const client = await invocation.connect()
  for await (const task of allFound(client, query, invocation.options.text('cursor') ?? null)) {
    invocation.output.event(taskRecord(task), () => undefined)
  }
}

async function everything(invocation: Invocation, query: string): Promise<readonly TaskRecord[]> {
  const { taskRecord } = await import('../views/records.ts')
  const client = await invocation.connect()
  const progress = invocation.output.progress('found')
  const tasks: TaskRecord[] = []
  try {
    for await (const task of allFound(client, query, invocation.options.text('cursor') ?? null)) {
      tasks.push(taskRecord(task))
      progress.update(tasks.length, null)
    }
  } finally {
    progress.end()
  }
  return tasks
}

async function firstOnes(
  invocation: Invocation,
  query: string,
  limit: number,
): Promise<{ readonly tasks: readonly TaskRecord[]; readonly next: string | null }> {
  const { taskRecord } = await import('../views/records.ts')
  const client = await invocation.connect()
  const tasks: TaskRecord[] = []
  let cursor = invocation.options.text('cursor') ?? null
  do {
    // A page may be short, or empty, though more follow.
    const page: Awaited<ReturnType<typeof client.search>> = await client.search(query, {
      limit: Math.min(limit - tasks.length, PAGE_MAX),
      ...(cursor === null ? {} : { cursor }),
    })
    tasks.push(...page.items.map(taskRecord))
    cursor = page.next
  } while (cursor !== null && tasks.length < limit)
  return { tasks, next: cursor }
}
