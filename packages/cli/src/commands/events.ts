// reprise events: what happened, from the journal.

import { present } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { LIMIT_MAX } from '../command/rows.ts'
import { askedQuery, termOf } from '../tasks/query.ts'
import { type Event, eventLine, typeList } from '../views/events.ts'

const LIMIT_DEFAULT = 50
const PAGE = 1_000
/** Tasks that are asked for their actions: more than anybody reads. */
const NAMED_MAX = 500
const NAMED_AT_ONCE = 10
/** A moment that never comes: reading from there begins, and ends, after the newest event. */
const NEVER = String(Number.MAX_SAFE_INTEGER)

export const events: CommandDefinition = {
  path: ['events'],
  group: 'Tasks',
  summary: 'Read what happened',
  details:
    'Reads the journal: everything unusual, and everything an operator did, oldest first. It shows the last events; with --cursor, the first ones that follow it. With a query, it shows only events of tasks that match the query now, back to --since.',
  arguments: [{ name: '[query...]', about: 'Only about tasks that match this query, as for list' }],
  options: [
    { flags: '--since <when>', about: 'Nothing earlier: 15m, 2h, or 2030-01-31T12:00:00Z' },
    { flags: '--until <when>', about: 'Nothing later, written in the same way' },
    { flags: '--actor <name>', about: 'Only events of actors with this in their name: ann@, token:, worker:' },
    { flags: '--task <id>', about: 'Only about this task' },
    { flags: '--type <types>', about: 'Only these types: execution.failed,task.*' },
    { flags: '-n, --limit <count>', about: `At most this many; ${LIMIT_DEFAULT} if not given` },
    { flags: '--cursor <cursor>', about: 'Go on where the reading before stopped' },
  ],
  examples: [
    ['reprise events', 'What happened last?'],
    ["reprise events --type 'lanes.*,breaker.*' -n 10", 'Who held what?'],
    ['reprise events --since 1d --actor token:', 'What did programs do?'],
    ['reprise events --since 1h action:invoice.send', 'What happened to invoices in the last hour?'],
    ['reprise events --task 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 -o jsonl', 'For a program'],
  ],
  async run(invocation) {
    const { output } = invocation
    const { items, cursor } = await read(invocation)
    if (output.format === 'json') output.one(items, () => undefined)
    else {
      const actions = output.format === 'table' ? await actionsOf(invocation, items) : undefined
      for (const event of items) output.event(event, (people) => eventLine(event, people, actions))
    }
    if (items.length === 0) output.note('Nothing of that kind happened.')
    output.note(`To go on from here: --cursor ${cursor}`)
  },
}

/** Of the tasks whose entries don't say it, as far as they are still there. */
async function actionsOf({ api }: Invocation, items: readonly Event[]): Promise<ReadonlyMap<string, string>> {
  const nameless = items.filter(({ data }) => data.taskId !== null && data.details.action === undefined)
  const ids = [...new Set(nameless.flatMap(({ data }) => data.taskId ?? []))].slice(-NAMED_MAX)
  const actions = new Map<string, string>()
  for (let at = 0; at < ids.length; at += NAMED_AT_ONCE) {
    const some = ids.slice(at, at + NAMED_AT_ONCE)
    const pages = await Promise.all(some.map((id) => api.listTasks({ q: termOf('id', id), limit: 1 })))
    for (const { id, action } of pages.flatMap((page) => page.items)) actions.set(id, action)
  }
  return actions
}

/** The first ones that follow a cursor; without one the last ones, in the order in which they happened. */
async function read(invocation: Invocation): Promise<{ readonly items: readonly Event[]; readonly cursor: string }> {
  const { api, options, output } = invocation
  const limit = options.whole('limit', 1, LIMIT_MAX) ?? LIMIT_DEFAULT
  const type = typeList(options.text('type')).join(',')
  const from = options.text('cursor')
  // Taken before the look back: what happens meanwhile comes after it.
  const end = from === undefined ? (await api.listEvents({ since: NEVER, limit: 1 })).cursor : null
  const q = askedQuery(invocation)
  const query = {
    ...options.given('task', 'since', 'until', 'actor'),
    ...(q === '' ? {} : { q }),
    ...(type === '' ? {} : { type }),
    ...(end === null ? {} : { newest: true }),
  }
  const progress = output.progress('read')
  const items: Event[] = []
  let cursor = from
  try {
    for (;;) {
      const size = end === null ? Math.min(PAGE, limit - items.length) : PAGE
      const page = await api.listEvents({ ...query, limit: size, ...present({ cursor }) })
      items.push(...page.items)
      progress.update(items.length, null)
      cursor = page.cursor
      if (items.length >= limit || page.next === null) break
    }
  } finally {
    progress.end()
  }
  return end === null ? { items, cursor } : { items: items.slice(0, limit).reverse(), cursor: end }
}
