// reprise report: what failed and what recovered in a period, as Markdown or as a page. The parts that the operation gives are added
// up here, each cause once.

import type { OperationOutput } from '@reprise/client'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { isoTime } from '../output/times.ts'
import { htmlReport, markdownReport, type Report } from '../views/report.ts'

type Part = OperationOutput<'getReport'>
type Cause = Part['causes'][number]

/** Ten million entries of the journal. */
const PARTS_MAX = 1_000
/** More than anybody reads: those with the most failures stay. */
const CAUSES_MAX = 1_000
/** Work orders that are counted as open. */
const OPEN_MAX = 100

export const reportPeriod: CommandDefinition = {
  path: ['report', 'period'],
  isDefault: true,
  group: 'Operate',
  summary: 'Report what failed and what recovered in a week',
  details:
    'What failed, what recovered and how long that took, the noisiest causes, and the attempts that breakers saved: as Markdown, or with --html as one page for a browser. For the last 7 days, unless --since and --until say otherwise. reprise report alone does the same.',
  options: [
    { flags: '--since <when>', about: 'From then on: 1d, 30d, or 2030-01-31T12:00:00Z; 7d if not given' },
    { flags: '--until <when>', about: 'Up to then; now if not given' },
    { flags: '--html', about: 'As a page of HTML' },
  ],
  examples: [
    ['reprise report period', 'How was the week?'],
    ['reprise report period --html > week.html', 'For those who were not there'],
    ['reprise report period --since 30d -o json', 'For a program'],
  ],
  async run(invocation) {
    const { api, options, output } = invocation
    const report = await wholeReport(invocation)
    if (!output.isForPeople) {
      output.one(report, () => undefined)
      return undefined
    }
    const { items, next } = await api.listWorkOrders({ limit: OPEN_MAX })
    if (next !== null) output.note(`There are more than ${OPEN_MAX} open work orders.`)
    output.raw(options.flag('html') ? htmlReport(report, items.length) : markdownReport(report, items.length))
    return undefined
  },
}

async function wholeReport({ api, options, output }: Invocation): Promise<Report> {
  const first: Part = await api.getReport(options.given('since', 'until'))
  // The same period for all parts, though time goes on.
  const period = { since: isoTime(first.from), until: isoTime(first.to) }
  let { next, ...report } = first
  for (let part = 1; part < PARTS_MAX && next !== null; part++) {
    const { next: after, ...more }: Part = await api.getReport({ ...period, cursor: next })
    report = added(report, more)
    next = after
  }
  if (next !== null) output.note('The period has more entries than are read: the report leaves out its end.')
  return report
}

function added(one: Report, more: Report): Report {
  const causes = new Map<string, Cause>(one.causes.map((cause) => [cause.fingerprint, cause]))
  for (const cause of more.causes) {
    const known = causes.get(cause.fingerprint)
    causes.set(cause.fingerprint, known === undefined ? cause : addedCause(known, cause))
  }
  const noisiest = [...causes.values()].toSorted((a, b) => b.failed - a.failed)
  return {
    ...one,
    failed: one.failed + more.failed,
    parked: one.parked + more.parked,
    died: one.died + more.died,
    recoveredByRetry: one.recoveredByRetry + more.recoveredByRetry,
    recoveredByPeople: one.recoveredByPeople + more.recoveredByPeople,
    operators: one.operators + more.operators,
    causes: noisiest.slice(0, CAUSES_MAX),
    causesLeftOut: Math.max(one.causesLeftOut, more.causesLeftOut) + Math.max(0, noisiest.length - CAUSES_MAX),
    breakersOpened: addedCounts(one.breakersOpened, more.breakersOpened),
    alertsFired: addedCounts(one.alertsFired, more.alertsFired),
    runbooks: addedRunbooks(one.runbooks, more.runbooks),
    workOrders: addedOrders(one.workOrders, more.workOrders),
  }
}

/** A cause that only recovered in one part has no words there. */
const addedCause = (one: Cause, more: Cause): Cause => ({
  fingerprint: one.fingerprint,
  action: more.action || one.action,
  code: more.code || one.code,
  message: more.message || one.message,
  failed: one.failed + more.failed,
  parked: one.parked + more.parked,
  died: one.died + more.died,
  recovered: one.recovered + more.recovered,
})

const addedOrders = (one: Report['workOrders'], more: Report['workOrders']): Report['workOrders'] => ({
  opened: one.opened + more.opened,
  recovered: one.recovered + more.recovered,
  closed: one.closed + more.closed,
  openMsSum: one.openMsSum + more.openMsSum,
  openMsMax: Math.max(one.openMsMax, more.openMsMax),
})

function addedCounts(one: Report['alertsFired'], more: Report['alertsFired']): Report['alertsFired'] {
  const counts = new Map(one.map(({ name, count }) => [name, count]))
  for (const { name, count } of more) counts.set(name, (counts.get(name) ?? 0) + count)
  return [...counts].map(([name, count]) => ({ name, count })).toSorted((a, b) => b.count - a.count)
}

function addedRunbooks(one: Report['runbooks'], more: Report['runbooks']): Report['runbooks'] {
  const known = new Map(one.map((runbook) => [runbook.name, runbook]))
  for (const { name, succeeded, others } of more) {
    const before = known.get(name) ?? { name, succeeded: 0, others: 0 }
    known.set(name, { name, succeeded: before.succeeded + succeeded, others: before.others + others })
  }
  return [...known.values()]
}
