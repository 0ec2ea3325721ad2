// The timeline of an incident: what happened in a period, on one line. Failures of one cause are counted by the minute, everything
// else stands for itself: new versions of workers, breakers, alerts, what operators did, redrives and runbooks. Read from the journal.

import { InvalidError, type JournalEntry } from '@reprise/core'
import { z } from 'zod'
import { momentOf } from './events.ts'
import { inTurns } from './in-turns.ts'
import { journalPage } from './journal-page.ts'
import { operation } from './operation.ts'
import { ActionNameInput, listOf, Moment } from './schemas/names.ts'

const MINUTE_MS = 60_000
const TEXT_LENGTH_MAX = 300

const INCIDENT_KINDS = [
  'failures',
  'recoveries',
  'deploy',
  'worker',
  'breaker',
  'alert',
  'operator',
  'redrive',
  'runbook',
  'work_order',
  'case',
  'store',
] as const
type Kind = (typeof INCIDENT_KINDS)[number]

const LineView = z
  .object({
    at: Moment,
    until: Moment.meta({ description: 'The last of those that are counted together.' }),
    kind: z.enum(INCIDENT_KINDS),
    count: z.int(),
    dead: z.int().meta({ description: 'Of failures: how many tasks died.' }),
    actor: z.string(),
    subject: z.string().nullable().meta({ description: 'The cause, the breaker, the run, the redrive or the worker.' }),
    text: z.string(),
  })
  .meta({ id: 'IncidentLine' })
type Line = z.output<typeof LineView>

export const incidentOperations = {
  getIncident: operation({
    route: 'GET /api/v1/incident',
    summary: 'What happened in a period, on one line',
    description:
      'Oldest first. Failures and recoveries of one cause are counted by the minute. A page looks at 1,000 entries: go on with `next` as `cursor`; counts of one minute may come in two parts.',
    tag: 'events',
    right: 'read',
    tenants: 'all',
    input: z.object({
      since: z.string().min(1).max(40).meta({ description: "From then on: '2h', or a moment." }),
      until: z.string().min(1).max(40).optional().meta({ description: 'Up to then; now if missing.' }),
      action: ActionNameInput.optional().meta({ description: 'Failures of this action alone.' }),
      cursor: z.string().max(2_000).optional(),
    }),
    output: z.object({ items: listOf(LineView), next: z.string().nullable() }).meta({ id: 'Incident' }),
    answer: 'The lines of this page.',
    run: async ({ engine, redaction, clock, searches }, caller, { since, until, action, cursor }) => {
      const from = await momentOf(engine, since)
      const to = until === undefined ? await engine.now() : await momentOf(engine, until)
      if (from > to) throw new InvalidError('The period ends before it begins.')
      const place = cursor ?? (await engine.journal.from(from))
      const page = await searches.run(caller, () => journalPage(engine, place, clock))
      const wanted = page.entries.filter(({ at, data, taskId }) => {
        const isOther = action !== undefined && taskId !== null && data.action !== action
        return at >= from && at <= to && !isOther
      })
      const lines: Line[] = []
      const counted = new Map<string, number>()
      await inTurns(clock, wanted, async (entry) => {
        const line = lineOf(entry)
        if (line === null) return
        const key = isCounted(line.kind) ? `${line.kind} ${line.subject} ${Math.floor(line.at / MINUTE_MS)}` : null
        const known = key === null ? undefined : counted.get(key)
        if (known === undefined) {
          if (key !== null) counted.set(key, lines.length)
          lines.push({ ...line, text: redaction.text(line.text.slice(0, TEXT_LENGTH_MAX)) })
          return
        }
        const before = lines[known]
        if (before !== undefined) lines[known] = merged(before, line)
      })
      const hasMore = page.isFull && (page.entries.at(-1)?.at ?? to) <= to
      return { items: lines, next: hasMore ? page.cursor : null }
    },
  }),
}

const isCounted = (kind: Kind): boolean => kind === 'failures' || kind === 'recoveries'

const merged = (one: Line, more: Line): Line => ({
  ...one,
  count: one.count + more.count,
  dead: one.dead + more.dead,
  until: more.until,
})

const KINDS: readonly (readonly [prefix: string, kind: Kind])[] = [
  ['execution.failed', 'failures'],
  ['execution.lost', 'failures'],
  ['execution.expired', 'failures'],
  ['task.recovered', 'recoveries'],
  ['worker.joined', 'deploy'],
  ['worker.', 'worker'],
  ['breaker.', 'breaker'],
  ['alert.', 'alert'],
  ['redrive.', 'redrive'],
  ['runbook.', 'runbook'],
  ['work_order.', 'work_order'],
  ['group.', 'case'],
  ['ledger.', 'store'],
  ['store.', 'store'],
  ['tasks.removed', 'store'],
  ['operation.performed', 'operator'],
  ['note', 'operator'],
]

/** Null for what a timeline is better without: single tasks, and what `operation.performed` tells as well. */
function lineOf({ type, at, actor, reason, data }: JournalEntry): Line | null {
  const kind = KINDS.find(([prefix]) => type.startsWith(prefix))?.[1]
  if (kind === undefined) return null
  const base = { at, until: at, kind, count: 1, dead: 0, actor }
  const textIn = (name: string): string | null => (typeof data[name] === 'string' ? data[name] : null)
  switch (kind) {
    case 'failures': {
      const subject = textIn('fingerprint')
      const text = `${textIn('action') ?? ''}: ${textIn('message') ?? reason} (${textIn('code') ?? ''})`
      return { ...base, subject, dead: data.decision === 'dead' ? 1 : 0, text }
    }
    case 'recoveries':
      return {
        ...base,
        subject: textIn('fingerprint') ?? textIn('action'),
        text: `${textIn('action') ?? ''}: recovered`,
      }
    case 'deploy':
    case 'worker': {
      if (type === 'worker.health') return { ...base, subject: textIn('worker'), text: reason }
      const version = textIn('version')
      const what =
        { 'worker.joined': 'joined', 'worker.left': 'left', 'worker.replaced': 'was replaced' }[type as string] ?? type
      const text = `worker ${textIn('worker') ?? ''}${version === null ? '' : ` (version ${version})`} ${what}`
      return { ...base, subject: version, text }
    }
    case 'operator': {
      const name = textIn('operation')
      return { ...base, subject: name, text: name === null ? reason : `${name} ${textIn('input') ?? ''}: ${reason}` }
    }
    default: {
      const subject =
        textIn('breaker') ?? textIn('run') ?? textIn('redrive') ?? textIn('workOrder') ?? textIn('fingerprint')
      const name = textIn('runbook') ?? textIn('breaker') ?? textIn('action')
      // The type of an alert, a case or a work order says its state, and the reason often names the rest.
      const what =
        kind === 'runbook' || kind === 'redrive' ? (textIn('step') ?? textIn('state') ?? textIn('status')) : null
      const isNamed = name !== null && !reason.includes(name)
      const head = [type.replace(/^\w+\./, ''), isNamed ? name : null, what].filter((part) => part !== null).join(' ')
      return { ...base, subject, text: `${head}: ${reason}` }
    }
  }
}
