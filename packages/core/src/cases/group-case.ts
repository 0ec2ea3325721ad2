// A failure group as a case: what people have done about one cause, and what came of it. The dead letters themselves are the
// store's; a case is a document beside them, named by the fingerprint.
//
//   open          Nobody has taken it on. An operator acknowledges, resolves or ignores it.
//   acknowledged  It has an owner. An operator resolves or ignores it, or gives it back (reopens it).
//   resolved      The cause is gone: from now on, or in workers of a version and newer. Left by itself, as a regression, when
//                 such a worker fails for this cause again; or by an operator. Also reached by itself, from open and acknowledged,
//                 when the last task that died of it has recovered; then a new death is what opens it again.
//   ignored       Nobody is to be bothered until a moment, or until more have died of it. Left by itself when that comes; or by an operator.
//
// Any of them can be merged into another case, and taken out again: that is a rule, and so it holds for new failures too.
// Everything here is pure: a function gives the next document with the entries for the journal in `untold`. Who stores them, and
// tells them, is case-store.ts; what follows the journal is a service of the orchestrator.

import { formatDuration } from '../model/duration.ts'
import { InvalidError } from '../model/errors.ts'
import type { By } from '../port/changes.ts'
import type { JournalEntryInput, JournalType } from '../port/journal.ts'
import type { ToldDocument } from '../port/told-documents.ts'
import { attemptKey, type CauseTally, type Minute } from './cause-tally.ts'
import { compareVersions } from './version-order.ts'

export const CASE_STATUSES = ['open', 'acknowledged', 'resolved', 'ignored'] as const
export type CaseStatus = (typeof CASE_STATUSES)[number]

/** Why a case is open: it is new, its cause came back, its time or count has come, or somebody opened it. */
export type OpenedBecause = 'new' | 'regression' | 'time' | 'count' | 'operator'

export type CaseState =
  | { readonly status: 'open'; readonly since: number; readonly because: OpenedBecause }
  | { readonly status: 'acknowledged'; readonly since: number; readonly by: string }
  | {
      readonly status: 'resolved'
      readonly since: number
      readonly by: string
      /** Workers of this version and newer have it no more; null for all. */
      readonly version: string | null
    }
  | {
      readonly status: 'ignored'
      readonly since: number
      readonly by: string
      readonly until: number | null
      /** How many must have died of it in all, to be told again. */
      readonly untilDeaths: number | null
    }

export interface GroupCase extends ToldDocument {
  readonly action: string
  readonly state: CaseState
  readonly owner: string | null
  /** The case that it belongs to now; null if it stands by itself. */
  readonly mergedInto: string | null
  /** What its dead letters are told apart by, such as `label.region`; null for nothing. */
  readonly splitBy: string | null
  /** Tasks that ever died of it, as often as they did. */
  readonly deaths: number
  /** Deaths that are over: the task recovered, died anew, was cancelled or given up. Missing in what older versions wrote. */
  readonly over?: number
  /** Tasks that recovered from it. */
  readonly recovered?: number
  /** Something recovered, and no death of it seems left: whether that is so must be looked at. */
  readonly recovering?: boolean
  /** Attempts that ended by it, those before a death included. */
  readonly attempts: number
  readonly firstAt: number
  readonly lastAt: number
  /** The version of the worker whose attempt was the first to end by it. Missing if that worker named none. */
  readonly firstVersion?: string
  /** How often it came back after it was resolved. */
  readonly regressions: number
  /** The last minutes in which attempts ended by it, oldest first. */
  readonly minutes: readonly Minute[]
  /** When it was last opened. Missing in what older versions wrote. */
  readonly openedAt?: number
  /** The last reminder of it: when, after how long, and since when that was counted. */
  readonly reminded?: { readonly at: number; readonly afterMs: number; readonly since: number }
  /** The last page of the journal that was counted. */
  readonly batch: number
}

/** An hour of minutes with failures. */
const CASE_MINUTES_MAX = 60
const SERVICE = { actor: 'cases' } as const
const REMINDERS = 'reminders'

export function newCase(id: string, action: string, at: number): GroupCase {
  return {
    id,
    action,
    state: { status: 'open', since: at, because: 'new' },
    owner: null,
    mergedInto: null,
    splitBy: null,
    deaths: 0,
    over: 0,
    recovered: 0,
    recovering: false,
    attempts: 0,
    firstAt: at,
    lastAt: at,
    openedAt: at,
    regressions: 0,
    minutes: [],
    batch: 0,
    untold: [],
  }
}

