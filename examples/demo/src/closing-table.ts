// The closing table, as lines of text: what was accepted and how each task ended, what it took, and what is left for a
// person to look at. It only prints the audit; whether the audit holds is decided there.

import type { TaskStatus } from '@reprise/core'
import { type Audit, type DeadGroup, unfinished } from './audit.ts'
import { clip, fit, grouped, type Paint } from './words.ts'

const LABEL_WIDTH = 26
const NUMBER_WIDTH = 16

/** Every state but the ones that a finished run leaves empty. */
const ENDS: readonly TaskStatus[] = ['succeeded', 'dead', 'cancelled', 'discarded']

export function closingTable(audit: Audit, width: number, paint: Paint): string[] {
  return [
    '',
    ...taskRows(audit, paint),
    '',
    ...attemptRows(audit, paint),
    '',
    paint('bold', 'Dead letters, by failure group'),
    ...(audit.deadGroups.length === 0 ? ['  none'] : audit.deadGroups.flatMap((dead) => groupRows(dead, width, paint))),
    '',
  ]
}

/** The sum in one line, naming only the ends that happened. */
export function nothingLost({ kept }: Audit): string {
  const terms = ENDS.filter((status) => kept[status] > 0).map((status) => `${grouped(kept[status])} ${status}`)
  return `Nothing lost: ${grouped(kept.accepted)} accepted = ${terms.join(' + ')}.`
}

function taskRows({ kept, recounted }: Audit, paint: Paint): string[] {
  const recountedUnfinished = recounted.queued + recounted.waiting + recounted.running
  return [
    paint('bold', row('Tasks', 'kept counters', 'recounted')),
    row('accepted', kept.accepted, recounted.accepted),
    ...ENDS.map((status) => row(`  ${status}`, kept[status], recounted[status])),
    row('  unfinished', unfinished(kept), recountedUnfinished),
  ]
}

function attemptRows({ attempts, journal, kept }: Audit, paint: Paint): string[] {
  return [
    paint('bold', row('Attempts', 'task list', 'journal')),
    // A task that succeeds leaves no journal entry: the usual is not news.
    row('made', attempts.made, '–'),
    row('  succeeded', kept.succeeded, '–'),
    row('  failed', attempts.failed, journal.failed),
    row('  lost with a worker', attempts.lost, journal.lost),
    row('retries', attempts.again, journal.again),
  ]
}

function groupRows({ group, why }: DeadGroup, width: number, paint: Paint): string[] {
  const head = `${grouped(group.count).padStart(5)} × ${fit(group.action, 16)} ${fit(why, 18)} ${group.fingerprint}`
  const sample = `        ${group.sample.code}: ${group.sample.message}`
  return [clip(head, width), paint('dim', clip(sample, width))]
}

function row(label: string, one: number | string, other: number | string): string {
  const cell = (value: number | string): string =>
    (typeof value === 'number' ? grouped(value) : value).padStart(NUMBER_WIDTH)
  return `${fit(label, LABEL_WIDTH)}${cell(one)}${cell(other)}`
}
