// What the model remembers, as plain arrays and maps. Nothing is kept twice: counters, slots and failure-group sizes are
// counted from the tasks whenever somebody asks, which is slow and can't be wrong.

import {
  type AttemptLog,
  type Breaker,
  type By,
  DEFAULT_HEALTH_THRESHOLDS,
  type DepartedWorker,
  type Execution,
  type Failure,
  type Fingerprint,
  type HealthThresholds,
  type JournalEntry,
  type LeaseToken,
  type PoolName,
  type Rank,
  type Scope,
  type SeriesPoint,
  type Snapshot,
  type TaskId,
  type TaskState,
  type WaitReason,
  type WorkerId,
  type WorkerView,
} from '@reprise/core'
import { DEFAULT_BACKLOG_MAX, type EngineOptions } from '../factory.ts'

export interface Lane extends Required<Scope> {
  turn: number
  picks: number
  heldMs: number
  heldSince: number | null
  /** Tasks that a retention rule deleted. */
  removed: number
}

/** Queued, with its expiry in lane time. A retired entry can't be claimed any more. */
interface QueuedState {
  readonly status: 'queued'
  readonly since: number
  readonly expires: number | null
  readonly retired: boolean
}

type RecordState = QueuedState | Exclude<TaskState, { readonly status: 'queued' }>

export interface TaskRecord {
  readonly snapshot: Snapshot
  readonly seq: number
  readonly acceptedAt: number
  readonly lane: Lane
  readonly executions: Map<number, Execution>
  /** What handlers wrote down, by attempt. */
  readonly logs: Map<number, AttemptLog>
  generation: number
  attempt: number
  /** Attempts of earlier generations. */
  attemptsBefore: number
  failures: number
  losses: number
  parks: number
  deferrals: number
  policy: string | null
  /** Why there will be a next attempt; null if it is the first. */
  retryReason: WaitReason | null
  /** The fingerprint of what it last died of; null if it never did. */
  diedOf: Fingerprint | null
  /** Until when it holds its dedupe key; null: until it has ended or died. */
  keyUntil: number | null
  /** Null until it is queued for the first time. */
  rank: number | null
  /** When the running attempt's lease was last renewed. */
  renewedAt: number | null
  /** Its place among what was put into inboxes; null if it never was. */
  assignedAs: number | null
  state: RecordState
}

export type WorkerRecord = { -readonly [Field in keyof Omit<WorkerView, 'health'>]: WorkerView[Field] }

interface Hold {
  readonly scope: Scope
  readonly since: number
  by: By
  rank: Rank
}

interface Limit {
  readonly scope: Scope
  concurrency: number
  rank: Rank
}

export interface Group {
  readonly fingerprint: Fingerprint
  readonly action: Lane['action']
  firstAt: number
  lastAt: number
  lastTask: TaskId
  sample: Failure
}

export interface StoredText {
  readonly text: string
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
  /** The order of creation. */
  readonly order: number
}

export interface StoredDocuments {
  orderLast: number
  /** In order of creation. */
  readonly byId: Map<string, StoredText>
}

export type SeriesKind = Exclude<keyof SeriesPoint, 'at'>

export interface State {
  /** The store's time, read once at the beginning of each verb. */
  now: number
  readonly maxBacklog: number
  readonly healthThresholds: HealthThresholds
  seqLast: number
  rankLast: number
  /** Tokens and epochs share one sequence, so none is ever used twice. */
  tokenLast: number
  journalIdLast: number
  /** Counts up whenever something may have become claimable, or a task may have ended. */
  changes: number
  /** In order of seq. */
  readonly tasks: Map<TaskId, TaskRecord>
  /** In order of creation. */
  readonly lanes: Lane[]
  readonly virtualTimes: Map<PoolName, number>
  /** When a claim last promoted tasks of a pool and left others that were due as well. */
  readonly promotedAt: Map<PoolName, number>
  readonly holds: Hold[]
  readonly limits: Limit[]
  readonly workers: Map<WorkerId, WorkerRecord>
  /** In order of leaving. */
  readonly departed: Map<WorkerId, DepartedWorker>
  /** By id. Those that are forgotten may still be in here: only look through breakers.ts. */
  readonly breakers: Map<string, Breaker>
  /** By key of the quota: how many retries each window has, by its number. */
  readonly quotas: Map<string, Map<number, number>>
  readonly groups: Group[]
  journal: JournalEntry[]
  events: { readonly lane: Lane; readonly minute: number; readonly kind: SeriesKind }[]
  readonly collections: Map<string, StoredDocuments>
}

export function createState(options: EngineOptions): State {
  return {
    now: options.clock.now(),
    maxBacklog: options.maxBacklog ?? DEFAULT_BACKLOG_MAX,
    healthThresholds: options.healthThresholds ?? DEFAULT_HEALTH_THRESHOLDS,
    seqLast: 0,
    rankLast: 0,
    tokenLast: 0,
    journalIdLast: 0,
    changes: 0,
    tasks: new Map(),
    lanes: [],
    virtualTimes: new Map(),
    promotedAt: new Map(),
    holds: [],
    limits: [],
    workers: new Map(),
    departed: new Map(),
    breakers: new Map(),
    quotas: new Map(),
    groups: [],
    journal: [],
    events: [],
    collections: new Map(),
  }
}

export const nextToken = (state: State): LeaseToken => String(++state.tokenLast) as LeaseToken
