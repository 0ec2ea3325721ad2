// A redrive: an operator's order to send dead letters back to work, as a document that outlives every process.
//
//   collecting: its dead letters are written down. Left by the one who creates it, step by step, for `ready` or `running`.
//   ready: a plan. Left by an operator: start (running) or abort (aborted).
//   running: items are sent, stage by stage, and their outcomes looked at. Left by the service for `done` when all have ended,
//     or for `halted` when a stage failed; by an operator for paused, aborting, undoing.
//   paused, halted: nothing is sent; outcomes of what was sent are still looked at. Left by an operator: resume (running),
//     abort, undo.
//   aborting: nothing is sent any more. Left by the service for `aborted` when what was sent has ended.
//   undoing: what has not started is taken back. Left by the service for `undone`.
//   done, aborted: an end, but for undo. undone: the end.
//
// The dead letters stand in documents of their own (chunk.ts). Which of them there are was decided at the moment of creation:
// what dies later is not among them.

import { createHash } from 'node:crypto'
import type {
  ActionName,
  Collection,
  Document,
  Engine,
  Fingerprint,
  JsonPatch,
  PoolName,
  TaskFilter,
  TaskId,
  TenantId,
} from '@reprise/core'

export const REDRIVE_STATES = [
  'collecting',
  'ready',
  'running',
  'paused',
  'halted',
  'aborting',
  'undoing',
  'done',
  'aborted',
  'undone',
] as const
export type RedriveState = (typeof REDRIVE_STATES)[number]

/** How it is to be done. */
export interface RedrivePlan {
  /** Sizes of the stages before the rest, such as [1, 10, 100]; none for everything at once, without a halt. */
  readonly canary: readonly number[]
  /** What share of a stage must succeed. */
  readonly minSuccess: number
  /** At most this many are sent per second; null for no limit. */
  readonly ratePerS: number | null
  /** At most this many are under way at once; null for no limit. */
  readonly concurrency: number | null
  /** `breaker`: only into lanes whose breakers are closed, and a few where one is being tried. */
  readonly pace: 'free' | 'breaker'
  /** What is changed in each payload; null for nothing. */
  readonly patch: JsonPatch | null
  /** It waits for healthy workers of this version or a newer one, and for older ones to be gone; null for any worker. */
  readonly fixedIn: string | null
}

/** How many items stand where. */
export interface ItemCounts {
  readonly pending: number
  readonly sent: number
  readonly recovered: number
  readonly failed: number
  readonly skipped: number
  readonly undone: number
  /** Cancelled, discarded or removed after they were sent. */
  readonly ended: number
}

export const NO_ITEMS: ItemCounts = { pending: 0, sent: 0, recovered: 0, failed: 0, skipped: 0, undone: 0, ended: 0 }

interface NamedCount {
  readonly name: string
  readonly count: number
}

export interface CauseCount {
  readonly fingerprint: Fingerprint
  readonly action: ActionName
  readonly message: string
  readonly count: number
}

export interface RedriveLane {
  readonly pool: PoolName
  readonly action: ActionName
  readonly tenant: TenantId
}

/** What was found while its dead letters were written down. Lists are bounded: the largest come first. */
export interface Found {
  readonly actions: readonly NamedCount[]
  readonly tenants: readonly NamedCount[]
  /** By how long they have been dead: `10m`, `1h`, `1d`, `7d`, and `older`. */
  readonly ages: readonly NamedCount[]
  readonly causes: readonly CauseCount[]
  readonly lanes: readonly (RedriveLane & { readonly count: number })[]
  /** Past their deadline. A redrive runs them all the same. */
  readonly expired: number
  /** Another task has taken their dedupe key since. */
  readonly superseded: number
}

export interface Preflight {
  readonly at: number
  /** How many dead letters stand in lanes that are paused, have a breaker that is not closed, or have no healthy worker. */
  readonly paused: number
  readonly breaker: number
  readonly noWorker: number
  /** Null if nothing tells. */
  readonly estimatedMs: number | null
  readonly warnings: readonly string[]
}

export interface StageResult {
  /** How many it was to send; null for the rest. */
  readonly size: number | null
  readonly sent: number
  readonly recovered: number
  readonly failed: number
  /** Of those that failed: of the cause they had died of before. */
  readonly same: number
  readonly startedAt: number
  readonly endedAt: number | null
}

/** Why it halted by itself. */
export interface Halt {
  readonly at: number
  readonly stage: number
  readonly sentence: string
  readonly evidence: readonly {
    readonly taskId: TaskId
    readonly fingerprint: Fingerprint | null
    readonly message: string
    /** It failed of the same cause as before. */
    readonly isSame: boolean
  }[]
}

export interface RedriveDocument extends Document {
  readonly state: RedriveState
  readonly actor: string
  readonly reason: string
  /** Of the caller who made it: its dead letters are theirs only. Null for all tenants. */
  readonly tenants: readonly TenantId[] | null
  /** The selector in words. */
  readonly selector: string
  /** Until everything is written down; null from then on. */
  readonly filter: TaskFilter | null
  readonly cursor: string | null
  /** It starts by itself when everything is written down. */
  readonly startsItself: boolean
  readonly plan: RedrivePlan
  readonly createdAt: number
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly chunks: number
  readonly total: number
  readonly found: Found
  readonly preflight: Preflight | null
  readonly counts: ItemCounts
  /** Those that ended and the one under way. */
  readonly stages: readonly StageResult[]
  /** Why items failed again, the most frequent first. */
  readonly again: readonly CauseCount[]
  readonly halt: Halt | null
  /** Why nothing is sent at the moment; null if something is, or nobody asked for it. */
  readonly held: string | null
  readonly owner: string | null
  /** By the store's clock. */
  readonly leaseUntil: number
  /** A step that the journal does not have yet: see told.ts. */
  readonly untold?: Untold | null
}

/** A step of the service, as its journal entry tells it. */
export interface Untold {
  readonly state: RedriveState
  readonly reason: string
  readonly at: number
}

/** Whether a service has something to do about it. */
export function isActive({ state, counts, untold = null }: RedriveDocument): boolean {
  if (untold !== null) return true
  if (state === 'running' || state === 'aborting' || state === 'undoing') return true
  return (state === 'paused' || state === 'halted') && counts.sent > 0
}

export const isOver = ({ state }: Pick<RedriveDocument, 'state'>): boolean =>
  state === 'done' || state === 'aborted' || state === 'undone'

export const ACTIVE = 'yes'

/** Whose it is, for bounds and turns: all callers with the same tenants together, or those who may see everything. */
export const holderOf = ({ tenants }: Pick<RedriveDocument, 'tenants'>): string =>
  tenants === null ? 'all' : `of ${createHash('sha256').update(JSON.stringify(tenants.toSorted())).digest('hex')}`

export const redrivesIn = (engine: Pick<Engine, 'collection'>): Collection<RedriveDocument> =>
  engine.collection<RedriveDocument>({
    name: 'redrives',
    indexes: {
      active: (redrive) => (isActive(redrive) ? ACTIVE : null),
      /** Not over: bounded in number for each holder. */
      open: (redrive) => (isOver(redrive) ? null : holderOf(redrive)),
      holder: holderOf,
    },
  })

/** In journal entries of tasks, behind the operator's reason: whose redrive it was. */
export const markOf = (id: string): string => `(redrive ${id})`
