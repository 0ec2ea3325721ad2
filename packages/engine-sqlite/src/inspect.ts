// Inspection: page by page, each table that leads to tasks is held against the tasks' own rows, in one transaction per page.
// Without repair it only reads. The counts come last, by a recount: see recount.ts. What can't happen here: a task that runs
// without a lease, or an attempt that runs without its task, since the lease is what running means; and slots that differ
// from what runs, since they are summed up when they are asked for.

import {
  BATCH_MAX,
  type Finding,
  type FindingSubject,
  type InspectRequest,
  type InspectResult,
  type TaskId,
} from '@reprise/core'
import {
  checkInspector,
  checkLimit,
  FINDING_WORDS,
  filled,
  findingOf,
  foreignCursor,
  type InspectPlace,
  inspectCursor,
  inspectPlace,
  nextInspectPlace,
  repairData,
} from '@reprise/core/engine'
import type { Database, StatementName, Value } from './database.ts'
import { endLease } from './ending.ts'
import type { TaskCheck } from './inspect-tasks.ts'
import { inspectTask } from './inspect-tasks.ts'
import type { Transaction } from './transaction.ts'

// Lost tasks come first: they are few, and the first page is looked at often.
const STAGES = ['lost', 'tasks', 'queue', 'delayed', 'leases', 'inboxes', 'keys', 'groups', 'counts'] as const
type Stage = (typeof STAGES)[number]

/** One page under inspection: what it is read from, and what repairs it. */
export interface Inspector {
  readonly db: Database
  readonly now: number
  /** Null if it only looks. */
  readonly transaction: Transaction | null
  /** Notes what differs, and sets it right if it may and `repair` is given. */
  readonly find: (
    kind: Finding['kind'],
    subject: FindingSubject,
    found: string,
    expected: string,
    repair?: Repair,
  ) => void
}

/** Answers false if it could not be done. */
type Repair = (transaction: Transaction) => unknown

export function checkInspection(request: InspectRequest): InspectPlace<Stage> {
  checkLimit(request.limit ?? BATCH_MAX)
  checkInspector(request)
  return inspectPlace(STAGES, request.cursor)
}

/** One page of any stage but the counts. */
export function inspectPage(
  { db, now }: Pick<Transaction, 'db' | 'now'>,
  transaction: Transaction | null,
  place: InspectPlace<Exclude<Stage, 'counts'>>,
  request: InspectRequest,
): InspectResult {
  const findings: Finding[] = []
  const inspector: Inspector = {
    db,
    now,
    transaction,
    find(kind, subject, found, expected, repair) {
      const repaired = transaction !== null && repair !== undefined && repair(transaction) !== false
      const finding = findingOf({ kind, subject, found, expected, repaired })
      findings.push(finding)
      if (repaired) journalRepair(transaction, finding, request)
    },
  }
  const { stage, position } = place
  const { statement, start, keyOf, check } = PAGES[stage]
  const limit = request.limit ?? BATCH_MAX
  const rows = db.all<Row>(statement, ...positionOf(position, start), limit)
  for (const row of rows) check(inspector, row)
  if (stage === 'inboxes') checkInboxFlag(inspector, rows.length)
  const last = rows.length < limit ? undefined : rows.at(-1)
  const next = last === undefined ? nextInspectPlace(STAGES, stage) : { stage, position: JSON.stringify(keyOf(last)) }
  return { checked: rows.length, findings, unchecked: [], next: next === null ? null : inspectCursor(next) }
}

export function journalRepair(transaction: Transaction, finding: Finding, { by }: InspectRequest): void {
  const { subject } = finding
  const taskId = subject.kind === 'task' ? subject.id : null
  const data = repairData(finding)
  transaction.journal({ type: 'store.repaired', taskId, attempt: null, actor: by.actor, reason: by.reason, data })
}

/** What the rows of all pages have between them; each statement selects what its own check reads. */
interface Row extends Omit<TaskCheck, 'id'> {
  /** Null for a task that is not there. */
  readonly id: TaskId | null
  readonly place: number
  readonly stage: number
  readonly worker: number
  readonly key: string
  readonly count: number
  readonly recount: number
  readonly is_right: 0 | 1
  readonly is_queued: 0 | 1
  readonly is_second: 0 | 1
  readonly is_in_inbox: 0 | 1
}

interface PageOf {
  readonly statement: StatementName
  /** The key before the first. */
  readonly start: readonly (string | number)[]
  readonly keyOf: (row: Row) => readonly (string | number | null)[]
  readonly check: (inspector: Inspector, row: Row) => void
}

