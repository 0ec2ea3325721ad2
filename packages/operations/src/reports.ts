// What a report of a period is made of: what failed, what recovered, how long work orders were open, the noisiest causes, and the
// attempts that breakers saved. Added up from the journal, a bounded part of it for each call, so that a week of a busy store
// neither takes memory nor holds anybody up. Parts add up: who wants the whole adds them.

import { InvalidError, type JournalEntry } from '@reprise/core'
import { z } from 'zod'
import type { Context } from './context.ts'
import { momentOf } from './events.ts'
import { inTurns } from './in-turns.ts'
import { JOURNAL_PAGE_ENTRIES, journalPage } from './journal-page.ts'
import { operation } from './operation.ts'
import { listOf, Moment } from './schemas/names.ts'

const PAGES_MAX = 10
/** Of one part. The rest is added up without names. */
const CAUSES_MAX = 200
const NAMES_MAX = 200
const MESSAGE_LENGTH_MAX = 200
const OTHERS = '(others)'

const CauseView = z
  .object({
    fingerprint: z.string(),
    action: z.string(),
    code: z.string(),
    message: z.string(),
    failed: z.int().meta({ description: 'Attempts that failed or were lost.' }),
    parked: z.int().meta({ description: 'Of these: attempts that a breaker did not charge.' }),
    died: z.int().meta({ description: 'Tasks that became dead letters.' }),
    recovered: z.int().meta({ description: 'Tasks that had died of it and have succeeded.' }),
  })
  .meta({ id: 'ReportCause' })
const NamedCount = z.object({ name: z.string(), count: z.int() })
const RunbookCount = z.object({ name: z.string(), succeeded: z.int(), others: z.int() })

const ReportView = z
  .object({
    from: Moment,
    to: Moment,
    failed: z.int().meta({ description: 'Attempts that failed, were lost, or waited too long.' }),
    parked: z.int().meta({ description: 'Of these: attempts that breakers did not charge, and so saved.' }),
    died: z.int().meta({ description: 'Tasks that became dead letters.' }),
    recoveredByRetry: z.int().meta({ description: 'Tasks that failed and then succeeded without anybody.' }),
    recoveredByPeople: z.int().meta({ description: 'Tasks that had died and were brought back.' }),
    causes: listOf(CauseView).meta({ description: `The noisiest first, at most ${CAUSES_MAX}.` }),
    causesLeftOut: z.int().meta({ description: 'How many more causes there were in this part.' }),
    breakersOpened: listOf(NamedCount),
    alertsFired: listOf(NamedCount).meta({ description: 'By rule.' }),
    runbooks: listOf(RunbookCount).meta({ description: 'Runs that have ended.' }),
    workOrders: z.object({
      opened: z.int(),
      recovered: z.int().meta({ description: 'Closed by themselves, because their tasks have succeeded.' }),
      closed: z.int().meta({ description: 'Closed in another way.' }),
      openMsSum: z.int().meta({ description: 'How long the closed ones had been open, together.' }),
      openMsMax: z.int(),
    }),
    operators: z.int().meta({ description: 'What operators did: changes, and notes.' }),
  })
  .meta({ id: 'Report' })
type Report = z.output<typeof ReportView>
type Cause = z.output<typeof CauseView>

export const reportOperations = {
  getReport: operation({
    route: 'GET /api/v1/reports/period',
    summary: 'What failed and what recovered in a period, added up',
    description: `A part looks at ${PAGES_MAX * JOURNAL_PAGE_ENTRIES} entries of the journal: go on with \`next\` as \`cursor\`, and add the parts.`,
    tag: 'events',
    right: 'read',
    tenants: 'all',
    input: z.object({
      since: z
        .string()
        .min(1)
        .max(40)
        .optional()
        .meta({ description: "From then on: '7d', or a moment; 7d if missing." }),
      until: z.string().min(1).max(40).optional().meta({ description: 'Up to then; now if missing.' }),
      cursor: z.string().max(2_000).optional(),
    }),
    output: ReportView.extend({ next: z.string().nullable() }).meta({ id: 'ReportPart' }),
    answer: 'The figures of this part.',
    run: async (context, caller, { since = '7d', until, cursor }) => {
      const { engine, clock, searches } = context
      const from = await momentOf(engine, since)
      const to = until === undefined ? await engine.now() : await momentOf(engine, until)
      if (from > to) throw new InvalidError('The period ends before it begins.')
      const tally = new Tally(from, to)
      let place = cursor ?? (await engine.journal.from(from))
      return searches.run(caller, async () => {
        for (let page = 0; page < PAGES_MAX; page++) {
          const { entries, cursor: next, isFull } = await journalPage(engine, place, clock)
          await inTurns(clock, entries, (entry) => tally.add(entry))
          place = next
          if (!isFull || (entries.at(-1)?.at ?? to) > to) return { ...tally.view(context), next: null }
        }
        return { ...tally.view(context), next: place }
      })
    },
  }),
}

