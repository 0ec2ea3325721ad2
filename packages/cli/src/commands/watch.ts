// reprise watch: what happens, as it happens.

import type { LiveEvent } from '@reprise/client'
import { present } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { EXIT } from '../output/exit-codes.ts'
import { askedQuery, termOf } from '../tasks/query.ts'
import { eventLine, typeList } from '../views/events.ts'

const COUNT_MAX = 1_000_000_000

export const watch: CommandDefinition = {
  path: ['watch'],
  group: 'Tasks',
  summary: 'Follow what happens, live',
  details:
    'Follows the journal from now on, or from --cursor: failures, losses, retries, and what operators did. With a query, only events of tasks that match it at that time. It waits for a server or a store that is away, and runs until you interrupt it; then it says how to go on. With -o json or jsonl it writes one line of JSON for each event.',
  arguments: [{ name: '[query...]', about: 'Only about tasks that match this query, as for list' }],
  options: [
    { flags: '--type <types>', about: 'Only these types: execution.failed,task.*' },
    { flags: '--task <id>', about: 'Only about this task' },
    { flags: '--cursor <cursor>', about: 'Go on from an event that was seen' },
    { flags: '--count <count>', about: 'End after this many events' },
  ],
  examples: [
    ['reprise watch', 'Everything'],
    ["reprise watch --type 'execution.*' 'action:invoice.*'", 'How invoices fail'],
    ['reprise watch --count 1 --type breaker.opened -o jsonl', 'Wait for one event, in a script'],
  ],
  endsWhenAsked: true,
  async run(invocation) {
    const { host, options, output } = invocation
    const types = typeList(options.text('type'))
    const client = await invocation.connect()
    const agrees = await filterOf(invocation)
    const maxCount = options.whole('count', 1, COUNT_MAX) ?? Number.POSITIVE_INFINITY
    let seen: LiveEvent | null = null
    let count = 0
    for await (const event of client.watch({
      signal: host.asked,
      types,
      ...options.given('cursor'),
      ...present({ taskId: options.text('task') }),
    })) {
      seen = event
      if (!(await agrees(event))) continue
      output.event(event, (people) => eventLine(event, people))
      count++
      if (count >= maxCount) return undefined
    }
    if (seen !== null) output.note(`To go on from here: --cursor ${seen.cursor}`)
    return host.asked.reason === 'SIGTERM' ? undefined : EXIT.interrupted
  },
}

/** What the query finds is asked for each event: a task may come to agree, or cease to. */
async function filterOf(invocation: Invocation): Promise<(event: LiveEvent) => Promise<boolean>> {
  const query = askedQuery(invocation)
  if (query === '') return async () => true
  const { parseQuery } = await import('@reprise/core')
  parseQuery(query)
  return async ({ subject }) => {
    if (subject === undefined) return false
    const { items } = await invocation.api.listTasks({ q: `${termOf('id', subject)} ${query}`, limit: 1 })
    return items.length > 0
  }
}
