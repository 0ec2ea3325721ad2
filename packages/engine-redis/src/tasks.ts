// Looking at tasks and their attempts. A script answers with the stored texts of one moment; here they become what callers
// see. Pages are put together from several short looks where filters make that necessary.

import {
  type DeadReason,
  type Execution,
  type Page,
  type PageRequest,
  type Progress,
  StoreFailedError,
  type Task,
  type TaskId,
  type TaskLook,
  type TaskQuery,
  type TaskState,
  type WaitReason,
  type WorkerId,
} from '@reprise/core'
import { PAGE_BYTES_MAX, pageCursor, pageLimit } from '@reprise/core/engine'
import { placesIn, TASK_ROW } from './layout.ts'
import type { Names } from './names.ts'
import { asTexts, type Partition } from './partition.ts'
import {
  type AttemptRecord,
  executionOf,
  failureOf,
  lastWorkerOf,
  parseLease,
  parseRecord,
  parseState,
  parseText,
  plainState,
  type State,
  snapshotOf,
  tokenOf,
} from './records.ts'
import { findTasksScript, listExecutionsScript, listTasksScript } from './scripts.generated.ts'

/** How far one call looks. The page may then be short, though more follow. */
interface LookBounds {
  /** How often it looks for more where filters find little. */
  readonly maxLooks: number
  /** What it reads. */
  readonly maxBytes: number
}

export const LOOK_BOUNDS: LookBounds = { maxLooks: 10, maxBytes: PAGE_BYTES_MAX }

/** A filter as scripts read it: empty if it is not given. */
export const given = (value: string | undefined): string => (value === undefined ? '' : `=${value}`)

/** A scope as scripts read it. */
export const givenScope = (scope: {
  readonly pool?: string
  readonly action?: string
  readonly tenant?: string
}): string[] => [given(scope.pool), given(scope.action), given(scope.tenant)]

/** A light look as scripts read it. */
const lightness = ({ light = false }: TaskLook): string => (light ? '1' : '')

/** A task as a script saw it. */
type Sight = ReturnType<typeof sightsOf>[number]

const AT = placesIn(TASK_ROW)

function sightsOf(fields: readonly string[], from: number, now: number) {
  const sights = []
  for (let at = from; at < fields.length; at += TASK_ROW.length) {
    const { head, payload } = parseText(fields[at + AT.text] ?? '')
    sights.push({
      id: fields[at + AT.id] ?? '',
      now,
      head,
      payload,
      state: fields[at + AT.state] ?? '',
      record: fields[at + AT.record] ?? '',
      lease: fields[at + AT.lease] ?? '',
      progress: fields[at + AT.progress] ?? '',
      heldSince: fields[at + AT.heldSince] ?? '',
      heldMs: fields[at + AT.heldMs] ?? '',
    })
  }
  return sights
}

function taskOf(names: Names, sight: Sight): Task {
  const { head } = sight
  const latest = sight.record === '' ? null : parseRecord(sight.record)
  const state = sight.state === '' ? plainState(head, latest?.record ?? null) : parseState(sight.state)
  const snapshot = snapshotOf(names, sight.id, head, sight.payload)
  const { policy } = state
  // Written out: of a page of tasks, copying member by member would be the larger part.
  const task: Task = {
    id: snapshot.id,
    action: snapshot.action,
    pool: snapshot.pool,
    tenant: snapshot.tenant,
    payload: snapshot.payload,
    labels: snapshot.labels,
    priority: snapshot.priority,
    settings: snapshot.settings,
    retryToken: snapshot.retryToken,
    dedupeKey: snapshot.dedupeKey,
    deadlineAt: snapshot.deadlineAt,
    acceptedAt: head.acceptedAt,
    generation: state.generation,
    attempt: state.attempt,
    failures: state.failures,
    losses: state.losses,
    parks: state.parks ?? 0,
    deferrals: state.deferrals ?? 0,
    lastWorker: lastWorkerOf(latest?.record ?? null),
    state: taskState(sight, state, latest),
  }
  return policy === undefined ? task : { ...task, policy }
}

function taskState(sight: Sight, state: State, latest: ReturnType<typeof parseRecord> | null): TaskState {
  const { status, since = 0, at = 0 } = state
  switch (status) {
    case 'queued':
      return { status, since, expiresAt: state.expires === undefined ? null : wallTime(sight, state.expires) }
    case 'waiting':
      return {
        status,
        since,
        dueAt: state.dueAt ?? 0,
        reason: state.reason as WaitReason,
        quota: state.quota ?? null,
      }
    case 'running':
      return { status, ...runningPart(sight, known(latest).record) }
    case 'succeeded':
      return { status, at, result: known(latest).result }
    case 'dead': {
      const failure = failureOf(known(latest).record)
      const taken = state.keyLost === true ? ({ keyTaken: true } as const) : {}
      return { status, at, reason: state.reason as DeadReason, failure: known(failure), ...taken }
    }
    case 'discarded':
    case 'cancelled':
      return { status, at }
  }
}

function known<T>(value: T | null): T {
  if (value === null) throw new StoreFailedError('The store has a task without the attempt that it names.')
  return value
}