class Tally {
  readonly #from: number
  readonly #to: number
  readonly #causes = new Map<string, Cause>()
  readonly #breakers = new Map<string, number>()
  readonly #alerts = new Map<string, number>()
  readonly #runbooks = new Map<string, { succeeded: number; others: number }>()
  readonly #sums = { failed: 0, parked: 0, died: 0, recoveredByRetry: 0, recoveredByPeople: 0, operators: 0 }
  readonly #workOrders = { opened: 0, recovered: 0, closed: 0, openMsSum: 0, openMsMax: 0 }

  constructor(from: number, to: number) {
    this.#from = from
    this.#to = to
  }

  add(entry: JournalEntry): void {
    const { type, at, data } = entry
    if (at < this.#from || at > this.#to) return
    switch (type) {
      case 'execution.failed':
      case 'execution.lost':
      case 'execution.expired':
        this.#failed(entry)
        break
      case 'task.recovered':
        this.#recovered(textOf(data.fingerprint))
        break
      case 'breaker.opened':
        counted(this.#breakers, textOf(data.breaker) ?? OTHERS)
        break
      case 'alert.fired':
        counted(this.#alerts, textOf(data.rule) ?? OTHERS)
        break
      case 'runbook.ended':
        this.#ran(textOf(data.runbook) ?? OTHERS, data.state === 'succeeded')
        break
      case 'work_order.opened':
      case 'work_order.reopened':
        this.#workOrders.opened++
        break
      case 'work_order.closed':
        this.#closed(data.because === 'recovered', typeof data.openMs === 'number' ? data.openMs : 0)
        break
      case 'operation.performed':
      case 'note':
        this.#sums.operators++
        break
      default:
        // What a report is better without.
        break
    }
  }

  view({ redaction }: Pick<Context, 'redaction'>): Report {
    const causes = [...this.#causes.values()].toSorted((a, b) => b.failed - a.failed)
    return {
      from: this.#from,
      to: this.#to,
      ...this.#sums,
      causes: causes.slice(0, CAUSES_MAX).map((cause) => ({ ...cause, message: redaction.text(cause.message) })),
      causesLeftOut: Math.max(0, causes.length - CAUSES_MAX),
      breakersOpened: named(this.#breakers),
      alertsFired: named(this.#alerts),
      runbooks: [...this.#runbooks].map(([name, counts]) => ({ name, ...counts })),
      workOrders: { ...this.#workOrders },
    }
  }

  #failed({ data, reason }: JournalEntry): void {
    const [isParked, isDead] = [Number(data.decision === 'park'), Number(data.decision === 'dead')]
    this.#sums.failed++
    this.#sums.parked += isParked
    this.#sums.died += isDead
    const fingerprint = textOf(data.fingerprint)
    if (fingerprint === null) return
    const cause = this.#cause(fingerprint)
    cause.action = textOf(data.action) ?? cause.action
    cause.code = textOf(data.code) ?? cause.code
    cause.message = (textOf(data.message) ?? reason).slice(0, MESSAGE_LENGTH_MAX)
    cause.failed++
    cause.parked += isParked
    cause.died += isDead
  }

  /** What it had died of; null if it never did. */
  #recovered(diedOf: string | null): void {
    if (diedOf === null) {
      this.#sums.recoveredByRetry++
      return
    }
    this.#sums.recoveredByPeople++
    this.#cause(diedOf).recovered++
  }

  #closed(isRecovered: boolean, openMs: number): void {
    const sums = this.#workOrders
    if (isRecovered) sums.recovered++
    else sums.closed++
    sums.openMsSum += openMs
    sums.openMsMax = Math.max(sums.openMsMax, openMs)
  }

  #ran(name: string, isSuccess: boolean): void {
    const key = this.#runbooks.has(name) || this.#runbooks.size < NAMES_MAX ? name : OTHERS
    const counts = this.#runbooks.get(key) ?? { succeeded: 0, others: 0 }
    if (isSuccess) counts.succeeded++
    else counts.others++
    this.#runbooks.set(key, counts)
  }

  #cause(fingerprint: string): Cause {
    const known = this.#causes.get(fingerprint)
    if (known !== undefined) return known
    const none = { action: '', code: '', message: '', failed: 0, parked: 0, died: 0, recovered: 0 }
    const cause: Cause = { fingerprint, ...none }
    this.#causes.set(fingerprint, cause)
    return cause
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

function counted(counts: Map<string, number>, name: string): void {
  const key = counts.has(name) || counts.size < NAMES_MAX ? name : OTHERS
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

const named = (counts: ReadonlyMap<string, number>): { name: string; count: number }[] =>
  [...counts].map(([name, count]) => ({ name, count })).toSorted((a, b) => b.count - a.count)
