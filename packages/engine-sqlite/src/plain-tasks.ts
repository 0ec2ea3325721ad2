// Taking in many tasks at once that differ in id, retry token and payload only, and are queued at once: one statement for their rows
// and one for their entries. Most batches are one such run. What is unusual about a task keeps it out: see submit.ts.

import type { TaskSpec } from '@reprise/core'
import { claimOrder } from '@reprise/core/engine'
import type { Lane } from './lane.ts'
import type { Transaction } from './transaction.ts'

/** A longer payload gets a row of its own, so that the task's row stays cheap to update. */
export const INLINE_PAYLOAD_LENGTH_MAX = 1_024
/** Fewer are not worth the statement. */
const RUN_MIN = 4

/** How many specs from this place on are plain and alike; 0 if they are not worth it. */
export function plainRun(specs: readonly TaskSpec[], from: number): number {
  const first = specs[from]
  if (first === undefined || !isPlain(first)) return 0
  let end = from + 1
  for (let spec = specs[end]; spec !== undefined && isPlain(spec) && isLike(first, spec); spec = specs[++end]);
  return end - from < RUN_MIN ? 0 : end - from
}

const isPlain = (spec: TaskSpec): boolean =>
  spec.past === undefined &&
  spec.dedupeKey === null &&
  spec.delayMs === 0 &&
  spec.dueAt === null &&
  spec.deadlineAt === null &&
  spec.deadlineMs === null &&
  spec.payload.length <= INLINE_PAYLOAD_LENGTH_MAX

const isLike = (first: TaskSpec, { settings, action, tenant, pool, priority, labels }: TaskSpec): boolean =>
  settings === first.settings &&
  action === first.action &&
  tenant === first.tenant &&
  pool === first.pool &&
  priority === first.priority &&
  (labels === first.labels || (isEmpty(labels) && isEmpty(first.labels)))

function isEmpty(labels: Readonly<Record<string, string>>): boolean {
  for (const _ in labels) return false
  return true
}

export function labelsText(labels: Readonly<Record<string, string>>): string | null {
  return isEmpty(labels) ? null : JSON.stringify(labels)
}

/** Writes a run of plain tasks of this lane. For each whether it was taken in: not, if its id is taken. */
export function acceptRun(transaction: Transaction, lane: Lane, run: readonly TaskSpec[]): readonly boolean[] {
  const [first] = run
  if (first === undefined) return []
  const { db, now } = transaction
  const { priority, settings, labels } = first
  const seq = transaction.nextSeq(run.length)
  const rank = transaction.nextRank(run.length)
  const rows = run.map(({ id, payload, retryToken }) =>
    (retryToken as string) === id ? [id, payload] : [id, payload, retryToken],
  )
  const profile = transaction.profiles.idOf(settings)
  const { changes } = db.run(
    'insertPlainTasks',
    JSON.stringify(rows),
    seq,
    rank,
    lane.id,
    profile,
    priority,
    now,
    labelsText(labels),
  )
  const accepted = changes === run.length ? null : acceptedSeqs(transaction, seq, run.length)
  const isAccepted = (index: number): boolean => accepted === null || accepted.has(seq + index)
  const place = claimOrder(priority)
  transaction.enqueueNew(lane, { seq, place, settings, span: run.length, count: changes })
  for (const [index, { payload }] of run.entries()) if (isAccepted(index)) lane.bytes += Buffer.byteLength(payload)
  return run.map((_, index) => isAccepted(index))
}

function acceptedSeqs({ db }: Transaction, first: number, span: number): ReadonlySet<number> {
  const { seqs = '[]' } = db.get<{ seqs: string }>('seqsBetween', first, first + span - 1) ?? {}
  return new Set(JSON.parse(seqs) as number[])
}