/** A moment of lane time on the store's clock. Lane time stands still while the lane is held. */
function wallTime({ now, heldSince, heldMs }: Sight, moment: number): number {
  const laneTime = (heldSince === '' ? now : Number(heldSince)) - Number(heldMs)
  return moment + now - laneTime
}

function runningPart(
  { lease, progress }: Sight,
  record: AttemptRecord,
): Omit<Extract<TaskState, { readonly status: 'running' }>, 'status'> {
  const { stage, leaseUntil, timeoutAt, handle } = parseLease(lease)
  return {
    attempt: record.attempt,
    worker: (record.worker ?? '') as WorkerId,
    token: tokenOf(record),
    startedAt: record.dispatchedAt,
    leaseUntil,
    timeoutAt,
    progress: progress === '' ? null : (JSON.parse(progress) as Progress),
    stage,
    handle,
  }
}

async function tasksOf(partition: Partition, sights: readonly Sight[]): Promise<Task[]> {
  const names = await partition.learn(sights.map(({ head }) => head))
  return sights.map((sight) => taskOf(names, sight))
}

async function look(partition: Partition, id: string, how: TaskLook): Promise<Sight[]> {
  const fields = asTexts(await partition.run(findTasksScript, [lightness(how), id]))
  return sightsOf(fields, 1, Number(fields[0]))
}

/** One task, and the store's time when it was looked at. */
export async function seeTask(
  partition: Partition,
  id: string,
  how: TaskLook = {},
): Promise<{ readonly task: Task; readonly now: number } | null> {
  const [sight] = await look(partition, id, how)
  if (sight === undefined) return null
  const [task] = await tasksOf(partition, [sight])
  return task === undefined ? null : { task, now: sight.now }
}

export async function findTask(partition: Partition, id: TaskId, how?: TaskLook): Promise<Task | null> {
  return (await seeTask(partition, id, how))?.task ?? null
}

/** Newest first. */
export async function listTasks(partition: Partition, query: TaskQuery): Promise<Page<Task>> {
  const { rows, next } = await taskRows(partition, pageCursor(query), pageLimit(query), query, LOOK_BOUNDS)
  return { items: rows.map(({ task }) => task), next: next === null ? null : String(next) }
}

export interface TaskRow {
  readonly seq: number
  readonly task: Task
}

export interface TaskRows {
  readonly rows: readonly TaskRow[]
  /** The seq to go on from; null when all was looked at. */
  readonly next: number | null
}

/**
 * The tasks that come after this one in the order of a query: as many as are wanted, as far as they are found
 * in a bounded number of looks.
 */
export async function taskRows(
  partition: Partition,
  cursor: number | null,
  wanted: number,
  query: TaskQuery,
  { maxLooks, maxBytes }: LookBounds,
): Promise<TaskRows> {
  const { status, fingerprint } = query
  if (fingerprint !== undefined && status !== undefined && status !== 'dead') return { rows: [], next: null }
  const group = fingerprint === undefined ? (status ?? '') : 'dead'
  const filter = [group, given(fingerprint), ...givenScope(query), lightness(query), String(maxBytes)]
  const sights: Sight[] = []
  let before = cursor === null ? '' : String(cursor)
  let looks = 0
  let length = 0
  do {
    const args = [before, String(wanted - sights.length), ...filter]
    const fields = asTexts(await partition.run(listTasksScript, args))
    sights.push(...sightsOf(fields, 2, Number(fields[0])))
    for (const field of fields) length += field.length
    before = fields[1] ?? ''
    looks++
  } while (before !== '' && sights.length < wanted && looks < maxLooks && length < maxBytes)
  const tasks = await tasksOf(partition, sights)
  const rows = tasks.map((task, index) => ({ seq: sights[index]?.head.seq ?? 0, task }))
  return { rows, next: before === '' ? null : Number(before) }
}

async function executionsOf(
  partition: Partition,
  id: TaskId,
  text: string,
  records: readonly string[],
): Promise<Execution[]> {
  const { head, payload } = parseText(text)
  const snapshot = snapshotOf(await partition.learn([head]), id, head, payload)
  return records.map((record) => executionOf(parseRecord(record).record, snapshot))
}

export async function findExecution(partition: Partition, id: TaskId, attempt: number): Promise<Execution | null> {
  const [text = '', record = ''] = asTexts(
    await partition.command('HMGET', partition.taskKey(id), 'task', String(attempt)),
  )
  if (text === '' || record === '') return null
  return (await executionsOf(partition, id, text, [record]))[0] ?? null
}

/** Oldest attempt first. */
export async function listExecutions(
  partition: Partition,
  id: TaskId,
  page: PageRequest | undefined,
): Promise<Page<Execution>> {
  const limit = pageLimit(page)
  let after = String(pageCursor(page) ?? 0)
  const records: string[] = []
  let text = ''
  do {
    const wanted = String(limit + 1 - records.length)
    const [taskText = '', more = '', ...found] = asTexts(await partition.run(listExecutionsScript, [id, after, wanted]))
    if (taskText === '') return { items: [], next: null }
    records.push(...found)
    text = taskText
    after = more
  } while (after !== '' && records.length <= limit)
  const items = await executionsOf(partition, id, text, records.slice(0, limit))
  return { items, next: records.length > limit ? String(items.at(-1)?.attempt) : null }
}
