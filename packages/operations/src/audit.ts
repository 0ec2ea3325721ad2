// The audit: who did what, and whether the record of it is whole. The record is the journal; an orchestrator seals it
// (packages/orchestrator/src/audit). Here it is read, checked and exported.

import { type Engine, InvalidError, type JournalEntry, typeFilter } from '@reprise/core'
import {
  HEAD_ID,
  linesOf,
  NO_SEAL,
  type SealPlace,
  sealHeadIn,
  sealId,
  sealsIn,
  type VerifyPlace,
  verifyStep,
} from '@reprise/orchestrator'
import { z } from 'zod'
import { momentOf, typesOf } from './events.ts'
import { given } from './given.ts'
import { aTurn, inTurns } from './in-turns.ts'
import { linesOperation, operation } from './operation.ts'
import { digitsInput, listOf, Moment, NameInput, PageQuery } from './schemas/names.ts'
import type { Redaction } from './views.ts'

/** A page looks at this many entries at the most. */
const LOOKED_AT_MAX = 1_000
const LIMIT_DEFAULT = 100
const READ_AT_ONCE = 100

const EntryView = z
  .object({
    id: z.string(),
    at: Moment,
    type: z.string(),
    taskId: z.string().nullable(),
    attempt: z.int().nullable(),
    actor: z.string(),
    reason: z.string(),
    data: z.record(z.string(), z.unknown()).meta({
      description: 'Of `operation.performed`: operation, request, input, and what was there before and after, as JSON.',
    }),
  })
  .meta({ id: 'AuditEntry' })

const SealedView = z.object({ number: z.int(), hash: z.string() }).meta({ id: 'SealPlace' })

const ProblemView = z.object({
  kind: z.enum([
    'entry_changed',
    'entry_missing',
    'entries_swapped',
    'entry_added',
    'entry_never_sealed',
    'seal_changed',
    'seal_missing',
    'chain_broken',
    'head_changed',
  ]),
  seal: z.int(),
  entries: listOf(z.string()),
  sentence: z.string(),
})

const VerifiedView = z
  .object({
    seals: z.int(),
    entries: z.int(),
    removed: z.int().meta({ description: 'Sealed entries that retention has removed since.' }),
    problems: listOf(ProblemView),
    unsealed: z.int().meta({ description: 'Entries that follow the last seal; of 500, there may be more.' }),
    head: SealedView.meta({
      description:
        'The last seal. Keep it elsewhere, and give it as `expected` later: then a chain made anew shows, too.',
    }),
    next: z.string().nullable().meta({ description: 'Go on with it as `cursor`; null at the end.' }),
  })
  .meta({ id: 'AuditVerified' })

const LineView = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('entry'), seal: z.int(), entry: EntryView }),
  z.object({
    kind: z.literal('seal'),
    number: z.int(),
    previous: z.string(),
    from: z.string(),
    to: z.string(),
    firstAt: Moment,
    lastAt: Moment,
    keptMs: z.int().nullable(),
    sealedAt: Moment,
    entries: listOf(z.tuple([z.string(), z.string()])),
    hash: z.string(),
  }),
])

const common = { tag: 'audit', right: 'read', tenants: 'all' } as const