/** The document with an entry about it for the journal. */
function told(one: GroupCase, type: JournalType, by: By, data: JournalEntryInput['data'] = {}): GroupCase {
  const about = { fingerprint: one.id, action: one.action, ...data }
  const entry = { type, taskId: null, attempt: null, actor: by.actor, reason: by.reason, data: about }
  return { ...one, untold: [...one.untold, entry] }
}

/** With the entry that says it is there. */
export const opened = (one: GroupCase): GroupCase =>
  told(one, 'group.opened', { ...SERVICE, reason: `Tasks of ${one.action} die of a cause that was not seen before.` })

export function acknowledged(one: GroupCase, by: By, at: number, owner: string): GroupCase {
  const state = { status: 'acknowledged', since: at, by: by.actor } as const
  return told({ ...one, state, owner }, 'group.acknowledged', by, { owner })
}

export function resolved(one: GroupCase, by: By, at: number, version: string | null): GroupCase {
  const state = { status: 'resolved', since: at, by: by.actor, version } as const
  return told({ ...one, state }, 'group.resolved', by, { version })
}

/** Whether all that ever died of it is over. */
export const isOver = ({ deaths, over = 0 }: Pick<GroupCase, 'deaths' | 'over'>): boolean => over >= deaths

/** Its last dead letter is gone, and tasks recovered: resolved, by itself. `count` is how many recovered from its whole family. */
export function recovered(one: GroupCase, at: number, count: number): GroupCase {
  const next = { ...one, recovering: false }
  if (one.state.status !== 'open' && one.state.status !== 'acknowledged') return next
  const state = { status: 'resolved', since: at, by: SERVICE.actor, version: null } as const
  const reason = `No dead letter of it is left, and ${count} ${count === 1 ? 'task has' : 'tasks have'} recovered.`
  return told({ ...next, state }, 'group.resolved', { ...SERVICE, reason }, { version: null, recovered: count })
}

/** `count` more may die of it before somebody is told. */
export function ignored(
  one: GroupCase,
  by: By,
  at: number,
  { until, count }: { readonly until: number | null; readonly count: number | null },
): GroupCase {
  if (until === null && count === null) throw new InvalidError('Say until when, or for how many more dead letters.')
  if (until !== null && until <= at)
    throw new InvalidError('It can only be ignored until a moment that is yet to come.')
  const untilDeaths = count === null ? null : one.deaths + count
  const state = { status: 'ignored', since: at, by: by.actor, until, untilDeaths } as const
  return told({ ...one, state }, 'group.ignored', by, { until, count })
}

/** Null if it is open. */
export function reopened(one: GroupCase, by: By, at: number, because: OpenedBecause): GroupCase | null {
  if (one.state.status === 'open') return null
  const state = { status: 'open', since: at, because } as const
  const regressions = one.regressions + (because === 'regression' ? 1 : 0)
  return told({ ...one, state, regressions, openedAt: at }, 'group.reopened', by, {
    because,
    was: one.state.status,
    owner: one.owner,
  })
}

/**
 * After which of these times, ascending, a reminder of it is due; null for none. Counted from the last step that somebody took.
 * If several are due, the last of them: nobody wants three at once.
 */
export function nextReminder(
  { state, reminded: last }: Pick<GroupCase, 'state' | 'reminded'>,
  remindMs: readonly number[],
  now: number,
): number | null {
  if (state.status !== 'open' && state.status !== 'acknowledged') return null
  const due = remindMs.findLast((ms) => state.since + ms <= now)
  if (due === undefined) return null
  return last !== undefined && last.since === state.since && last.afterMs >= due ? null : due
}

export function reminded(
  one: GroupCase,
  at: number,
  { afterMs, owner, count }: { readonly afterMs: number; readonly owner: string | null; readonly count: number },
): GroupCase {
  const { status, since } = one.state
  const letters = count === 1 ? '1 dead letter waits' : `${count} dead letters wait`
  const whose = owner === null ? 'nobody owns it' : `its owner is ${owner}`
  const reason = `${letters}: the case of ${one.action} is ${status} for ${formatDuration(afterMs)}, and ${whose}.`
  const next = { ...one, reminded: { at, afterMs, since } }
  return told(next, 'group.reminded', { actor: REMINDERS, reason }, { owner, count, status, since, afterMs })
}

