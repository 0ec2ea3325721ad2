// Looking at tasks: one by its id, and pages of them, newest first. A page is read in two steps, which tasks it has and then
// what they are. Reads only.

import {
  type DeadReason,
  type Failure,
  type Fingerprint,
  type JsonText,
  LEFT_OUT,
  type Page,
  type Progress,
  present,
  type RetryToken,
  type StandingsResult,
  type Task,
  type TaskId,
  type TaskLook,
  type TaskQuery,
  type TaskState,
  type TaskStatus,
  type WaitReason,
  type WorkerId,
} from '@reprise/core'
import { checkBatch, LIGHT_BYTES_MAX, PAGE_BYTES_MAX, pageCursor, pageLimit } from '@reprise/core/engine'
import type { Database, RowOf, StatementName, Value } from './database.ts'
import { type Names, namesOf } from './names.ts'
import { labelsOf, scopeValues, type TaskRow, tokenText } from './rows.ts'
import { columns } from './sql.generated.ts'
import {
  DEAD,
  DISCARDED,
  LEASE_STAGE,
  LIVE,
  RUNNING,
  SET_ASIDE_NUMBER,
  SUCCEEDED,
  TASK_STATUS,
  WAITING,
} from './stored-numbers.ts'

/** How many tasks one call may look at, when no index leads to the right ones. */
const WINDOW = 20_000
/** Up to this number of lanes, those of a scope are looked up beforehand. */
const FEW_LANES = 5_000

const SEEN = columns.tasksBySeq

/** A row of tasksBySeq. */
type SeenTask = RowOf<
  typeof SEEN,
  Omit<TaskRow, 'payload'> & {
    readonly payload: JsonText | null
    readonly at: number
    readonly until: number | null
    readonly reason: string | null
    readonly detail: string | null
    readonly worker: number | null
  }
>

/** The lease in a row of tasksBySeq. */
interface SeenLease {
  readonly token: number
  readonly worker: WorkerId
  readonly startedAt: number
  readonly leaseUntil: number
  readonly timeoutAt: number
  readonly stage: number
  readonly handle: string | null
  readonly progress: string | null
}

export function findTask(db: Database, id: TaskId, now: number, look: TaskLook = {}): Task | null {
  const found = db.get<{ seqs: string }>('seqOfId', id)
  return found === undefined ? null : (seenTasks(db, found.seqs, now, look).items[0] ?? null)
}

const LIGHT: TaskLook = { light: true }

export function findStandings(db: Database, ids: readonly TaskId[], now: number): StandingsResult {
  checkBatch(ids.length)
  const standings = ids.map((id) => {
    const task = findTask(db, id, now, LIGHT)
    if (task === null) return null
    const { payload: _payload, state: _state, attempt: _attempt, lastWorker: _worker, ...known } = task
    const { acceptedAt, generation, failures, losses, parks, deferrals, policy, ...snapshot } = known
    return { snapshot, acceptedAt, generation, failures, losses, parks, deferrals, ...present({ policy }) }
  })
  return { standings, now }
}

export function findStatuses(db: Database, ids: readonly TaskId[]): (TaskStatus | null)[] {
  checkBatch(ids.length)
  const { statuses = '[]' } = db.get<{ statuses: string }>('statusesOfIds', JSON.stringify(ids)) ?? {}
  return (JSON.parse(statuses) as (number | null)[]).map((number) => TASK_STATUS[number ?? -1] ?? null)
}

export function listTasks(db: Database, query: TaskQuery, now: number): Page<Task> {
  const limit = pageLimit(query)
  const before = pageCursor(query) ?? Number.MAX_SAFE_INTEGER
  const scope = scopeValues(query)
  const { status, fingerprint } = query
  if (fingerprint !== undefined && status !== undefined && status !== 'dead') return { items: [], next: null }
  const { name, values, bottom, hasMore } =
    fingerprint === undefined
      ? windowOf(db, status, scope, before, limit)
      : groupWindow(db, fingerprint, scope, before, limit)
  const { items, last, isCut } = seenTasks(db, db.get<{ seqs: string }>(name, ...values)?.seqs ?? '[]', now, query)
  if (isCut || items.length === limit) return { items, next: String(last) }
  return { items, next: hasMore() ? String(bottom) : null }
}

