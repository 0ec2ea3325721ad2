// The operation that reads the journal as events. Following it live is a stream of its own.

import {
  CLOCK_STEP_BACK_MS,
  compileFilter,
  durationMs,
  type Engine,
  InvalidError,
  type JournalEntry,
  type JournalPage,
  parseQuery,
  type Task,
  type TaskId,
  typeFilter,
} from '@reprise/core'
import { z } from 'zod'
import type { Caller } from './access/caller.ts'
import { ownFilter, ownTask } from './access/own-tasks.ts'
import type { Context } from './context.ts'
import { given } from './given.ts'
import { inTurns } from './in-turns.ts'
import { operation } from './operation.ts'
import { EventFilter, EventView } from './schemas/event.ts'
import { flagInput, listOf, PageQuery } from './schemas/names.ts'
import { seenBy } from './sight.ts'

const PAGE_ENTRIES = 100
/** With a query, each entry may mean a look at its task. */
const QUERIED_ENTRIES_MAX = 100

export const eventOperations = {
  listEvents: operation({
    route: 'GET /api/v1/events',
    summary: 'Read events on from a cursor',
    tag: 'events',
    right: 'read',
    tenants: 'own',
    input: PageQuery.extend({
      cursor: z
        .string()
        .max(2_000)
        .optional()
        .meta({ description: '`cursor` of the page before, in the same direction.' }),
      since: z.string().min(1).max(40).optional().meta({
        description:
          "Nothing earlier: how long ago, such as '15m', or a moment, in milliseconds since 1970 or as an ISO 8601 time. Reading begins there if no cursor is given.",
      }),
      until: z.string().min(1).max(40).optional().meta({ description: 'Nothing later; written as `since` is.' }),
      actor: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .meta({ description: 'Only what somebody did whose name has this in it, such as `token:` or `ann@`.' }),
      newest: flagInput.optional().meta({ description: 'Newest first, and with `cursor` further back.' }),
      q: z.string().max(1_000).optional().meta({
        description:
          'Only events about tasks that agree with this query now, such as `action:invoice.* status:dead`. A page then looks at 100 events at the most.',
      }),
      ...EventFilter.shape,
    }),
    output: z
      .object({
        items: listOf(EventView),
        next: z.string().nullable().meta({
          description: 'For the next page; null on the last one for now. A page may be empty and have a next one.',
        }),
        cursor: z.string().meta({ description: 'Read on from here later, also when nothing follows yet.' }),
      })
      .meta({ id: 'EventPage' }),
    answer: 'Oldest first, if not asked for the newest.',
    run: async (context, caller, input) => {
      const { engine, events, clock } = context
      const { cursor, since, until, actor, newest = false, type, task, q } = input
      const agrees = q === undefined ? null : agreeing(context, caller, q)
      const asked = input.limit ?? PAGE_ENTRIES
      const limit = agrees === null ? asked : Math.min(asked, QUERIED_ENTRIES_MAX)
      const { tenants } = caller
      const from = since === undefined ? Number.NEGATIVE_INFINITY : await momentOf(engine, since)
      const to = until === undefined ? Number.POSITIVE_INFINITY : await momentOf(engine, until, 'until')
      const start = cursor ?? (since === undefined || newest ? undefined : await engine.journal.from(from))
      const taskId =
        task === undefined || tenants === null ? task : ((await ownTask(engine, caller, task))?.id ?? NO_TASK)
      const page: JournalPage = await engine.journal.read({
        limit,
        ...given({ cursor: start, taskId }),
        ...(newest ? { newest: true } : {}),
      })
      const isWanted = typeFilter(typesOf(type))
      const wanted = page.entries.filter(({ at, type: kind }) => at >= from && at <= to && isWanted(`reprise.${kind}`))
      const made = await inTurns(clock, wanted, async (entry) => {
        if (!(await events.tenants.maySee(entry, tenants))) return null
        return agrees === null || (await agrees(entry)) ? events.makeEvent(entry, tenants) : null
      })
      // By the name that the caller sees: who is limited to tenants does not learn the names of workers by asking for them.
      const isBy = actorFilter(actor)
      const items = made.filter((event) => event !== null).filter(({ data }) => isBy(data.actor))
      const last = page.entries.at(-1)?.at
      const isPast = last !== undefined && (newest ? last < from - CLOCK_STEP_BACK_MS : last > to + CLOCK_STEP_BACK_MS)
      const hasMore = page.entries.length === limit && !isPast
      return { items, next: hasMore ? page.cursor : null, cursor: page.cursor }
    },
  }),
}

function actorFilter(part: string | undefined): (actor: string) => boolean {
  if (part === undefined) return () => true
  const wanted = part.toLowerCase()
  return (actor) => actor.toLowerCase().includes(wanted)
}

/** Whether the task of an entry agrees with a query, as its caller sees it. Each task is looked at once. */
function agreeing(context: Context, caller: Caller, q: string): (entry: JournalEntry) => Promise<boolean> {
  const { engine, clock } = context
  const agrees = compileFilter(ownFilter(parseQuery(q), caller), seenBy(context, caller))
  const looks = new Map<TaskId, Promise<Task | null>>()
  const now = clock.now()
  return async ({ taskId, at }) => {
    if (taskId === null) return false
    const look = looks.get(taskId) ?? engine.task(taskId, { light: true })
    looks.set(taskId, look)
    const task = await look
    // An id may be used again: entries from before belong to another task.
    return task !== null && task.acceptedAt <= at && agrees(task, now)
  }
}

/**
 * No task has it: no name may climb. How many entries there are about another tenant's task would show in cursors: it is read
 * as one that does not exist.
 */
const NO_TASK = '..' as TaskId

/** How many entries there are about another tenant's task shows in cursors: it is read as one that does not exist. */
export const typesOf = (type: string | undefined): string[] => (type ?? '').split(',').filter((one) => one !== '')

/** How long ago by the store's clock, or a moment. A time span has a unit, so digits alone are a moment. */
export async function momentOf(engine: Pick<Engine, 'now'>, text: string, field = 'since'): Promise<number> {
  if (/^\d+$/.test(text)) return Number(text)
  if (/^\d{4}-\d\d-\d\dT/.test(text)) {
    const moment = Date.parse(text)
    if (!Number.isNaN(moment)) return moment
    throw new InvalidError(`${field} is not a moment: write it as in 2030-01-01T12:00:00Z.`)
  }
  const agoMs = durationMs(text, field)
  return (await engine.now()) - agoMs
}