export function merged(one: GroupCase, by: By, into: string): GroupCase {
  if (one.id === into) throw new InvalidError('A failure group can not be merged into itself.')
  return told({ ...one, mergedInto: into }, 'group.merged', by, { into })
}

/** Null if it stands by itself. */
export function takenOut(one: GroupCase, by: By): GroupCase | null {
  if (one.mergedInto === null) return null
  return told({ ...one, mergedInto: null }, 'group.split', by, { from: one.mergedInto })
}

/** Null if nothing changes. */
export function splitBy(one: GroupCase, by: By, field: string | null): GroupCase | null {
  if (one.splitBy === field) return null
  return told({ ...one, splitBy: field }, 'group.split', by, { by: field })
}

/** The time until which it was ignored has come. Null if not. */
export function onTime(one: GroupCase, now: number): GroupCase | null {
  const { state } = one
  if (state.status !== 'ignored' || state.until === null || state.until > now) return null
  return reopened(one, { ...SERVICE, reason: 'The time until which it was ignored has come.' }, now, 'time')
}

/** Whether the versions of the workers decide what failures of a page mean for it. */
export const asksForVersions = ({ state }: GroupCase): boolean => state.status === 'resolved' && state.version !== null

/**
 * With what a page of the journal tells. Null if that page was counted before. `versions` are those of the workers whose
 * attempts it tells of, for a case that asks for them.
 */
export function counted(
  one: GroupCase,
  tally: CauseTally,
  batch: number,
  versions: ReadonlyMap<string, string>,
): GroupCase | null {
  if (one.batch >= batch) return null
  const hasFailed = tally.attempts > 0
  const count = (one.recovered ?? 0) + (tally.recovered ?? 0)
  const ends = { deaths: one.deaths + tally.deaths, over: (one.over ?? 0) + (tally.over ?? 0) }
  const next: GroupCase = {
    ...one,
    ...ends,
    recovered: count,
    recovering: isOver(ends) && (one.recovering === true || (hasEnded(tally) && count > 0)),
    attempts: one.attempts + tally.attempts,
    firstAt: hasFailed ? Math.min(one.firstAt, tally.firstAt) : one.firstAt,
    lastAt: hasFailed ? Math.max(one.lastAt, tally.lastAt) : one.lastAt,
    minutes: addedMinutes(one.minutes, tally.minutes),
    batch,
  }
  return awoken(next, tally, versions) ?? next
}

const hasEnded = ({ over = 0, recovered: count = 0 }: CauseTally): boolean => over > 0 || count > 0

function awoken(one: GroupCase, tally: CauseTally, versions: ReadonlyMap<string, string>): GroupCase | null {
  const { state } = one
  if (state.status === 'ignored') {
    if (state.untilDeaths === null || one.deaths < state.untilDeaths) return null
    const reason = `${one.deaths} tasks have died of it: as many as it was to be ignored for.`
    return reopened(one, { ...SERVICE, reason }, tally.lastAt, 'count')
  }
  if (state.status !== 'resolved') return null
  // What resolved itself was not said to be mended: an attempt may fail of it again, and only a death counts.
  const isByItself = state.by === SERVICE.actor
  const later = tally.ended.filter(({ at, died }) =>
    isByItself ? died === true && at >= state.since : at > state.since,
  )
  const { version } = state
  const back =
    version === null
      ? later
      : later.filter((ended) => compareVersions(versions.get(attemptKey(ended)) ?? '', version) >= 0)
  const [first] = back
  if (first === undefined) return null
  const where = version === null ? '' : `, in a worker of version ${versions.get(attemptKey(first))}`
  const resolvedIn = version === null ? '' : ` in version ${version}`
  const reason = `It was resolved${resolvedIn}, and came back${where}: task ${first.taskId}, attempt ${first.attempt}.`
  return reopened(one, { ...SERVICE, reason }, first.at, 'regression')
}

function addedMinutes(known: readonly Minute[], more: readonly Minute[]): readonly Minute[] {
  const sums = new Map(known.map((minute) => [minute.at, minute]))
  for (const { at, attempts, deaths } of more) {
    const sum = sums.get(at) ?? { at, attempts: 0, deaths: 0 }
    sums.set(at, { at, attempts: sum.attempts + attempts, deaths: sum.deaths + deaths })
  }
  return [...sums.values()].sort((a, b) => a.at - b.at).slice(-CASE_MINUTES_MAX)
}
