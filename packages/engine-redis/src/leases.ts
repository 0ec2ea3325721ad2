// Renewing leases, and finding what is past its time.

import {
  checkBatch,
  checkLeaseMs,
  checkLimit,
  type ExpiredResult,
  type LeaseToken,
  type Overdue,
  type RenewRequest,
  type RenewResult,
  type SupersededBecause,
  type TaskId,
  type WorkerId,
} from '@reprise/core'
import { asTexts, type Partition } from './partition.ts'
import { parseState, parseText, type State, snapshotOf } from './records.ts'
import { expiredScript, renewScript } from './scripts.generated.ts'

export async function renew(
  partition: Partition,
  leases: readonly RenewRequest[],
  leaseMs: number,
): Promise<readonly RenewResult[]> {
  checkBatch(leases.length)
  checkLeaseMs(leaseMs)
  if (leases.length === 0) return []
  const args = leases.flatMap(({ taskId, attempt, token, progress }) => [
    taskId,
    String(attempt),
    token,
    progress === null ? '' : JSON.stringify(progress),
  ])
  const answers = asTexts(await partition.run(renewScript, [String(leaseMs), ...args]))
  return answers.map((answer) => {
    if (!answer.startsWith('superseded ')) return { outcome: 'extended', leaseUntil: Number(answer) }
    return { outcome: 'superseded', because: answer.slice('superseded '.length) as SupersededBecause }
  })
}

const FIELDS_BEFORE_ITEMS = 2
const FIELDS_PER_ITEM = 8

/** Only looks. Leases first, then queue entries. */
export async function expired(partition: Partition, limit: number): Promise<ExpiredResult> {
  checkLimit(limit)
  const fields = asTexts(await partition.run(expiredScript, [String(limit)]))
  const items = []
  for (let at = FIELDS_BEFORE_ITEMS; at < fields.length; at += FIELDS_PER_ITEM) {
    const [kind = '', since = '', id = '', attempt = '', token = '', worker = '', text = '', state = ''] = fields.slice(
      at,
      at + FIELDS_PER_ITEM,
    )
    items.push({ kind, since, id, attempt, token, worker, state, ...parseText(text) })
  }
  const names = await partition.learn(items.map(({ head }) => head))
  const overdue = items.map((item): Overdue => {
    const state: Pick<State, 'generation' | 'failures' | 'losses'> =
      item.state === '' ? { generation: 1, failures: 0, losses: 0 } : parseState(item.state)
    const { generation, failures, losses } = state
    const taskId = item.id as TaskId
    const attempt = Number(item.attempt)
    const base = {
      snapshot: snapshotOf(names, item.id, item.head, item.payload),
      generation,
      failures,
      losses,
      since: Number(item.since),
    }
    if (item.kind === 'lease' || item.kind === 'timeout') {
      const ref = { taskId, attempt, token: item.token as LeaseToken }
      return { kind: item.kind, ref, worker: item.worker as WorkerId, ...base }
    }
    return { kind: item.kind === 'deadline' ? 'deadline' : 'queue_ttl', ref: { taskId, attempt }, ...base }
  })
  return { overdue, now: Number(fields[0]), steadySince: Number(fields[1]) }
}
