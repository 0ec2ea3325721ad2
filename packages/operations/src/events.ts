// The operation that reads the journal as events. Following it live is a stream of its own.

import { CLOCK_STEP_BACK_MS, durationMs, type Engine, InvalidError, type JournalPage, typeFilter } from '@reprise/core'
import { z } from 'zod'
import { given } from './given.ts'
import { operation } from './operation.ts'
import { EventFilter, EventView } from './schemas/event.ts'
import { flagInput, listOf, PageQuery } from './schemas/names.ts'

const PAGE_ENTRIES = 100

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
      newest: flagInput.optional().meta({ description: 'Newest first, and with `cursor` further back.' }),
      ...EventFilter.shape,
    }),
    output: z
      .object({
        items: listOf(EventView),
        cursor: z.string().meta({ description: 'Read on from here, also when nothing follows yet.' }),
        more: z.boolean().meta({ description: 'Whether more may follow at once: a page may be empty and have more.' }),
      })
      .meta({ id: 'EventPage' }),
    answer: 'Oldest first, if not asked for the newest.',
    run: async ({ engine, events }, { tenants }, input) => {
      const { limit = PAGE_ENTRIES, cursor, since, newest = false, type, task } = input
      const from = since === undefined ? Number.NEGATIVE_INFINITY : await momentOf(engine, since)
      const start = cursor ?? (since === undefined || newest ? undefined : await engine.journal.from(from))
      const page: JournalPage = await engine.journal.read({
        limit,
        ...given({ cursor: start, taskId: task }),
        ...(newest ? { newest: true } : {}),
      })
      const isWanted = typeFilter(typesOf(type))
      const items = []
      for (const entry of page.entries) {
        if (entry.at < from || !isWanted(`reprise.${entry.type}`)) continue
        if (await events.tenants.maySee(entry, tenants)) items.push(events.makeEvent(entry))
      }
      const isPast = newest && (page.entries.at(-1)?.at ?? from) < from - CLOCK_STEP_BACK_MS
      return { items, cursor: page.cursor, more: page.entries.length === limit && !isPast }
    },
  }),
}

export const typesOf = (type: string | undefined): string[] => (type ?? '').split(',').filter((one) => one !== '')

/** How long ago by the store's clock, or a moment. A time span has a unit, so digits alone are a moment. */
async function momentOf(engine: Pick<Engine, 'now'>, since: string): Promise<number> {
  if (/^\d+$/.test(since)) return Number(since)
  if (/^\d{4}-\d\d-\d\dT/.test(since)) {
    const moment = Date.parse(since)
    if (!Number.isNaN(moment)) return moment
    throw new InvalidError(`since is not a moment: write it as in 2030-01-01T12:00:00Z.`)
  }
  const agoMs = durationMs(since, 'since')
  return (await engine.now()) - agoMs
}
