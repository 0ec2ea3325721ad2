// Renewing leases, and finding what is past its time.

import type {
  ExpiredResult,
  LeaseToken,
  Overdue,
  RenewRequest,
  RenewResult,
  SupersededBecause,
  TaskId,
  WorkerId,
} from '@reprise/core'
import { attemptLogText, checkBatch, checkLeaseMs, checkLimit } from '@reprise/core/engine'
import { OVERDUE_ROW, ordered, RENEWAL, records } from './layout.ts'
import { asTexts, type Partition } from './partition.ts'
import { CLAIMED_PLAIN, parseState, parseText, snapshotOf, spentOf } from './records.ts'
import { expiredScript, renewScript } from './scripts.generated.ts'

export async function renew(
  partition: Partition,
  leases: readonly RenewRequest[],
  leaseMs: number,
): Promise<readonly RenewResult[]> {
  checkBatch(leases.length)
  checkLeaseMs(leaseMs)
  if (leases.length === 0) return []
  const args = leases.flatMap(({ taskId, attempt, token, progress, handle, log }) =>
    ordered(RENEWAL, {
      id: taskId,
      attempt: String(attempt),
      token,
      progress: progress === null ? '' : JSON.stringify(progress),
      handle: handle === undefined ? '' : `=${handle}`,
      log: log === undefined ? '' : attemptLogText(log),
    }),
  )
  const answers = asTexts(await partition.run(renewScript, [String(leaseMs), ...args]))
  return answers.map((answer) => {
    if (!answer.startsWith('superseded ')) return { outcome: 'extended', leaseUntil: Number(answer) }
    return { outcome: 'superseded', because: answer.slice('superseded '.length) as SupersededBecause }
  })
}

const FIELDS_BEFORE_ITEMS = 2

/** Only looks. Leases first, then queue entries. */
export async function expired(partition: Partition, limit: number): Promise<ExpiredResult> {
  checkLimit(limit)
  const fields = asTexts(
    await partition.run(expiredScript, [String(limit), String(partition.thresholds.heartbeatStaleMs)]),
  )
  const items = records(OVERDUE_ROW, fields, FIELDS_BEFORE_ITEMS).map(({ text, ...item }) => {
    return { ...item, ...parseText(text) }
  })
  const names = await partition.learn(items.map(({ head }) => head))
  const overdue = items.map((item): Overdue => {
    const { kind } = item
    const taskId = item.id as TaskId
    const attempt = Number(item.attempt)
    const base = {
      snapshot: snapshotOf(names, item.id, item.head, item.payload),
      ...spentOf(item.state === '' ? CLAIMED_PLAIN : parseState(item.state)),
      acceptedAt: item.head.acceptedAt,
      since: Number(item.since),
    }
    if (kind === 'lease' || kind === 'timeout' || kind === 'undelivered') {
      const ref = { taskId, attempt, token: item.token as LeaseToken }
      return { kind, ref, worker: item.worker as WorkerId, ...base, startedAt: Number(item.startedAt) }
    }
    return { kind: kind === 'deadline' ? kind : 'queue_ttl', ref: { taskId, attempt }, ...base, startedAt: null }
  })
  return { overdue, now: Number(fields[0]), steadySince: Number(fields[1]) }
}
