// A lane as the store keeps it: its counts, and its place in the order of turns. Changed in memory, and written whole.

import type { Counts } from '@reprise/core'
import type { Database } from './database.ts'

export interface Lane extends Record<keyof Counts, number> {
  readonly id: number
  readonly pool: string
  readonly action: string
  readonly tenant: string
  ready: number
  turn: number
  picks: number
  held_since: number | null
  held_ms: number
  /** Of the payloads of its tasks that were not removed. */
  bytes: number
}

/** A place in the order of turns. */
export interface LanePlace {
  readonly turn: number
  readonly id: number
}

export interface LanePage {
  readonly lanes: readonly Lane[]
  /** Where to read on; null when there are no more. */
  readonly next: LanePlace | null
}

/** Which lanes a claim wants to read. */
export interface LaneFilter {
  /** Null for every action. */
  readonly wanted: ReadonlySet<string> | null
  /** Whose lanes have no room. */
  readonly fullActions: readonly string[]
  readonly fullTenants: readonly string[]
}

export const FIRST_PLACE: LanePlace = { turn: -1, id: 0 }

/** What changes of a lane, in the order of saveLane. */
const CHANGING = [
  ...(['accepted', 'queued', 'waiting', 'running', 'succeeded', 'dead', 'discarded', 'cancelled', 'removed'] as const),
  ...(['ready', 'turn', 'picks', 'held_since', 'held_ms', 'bytes'] as const),
] satisfies (keyof Lane)[]

export function saveLane(db: Database, lane: Lane): void {
  db.run('saveLane', ...CHANGING.map((name) => lane[name]), lane.id)
}