export const auditOperations = {
  listAudit: operation({
    ...common,
    route: 'GET /api/v1/audit',
    summary: 'Who did what',
    description: 'Newest first. A page looks at up to 1,000 entries: it may be short, or empty, and have a next one.',
    input: PageQuery.extend({
      actor: NameInput.optional().meta({
        description: 'Only of this actor; `*` behind its beginning for all of these.',
      }),
      type: z.string().max(1_000).optional().meta({ description: 'Only of these types, with commas between them.' }),
      since: z.string().min(1).max(40).optional().meta({ description: "Nothing earlier: '2h', or a moment." }),
    }),
    output: z.object({ items: listOf(EntryView), next: z.string().nullable() }).meta({ id: 'AuditPage' }),
    answer: 'A page of entries.',
    run: async ({ engine, redaction, clock }, _caller, { limit = LIMIT_DEFAULT, cursor, actor, type, since }) => {
      const from = since === undefined ? Number.NEGATIVE_INFINITY : await momentOf(engine, since)
      const isWanted = typeFilter(typesOf(type))
      const items: JournalEntry[] = []
      const shown = (all: readonly JournalEntry[]) => inTurns(clock, all, (entry) => entryView(entry, redaction))
      let place = cursor
      for (let looked = 0; looked < LOOKED_AT_MAX && items.length < limit; ) {
        await aTurn(clock)
        const wanted = Math.min(limit - items.length, LOOKED_AT_MAX - looked, READ_AT_ONCE)
        const page = await engine.journal.read({ newest: true, limit: wanted, ...given({ cursor: place }) })
        looked += page.entries.length
        place = page.cursor
        items.push(
          ...page.entries.filter(
            (entry) => entry.at >= from && isWanted(`reprise.${entry.type}`) && isBy(entry.actor, actor),
          ),
        )
        if (page.entries.length < wanted || (page.entries.at(-1)?.at ?? from) < from) {
          return { items: await shown(items), next: null }
        }
      }
      return { items: await shown(items), next: place ?? null }
    },
  }),
  verifyAudit: operation({
    ...common,
    route: 'GET /api/v1/audit/verify',
    summary: 'Is the journal as it was sealed?',
    description: 'One bounded step: go on with `cursor` while `next` is not null.',
    input: z.object({
      cursor: z.string().max(500).optional(),
      expected: z.string().max(100).optional().meta({ description: 'A seal that you have kept: `<number>:<hash>`.' }),
    }),
    output: VerifiedView,
    answer: 'What was found.',
    run: async ({ engine, clock, searches }, caller, { cursor, expected }) => {
      const place = cursor === undefined ? null : placeOf(cursor)
      const kept = expected === undefined ? null : expectedOf(expected)
      const step = await searches.run(caller, () => verifyStep(engine, place, kept, clock))
      const { next, ...found } = step
      return { ...found, next: next === null ? null : cursorOf(next) }
    },
  }),
  exportAudit: linesOperation({
    ...common,
    route: 'GET /api/v1/audit/export',
    summary: 'The sealed journal, to keep elsewhere',
    description:
      'One JSON object per line: the entries of a seal, then the seal. Straight on a store it is not redacted.',
    input: z.object({ after: digitsInput(0).optional().meta({ description: 'Only seals behind this number.' }) }),
    output: LineView,
    answer: 'The lines.',
    lines: async function* ({ engine, redaction }, _caller, { after }, signal) {
      const head = await headOf(engine)
      for (let number = Math.max(after ?? 0, head.base.number) + 1; number <= head.number; number++) {
        if (signal.aborted) return
        const seal = (await sealsIn(engine).get(sealId(number)))?.document
        if (seal === undefined) continue
        for (const line of await linesOf(engine, seal)) {
          yield line.kind === 'entry' ? { ...line, entry: entryView(line.entry, redaction) } : sealLine(line)
        }
      }
    },
  }),
}

const headOf = async (engine: Pick<Engine, 'collection'>): Promise<SealPlace & { readonly base: SealPlace }> =>
  (await sealHeadIn(engine).get(HEAD_ID))?.document ?? { ...NO_SEAL, base: NO_SEAL }

type SealLine = z.output<typeof LineView> & { readonly kind: 'seal' }
const sealLine = <T extends Omit<SealLine, 'entries'> & { readonly entries: readonly (readonly [string, string])[] }>(
  line: T,
): SealLine => ({ ...line, entries: line.entries.map(([id, digest]) => [id, digest] as [string, string]) })

function entryView({ id, at, type, taskId, attempt, actor, reason, data }: JournalEntry, redaction: Redaction) {
  const shown = redaction.value({ reason, data })
  const parts = shown as { readonly reason: string; readonly data: Record<string, unknown> }
  return { id, at, type, taskId, attempt, actor, ...parts }
}

function isBy(actor: string, wanted: string | undefined): boolean {
  if (wanted === undefined) return true
  return wanted.endsWith('*') ? actor.startsWith(wanted.slice(0, -1)) : actor === wanted
}

const cursorOf = ({ last, lastEntry, isPastRetention }: VerifyPlace): string =>
  [last.number, last.hash, lastEntry ?? '', isPastRetention ? 1 : 0].join('.')

function placeOf(cursor: string): VerifyPlace {
  const [, number, hash = '', entry = '', past] = /^(\d{1,15})\.([0-9a-f]*)\.(\d*)\.([01])$/.exec(cursor) ?? []
  if (number === undefined) throw new InvalidError('The cursor is not one of this check. Begin without one.')
  return {
    last: { number: Number(number), hash },
    lastEntry: entry === '' ? null : entry,
    isPastRetention: past === '1',
  }
}

function expectedOf(text: string): SealPlace {
  const [, number, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (number === undefined || hash === undefined) {
    throw new InvalidError("A seal is written as '<number>:<hash>', as 'audit verify' prints it.")
  }
  return { number: Number(number), hash }
}