const PAGES: Readonly<Record<Exclude<Stage, 'counts'>, PageOf>> = {
  lost: { statement: 'inspectLost', start: [0], keyOf: ({ seq }) => [seq], check: checkLost },
  tasks: { statement: 'inspectTasks', start: [0], keyOf: ({ seq }) => [seq], check: checkTask },
  queue: {
    statement: 'inspectReady',
    start: [0, 0, 0],
    keyOf: ({ lane, place, rank }) => [lane, place, rank],
    check: checkEntry,
  },
  delayed: {
    statement: 'inspectWaiting',
    start: ['', 0, 0],
    keyOf: ({ pool, due_at, seq }) => [pool, due_at, seq],
    check: checkDelay,
  },
  leases: { statement: 'inspectLeases', start: [0], keyOf: ({ seq }) => [seq], check: checkLease },
  inboxes: { statement: 'inspectInboxes', start: [0], keyOf: ({ seq }) => [seq], check: checkInbox },
  keys: {
    statement: 'inspectKeys',
    start: ['', '', ''],
    keyOf: ({ tenant, action, key }) => [tenant, action, key],
    check: checkKey,
  },
  groups: { statement: 'inspectGroups', start: [0], keyOf: ({ seq }) => [seq], check: checkGroup },
}

function positionOf(text: string, start: readonly (string | number)[]): readonly Value[] {
  if (text === '') return start
  try {
    const parts: unknown = JSON.parse(text)
    const fits = Array.isArray(parts) && parts.length === start.length
    if (fits && parts.every((part, index) => typeof part === typeof start[index])) return parts as Value[]
  } catch {
    // Said below.
  }
  throw foreignCursor()
}

/** A task, or the number under which it is missing. */
const named = ({ id }: Row): FindingSubject => (id === null ? { kind: 'store' } : { kind: 'task', id })
const missing = ({ id, seq }: Row): string => (id === null ? ` of a task that is gone (number ${seq})` : '')

function checkLost({ find, db }: Inspector, row: Row): void {
  const { action, tenant, seq } = row
  const found = `deleted, of action '${action}' and tenant '${tenant}'`
  find('task_gone', named(row), found, 'a record', () => void db.run('deleteLost', seq))
}

function checkTask(inspector: Inspector, row: Row): void {
  if (row.id !== null) inspectTask(inspector, { ...row, id: row.id })
}

function checkEntry({ find, db }: Inspector, row: Row): void {
  const isRight = row.is_right === 1 && row.is_queued === 1 && row.is_second === 0
  if (isRight) return
  const kind = row.is_queued === 1 ? 'queue_entry_twice' : 'queue_entry_extra'
  const expected = row.is_queued === 1 ? FINDING_WORDS.oneEntry : FINDING_WORDS.noEntry
  const found = `an entry at place ${row.place}, rank ${row.rank}${missing(row)}`
  find(kind, named(row), found, expected, () => void db.run('deleteReady', row.lane, row.place, row.rank))
}

function checkDelay({ find, db }: Inspector, row: Row): void {
  if (row.is_right === 1) return
  const found = `${FINDING_WORDS.entryDueAt}${row.due_at}${missing(row)}`
  find('delay_entry_extra', named(row), found, FINDING_WORDS.noEntry, () => {
    db.run('deleteWaiting', row.pool, row.due_at, row.seq)
  })
}

function checkLease({ find, db }: Inspector, row: Row): void {
  if (row.is_right === 0) {
    const found = `a lease of attempt ${row.attempt}${missing(row)}`
    find('lease_extra', named(row), found, FINDING_WORDS.noLease, () => endLease(db, row.seq, row.stage))
    return
  }
  if (row.is_in_inbox === 1) return
  find(
    'inbox_entry_missing',
    named(row),
    FINDING_WORDS.noEntry,
    'an entry in the inbox of its worker',
    (transaction) => {
      db.run('deleteInbox', row.seq)
      db.run('insertInbox', row.seq, row.worker, transaction.nextToken())
      transaction.hasInboxes = true
      transaction.wakeEverybody()
    },
  )
}

function checkInbox({ find, db }: Inspector, row: Row): void {
  if (row.is_right === 1) return
  const found = `an entry in an inbox${missing(row)}`
  find('inbox_entry_extra', named(row), found, FINDING_WORDS.noEntry, () => void db.run('deleteInbox', row.seq))
}

/** Claims look into inboxes only while the store says that there may be something. */
function checkInboxFlag({ find, db, transaction }: Inspector, rows: number): void {
  const isNoted = transaction?.hasInboxes ?? db.get<{ has_inboxes: 0 | 1 }>('loadStore')?.has_inboxes === 1
  if (rows === 0 || isNoted || db.get('anyInbox') === undefined) return
  find('count', { kind: 'store' }, 'inboxes said to be empty', 'inboxes with something in them', (repairing) => {
    repairing.hasInboxes = true
    repairing.wakeEverybody()
  })
}

function checkKey({ find, db }: Inspector, row: Row): void {
  if (row.is_right === 1) return
  const found =
    row.id === null ? `held by a task that is gone (number ${row.seq})` : filled(FINDING_WORDS.heldByTask, row.id)
  const { tenant, action, key } = row
  const subject: FindingSubject = { kind: 'key', tenant, action, key }
  find('key_extra', subject, found, FINDING_WORDS.heldByNobody, () => {
    db.run('deleteDedupe', tenant, action, key, row.seq)
  })
}

function checkGroup({ find, db }: Inspector, row: Row): void {
  const { fingerprint, count, recount } = row
  if (count === recount || fingerprint === null) return
  find('group_count', { kind: 'group', fingerprint }, String(count), String(recount), () => {
    db.run('setGroupCount', recount, row.seq)
  })
}
