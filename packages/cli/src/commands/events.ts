// reprise events: what happened, from the journal.

import type { Client, JournalEntry, JournalPage } from '@reprise/client'
import type { CommandDefinition } from '../frame/definition.ts'
import type { Invocation } from '../frame/invocation.ts'
import { eventLine, eventRecord, isOfTypes, typeList } from '../views/events.ts'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 100_000
const PAGE = 1_000

export const events: CommandDefinition = {
  path: ['events'],
  group: 'Tasks',
  summary: 'Read what happened',
  details:
    'Reads the journal: everything unusual, and everything an operator did, oldest first. It shows the last ones; with --cursor, the first ones that follow it.',
  options: [
    { flags: '--task <id>', about: 'Only about this task' },
    { flags: '--type <types>', about: 'Only these types: execution.failed,task.*' },
    { flags: '-n, --limit <count>', about: `At most so many; ${LIMIT_DEFAULT} if not given` },
    { flags: '--cursor <cursor>', about: 'Go on where the reading before stopped' },
  ],
  examples: [
    { command: 'reprise events', says: 'What happened last?' },
    { command: "reprise events --type 'lanes.*,breaker.*' -n 10", says: 'Who held what?' },
    { command: 'reprise events --task 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 -o jsonl', says: 'For a program' },
  ],
  async run(invocation) {
    const { options, output } = invocation
    const limit = options.whole('limit', 1, LIMIT_MAX) ?? LIMIT_DEFAULT
    const types = typeList(options.text('type'))
    const { entries, cursor } = await read(invocation, limit, types)
    if (output.format === 'json') output.one(entries, () => undefined)
    else for (const entry of entries) output.event(entry, (people) => eventLine(entry, people))
    if (entries.length === 0) output.note('Nothing of that kind happened.')
    output.note(`To go on from here: --cursor ${cursor}`)
    return undefined
  },
}

async function read(invocation: Invocation, limit: number, types: readonly string[]): Promise<JournalPage> {
  const client: Client = await invocation.connect()
  const { options } = invocation
  const taskId = options.text('task')
  const wanted: Wanted = {
    client,
    limit,
    isWanted: isOfTypes(types),
    task: taskId === undefined ? {} : { taskId },
    progress: invocation.output.progress('read'),
  }
  try {
    const from = options.text('cursor')
    return from === undefined ? await readLast(wanted) : await readOn(wanted, from)
  } finally {
    wanted.progress.end()
  }
}

interface Wanted {
  readonly client: Client
  readonly limit: number
  readonly isWanted: (entry: JournalEntry) => boolean
  readonly task: { readonly taskId?: string }
  readonly progress: ReturnType<Invocation['output']['progress']>
}

/** The last ones, in the order in which they happened. */
async function readLast({ client, limit, isWanted, task, progress }: Wanted): Promise<JournalPage> {
  // Taken before the look back: what happens meanwhile comes after it.
  const end = await client.journalEnd()
  const kept: JournalEntry[] = []
  let cursor: string | null = null
  for (let count = 0; ; ) {
    const place: { readonly cursor?: string } = cursor === null ? {} : { cursor }
    const page: JournalPage = await client.journal({ newest: true, limit: PAGE, ...task, ...place })
    count += page.entries.length
    progress.update(count, null)
    kept.push(...page.entries.filter(isWanted).map(eventRecord))
    if (kept.length >= limit || isEnd(page, cursor)) return { entries: kept.slice(0, limit).reverse(), cursor: end }
    cursor = page.cursor
  }
}

/** The first ones that follow a cursor. */
async function readOn({ client, limit, isWanted, task, progress }: Wanted, from: string): Promise<JournalPage> {
  const kept: JournalEntry[] = []
  let cursor = from
  for (let count = 0; ; ) {
    const page = await client.journal({ limit: Math.min(PAGE, limit - kept.length), cursor, ...task })
    count += page.entries.length
    progress.update(count, null)
    kept.push(...page.entries.filter(isWanted).map(eventRecord))
    if (kept.length >= limit || isEnd(page, cursor)) return { entries: kept, cursor: page.cursor }
    cursor = page.cursor
  }
}

/** A server may leave out what the caller must not see: a page without entries is the end only if its place is too. */
const isEnd = (page: JournalPage, cursor: string | null): boolean => page.entries.length === 0 && page.cursor === cursor
