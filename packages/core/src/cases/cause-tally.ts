// What a page of the journal tells about causes: how many attempts ended by each, how many tasks died, when. Attempts of a
// cause that nobody died of yet are remembered, a bounded number of causes, for the case that they may become.

import type { TaskId } from '../model/ids.ts'
import type { JournalEntry } from '../port/journal.ts'

export interface Minute {
  /** Its start. */
  readonly at: number
  readonly attempts: number
  readonly deaths: number
}

export interface EndedAttempt {
  readonly taskId: TaskId
  readonly attempt: number
  readonly at: number
}

/** Task and attempt in one word. */
export const attemptKey = ({ taskId, attempt }: Pick<EndedAttempt, 'taskId' | 'attempt'>): string =>
  `${taskId}#${attempt}`

export interface CauseTally {
  readonly fingerprint: string
  readonly action: string
  readonly attempts: number
  readonly deaths: number
  readonly firstAt: number
  readonly lastAt: number
  readonly minutes: readonly Minute[]
  /** The attempts of this page. */
  readonly ended: readonly EndedAttempt[]
}

const BAD_ENDS: ReadonlySet<string> = new Set(['execution.failed', 'execution.lost', 'execution.expired'])
const MINUTE_MS = 60_000
/** Causes that are remembered though nobody died of them yet. The oldest are forgotten first. */
const FAILING_MAX = 300

/** By fingerprint, in the order in which they come up. */
export function tallied(entries: readonly JournalEntry[]): readonly CauseTally[] {
  const tallies = new Map<string, CauseTally>()
  for (const { type, taskId, attempt, at, data } of entries) {
    const { fingerprint, action, decision } = data
    if (!BAD_ENDS.has(type) || taskId === null || attempt === null) continue
    if (typeof fingerprint !== 'string' || typeof action !== 'string') continue
    const one: CauseTally = {
      fingerprint,
      action,
      attempts: 1,
      deaths: decision === 'dead' ? 1 : 0,
      firstAt: at,
      lastAt: at,
      minutes: [{ at: at - (at % MINUTE_MS), attempts: 1, deaths: decision === 'dead' ? 1 : 0 }],
      ended: [{ taskId, attempt, at }],
    }
    const known = tallies.get(fingerprint)
    tallies.set(fingerprint, known === undefined ? one : together(known, one))
  }
  return [...tallies.values()]
}

function together(one: CauseTally, other: CauseTally): CauseTally {
  const minutes = new Map(one.minutes.map((minute) => [minute.at, minute]))
  for (const { at, attempts, deaths } of other.minutes) {
    const sum = minutes.get(at)
    minutes.set(at, { at, attempts: attempts + (sum?.attempts ?? 0), deaths: deaths + (sum?.deaths ?? 0) })
  }
  return {
    ...other,
    attempts: one.attempts + other.attempts,
    deaths: one.deaths + other.deaths,
    firstAt: Math.min(one.firstAt, other.firstAt),
    lastAt: Math.max(one.lastAt, other.lastAt),
    minutes: [...minutes.values()],
    ended: [...one.ended, ...other.ended],
  }
}

/** A cause by which attempts end and nobody died yet: attempts, and when the first ended. */
export type Failing = readonly [fingerprint: string, attempts: number, firstAt: number]

export interface Sorted {
  /** What goes to cases. */
  readonly cases: readonly CauseTally[]
  readonly failing: readonly Failing[]
}

/** Which tallies are about cases: those with a death, and those that have a case already. The others are remembered. */
export function sortedOut(
  tallies: readonly CauseTally[],
  failing: readonly Failing[],
  hasCase: (fingerprint: string) => boolean,
): Sorted {
  const remembered = new Map(failing.map((one) => [one[0], one]))
  const cases: CauseTally[] = []
  for (const tally of tallies) {
    const { fingerprint, attempts, firstAt, deaths } = tally
    const [, before = 0, since = firstAt] = remembered.get(fingerprint) ?? []
    remembered.delete(fingerprint)
    if (deaths > 0 || hasCase(fingerprint)) {
      cases.push({ ...tally, attempts: attempts + before, firstAt: Math.min(since, firstAt) })
    } else {
      remembered.set(fingerprint, [fingerprint, attempts + before, Math.min(since, firstAt)])
    }
  }
  return { cases, failing: [...remembered.values()].slice(-FAILING_MAX) }
}