/** The part of the store that one page may come from: no call looks at more than a window of tasks. */
interface Window {
  readonly name: StatementName
  readonly values: Value[]
  /** The lowest seq that is looked at. */
  readonly bottom: number
  /** Whether there may be more below. */
  readonly hasMore: () => boolean
}

type ScopeValues = ReturnType<typeof scopeValues>

function windowOf(
  db: Database,
  status: TaskStatus | undefined,
  scope: ScopeValues,
  before: number,
  limit: number,
): Window {
  switch (status) {
    case 'dead':
    case 'discarded':
    case 'cancelled': {
      const number = SET_ASIDE_NUMBER[status]
      const bottom = floorOf(db, scope, 'setAsideFloor', before, WINDOW, number)
      return indexed('seqsSetAside', [...scope, before, number, limit, bottom], bottom)
    }
    case 'waiting': {
      const bottom = floorOf(db, scope, 'waitingFloor', before, WINDOW)
      return indexed('seqsWaiting', [...scope, before, limit, bottom], bottom)
    }
    case 'running':
      return indexed('seqsRunning', [...scope, before, limit], 0)
    case 'succeeded': {
      // The window begins at one that succeeded: a backlog above it is not looked through.
      const top = Math.min(before, seqOf(db, 'newestSuccess', before) + 1)
      const bottom = isAnyScope(scope) ? 0 : top - WINDOW
      const hasMore = (): boolean => bottom > seqOf(db, 'oldestSuccess')
      return { name: 'seqsSucceeded', values: [...scope, top, bottom, limit], bottom, hasMore }
    }
    default: {
      const top = Math.min(before, seqOf(db, 'newestSeq') + 1)
      const bottom = top - WINDOW
      const values = [...scope, top, bottom, limit, status === 'queued' ? 1 : 0]
      return { name: anyStatement(db, scope), values, bottom, hasMore: () => bottom > seqOf(db, 'oldestSeq') }
    }
  }
}

function groupWindow(
  db: Database,
  fingerprint: Fingerprint,
  scope: ScopeValues,
  before: number,
  limit: number,
): Window {
  const bottom = floorOf(db, scope, 'groupFloor', before, WINDOW, fingerprint)
  return indexed('seqsOfGroup', [...scope, before, fingerprint, limit, bottom], bottom)
}

const indexed = (name: StatementName, values: Value[], bottom: number): Window => {
  return { name, values, bottom, hasMore: () => bottom > 0 }
}

/** An index leads to the tasks, but not to those of a scope. */
const floorOf = (db: Database, scope: ScopeValues, name: StatementName, ...values: Value[]): number =>
  isAnyScope(scope) ? 0 : seqOf(db, name, ...values)

const isAnyScope = (scope: readonly string[]): boolean => scope.every((name) => name === '')

function anyStatement(db: Database, scope: ScopeValues): StatementName {
  if (isAnyScope(scope)) return 'seqsInWindow'
  const { count = 0 } = db.get<{ count: number }>('laneCount') ?? {}
  return count <= FEW_LANES ? 'seqsInWindowOfLanes' : 'seqsInWindowByLane'
}

const seqOf = (db: Database, name: StatementName, ...values: Value[]): number =>
  db.get<{ seq: number }>(name, ...values)?.seq ?? 0

interface Seen {
  readonly items: Task[]
  /** The seq of the last one. */
  readonly last: number
  /** Whether more of the seqs were left: a page is bounded by its bytes. */
  readonly isCut: boolean
}

/** Read within the snapshot that the seqs are from. What is long is read one by one, as long as there is room for it. */
function seenTasks(db: Database, seqs: string, now: number, look: TaskLook): Seen {
  const rows = db.arrays<SeenTask>('tasksBySeq', seqs, now)
  const names = namesOf(db)
  const texts = new LongTexts(db, look)
  const items: Task[] = []
  let last = 0
  for (const row of rows) {
    if (texts.length >= PAGE_BYTES_MAX) return { items, last, isCut: true }
    items.push(taskOf(row, names, texts))
    last = row[SEEN.seq]
  }
  return { items, last, isCut: false }
}

