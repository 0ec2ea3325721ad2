// What a page of the journal tells about causes: how many attempts ended by each, how many tasks died, when, and how many of these
// deaths are over: the task recovered, died anew, was cancelled or given up. Attempts of a cause that nobody died of yet are
// remembered, a bounded number of causes, for the case that they may become.

import type { TaskId } from '../model/ids.ts'
import type { JournalEntry, JournalType } from '../port/journal.ts'

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
  /** The task died of it. */
  readonly died?: true
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
  /** Deaths that are over; fewer than none if one that was given up came back. Missing in what older versions wrote. */
  readonly over?: number
  /** Of these, tasks that recovered. */
  readonly recovered?: number
}

/** Entries that tell of an attempt which ended badly. */
export const BAD_ENDS: ReadonlySet<JournalType> = new Set(['execution.failed', 'execution.lost', 'execution.expired'])
const MINUTE_MS = 60_000
/** Causes that are remembered though nobody died of them yet. The oldest are forgotten first. */
const FAILING_MAX = 300

/** By fingerprint, in the order in which they come up. */
export function tallied(entries: readonly JournalEntry[]): readonly CauseTally[] {
  const tallies = new Map<string, CauseTally>()
  for (const entry of entries) {
    for (const one of [badEnd(entry), endOfDeath(entry)]) {
      if (one === null) continue
      const known = tallies.get(one.fingerprint)
      tallies.set(one.fingerprint, known === undefined ? one : together(known, one))
    }
  }
  return [...tallies.values()]
}

function badEnd({ type, taskId, attempt, at, data }: JournalEntry): CauseTally | null {
  const { fingerprint, action, decision } = data
  if (!BAD_ENDS.has(type) || taskId === null || attempt === null) return null
  if (typeof fingerprint !== 'string' || typeof action !== 'string') return null
  const isDead = decision === 'dead'
  const deaths = isDead ? 1 : 0
  const minutes = [{ at: at - (at % MINUTE_MS), attempts: 1, deaths }]
  const ended = [{ taskId, attempt, at, ...(isDead ? { died: true as const } : {}) }]
  return { fingerprint, action, attempts: 1, deaths, firstAt: at, lastAt: at, minutes, ended }
}

/** Which field of an entry names the cause of a death that is over by it. */
const NAMED_BY: Readonly<Record<string, 'fingerprint' | 'diedOf'>> = {
  'task.recovered': 'fingerprint',
  'task.discarded': 'fingerprint',
  'task.reverted': 'fingerprint',
  'task.cancelled': 'diedOf',
  'execution.failed': 'diedOf',
  'execution.lost': 'diedOf',
  'execution.expired': 'diedOf',
}

function endOfDeath({ type, at, data }: JournalEntry): CauseTally | null {
  const field = NAMED_BY[type]
  const fingerprint = field === undefined ? null : data[field]
  if (typeof fingerprint !== 'string') return null
  // What a redrive sent back and an operator took back never was over.
  if (type === 'task.reverted' && data.from !== 'discarded') return null
  // A copy with a patched payload succeeded: that the original was discarded for it was counted then.
  const isCopy = type === 'task.recovered' && typeof data.copy === 'string'
  const over = type === 'task.reverted' ? -1 : isCopy ? 0 : 1
  const recovered = type === 'task.recovered' ? 1 : 0
  const none = { action: '', attempts: 0, deaths: 0, minutes: [], ended: [] }
  return { fingerprint, ...none, firstAt: at, lastAt: at, over, recovered }
}

function together(one: CauseTally, other: CauseTally): CauseTally {
  const minutes = new Map(one.minutes.map((minute) => [minute.at, minute]))
  for (const { at, attempts, deaths } of other.minutes) {
    const sum = minutes.get(at)
    minutes.set(at, { at, attempts: attempts + (sum?.attempts ?? 0), deaths: deaths + (sum?.deaths ?? 0) })
  }
  const failing = [one, other].filter(({ attempts }) => attempts > 0)
  const timed = failing.length === 0 ? [one, other] : failing
  return {
    fingerprint: one.fingerprint,
    action: one.action === '' ? other.action : one.action,
    attempts: one.attempts + other.attempts,
    deaths: one.deaths + other.deaths,
    firstAt: Math.min(...timed.map(({ firstAt }) => firstAt)),
    lastAt: Math.max(...timed.map(({ lastAt }) => lastAt)),
    minutes: [...minutes.values()],
    ended: [...one.ended, ...other.ended],
    over: (one.over ?? 0) + (other.over ?? 0),
    recovered: (one.recovered ?? 0) + (other.recovered ?? 0),
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
    if (attempts > 0) remembered.delete(fingerprint)
    if (deaths > 0 || hasCase(fingerprint)) {
      cases.push({ ...tally, attempts: attempts + before, firstAt: Math.min(since, firstAt) })
    } else if (attempts > 0) {
      remembered.set(fingerprint, [fingerprint, attempts + before, Math.min(since, firstAt)])
    }
  }
  return { cases, failing: [...remembered.values()].slice(-FAILING_MAX) }
}