/** Texts that have their own reads, and how long all of them were together. */
class LongTexts {
  length = 0
  readonly #db: Database
  readonly #isLight: boolean

  constructor(db: Database, { light = false }: TaskLook) {
    this.#db = db
    this.#isLight = light
  }

  payload(seq: number): JsonText {
    return this.#isLight ? LEFT_OUT : (this.#read('longPayload', seq) as JsonText)
  }

  result(seq: number): JsonText {
    return this.#isLight ? LEFT_OUT : (this.#read('longResult', seq) as JsonText)
  }

  failure(seq: number, attempt: number): string {
    return this.#read('lastFailure', seq, attempt)
  }

  #read(name: StatementName, ...values: Value[]): string {
    const { text = 'null' } = this.#db.get<{ text: string }>(name, ...values) ?? {}
    this.length += text.length
    return text
  }
}

function taskOf(row: SeenTask, names: Names, texts: LongTexts): Task {
  const id = row[SEEN.id]
  const lane = names.lane(row[SEEN.lane])
  const policy = row[SEEN.policy]
  const task: Task = {
    id,
    action: lane.action,
    pool: lane.pool,
    tenant: lane.tenant,
    payload: row[SEEN.payload] ?? texts.payload(row[SEEN.seq]),
    labels: labelsOf(row[SEEN.labels]),
    priority: row[SEEN.priority],
    settings: names.settings(row[SEEN.profile]),
    retryToken: row[SEEN.retry_token] ?? (id as string as RetryToken),
    dedupeKey: row[SEEN.dedupe_key],
    deadlineAt: row[SEEN.deadline_at],
    acceptedAt: row[SEEN.accepted_at],
    generation: row[SEEN.generation],
    attempt: row[SEEN.attempt],
    failures: row[SEEN.failures],
    losses: row[SEEN.losses],
    parks: row[SEEN.parks],
    deferrals: row[SEEN.deferrals],
    lastWorker: names.lastWorker(row[SEEN.worker]),
    state: stateOf(row, texts),
  }
  return policy === null ? task : { ...task, policy }
}

function stateOf(row: SeenTask, texts: LongTexts): TaskState {
  const at = row[SEEN.at]
  const until = row[SEEN.until]
  const reason = row[SEEN.reason]
  const detail = row[SEEN.detail]
  switch (row[SEEN.status]) {
    case LIVE:
      return { status: 'queued', since: at, expiresAt: until }
    case WAITING:
      return {
        status: 'waiting',
        since: at,
        dueAt: until ?? at,
        reason: (reason as WaitReason | null) ?? 'delayed',
        quota: detail,
      }
    case RUNNING:
      return runningState(row[SEEN.seq], row[SEEN.attempt], JSON.parse(detail ?? '{}') as SeenLease)
    case SUCCEEDED: {
      const isLong = (until ?? 0) > LIGHT_BYTES_MAX
      return { status: 'succeeded', at, result: isLong ? texts.result(row[SEEN.seq]) : (detail as JsonText | null) }
    }
    case DEAD:
      return {
        status: 'dead',
        at,
        reason: (reason as DeadReason | null) ?? 'not_retriable',
        failure: JSON.parse(texts.failure(row[SEEN.seq], row[SEEN.attempt])) as Failure,
        ...(until === 1 ? { keyTaken: true } : {}),
      }
    case DISCARDED:
      return { status: 'discarded', at }
    default:
      return { status: 'cancelled', at }
  }
}

function runningState(seq: number, attempt: number, lease: SeenLease): TaskState {
  const { token, progress, stage, ...rest } = lease
  return {
    status: 'running',
    attempt,
    ...rest,
    token: tokenText(token, seq),
    progress: progress === null ? null : (JSON.parse(progress) as Progress),
    stage: LEASE_STAGE[stage] ?? 'run',
  }
}
