// The conservation ledger: accepted = succeeded + dead + discarded + cancelled + live + removed, for each tenant and action. A
// store keeps these counts. A service of the orchestrator walks through the store all the time and holds tasks, queues and counts
// against each other (`inspect`, without repair); each difference is a document until a whole walk no longer finds it. Here are
// the documents, and the sums.

import { digest64 } from '../failure/digest.ts'
import type { TaskId } from '../model/ids.ts'
import type { Collection, Document } from '../port/collection.ts'
import type { Records } from '../port/engine.ts'
import { type Finding, subjectText } from '../port/inspect.ts'
import type { Counts } from '../port/queries.ts'

/** Something that does not fit, for as long as it is found. */
export interface LedgerDifference extends Document {
  readonly kind: Finding['kind']
  /** In words: `task 'a'`, `lane of …`. */
  readonly subject: string
  /** The task, if it is about one. */
  readonly task: TaskId | null
  readonly found: string
  readonly expected: string
  readonly sentence: string
  readonly since: number
  /** The number of the walk that found it last. */
  readonly walk: number
  /** Whether the journal has its entry. */
  readonly isTold: boolean
}

/** How far the walk is, and which process walks. */
export interface LedgerWalk extends Document {
  readonly owner: string
  /** Until when its owner has it, by the clock of the store. */
  readonly until: number
  /** From 1. */
  readonly number: number
  readonly startedAt: number
  /** Where it goes on; null at its beginning. */
  readonly cursor: string | null
  readonly checked: number
  /** The walk before it: when it ended, what it looked at. */
  readonly last: { readonly endedAt: number; readonly startedAt: number; readonly checked: number } | null
}

export const WALK_ID = 'walk'

export const ledgerWalks = (engine: Pick<Records, 'collection'>): Collection<LedgerWalk> =>
  engine.collection<LedgerWalk>({ name: 'ledger-walk', indexes: {} })

export const ledgerDifferences = (engine: Pick<Records, 'collection'>): Collection<LedgerDifference> =>
  engine.collection<LedgerDifference>({ name: 'ledger-differences', indexes: {} })

export function differenceOf(finding: Finding, walk: number, since: number): LedgerDifference {
  const { kind, subject, found, expected, sentence } = finding
  const words = subjectText(subject)
  return {
    id: digest64(`${kind} ${words}`),
    kind,
    subject: words,
    task: subject.kind === 'task' ? subject.id : null,
    found,
    expected,
    sentence,
    since,
    walk,
    isTold: false,
  }
}

export interface LedgerSums {
  readonly accepted: number
  readonly succeeded: number
  readonly dead: number
  readonly discarded: number
  readonly cancelled: number
  /** Queued, waiting and running. */
  readonly live: number
  readonly removed: number
  /** What was accepted and stands nowhere; 0 as long as the counts agree. */
  readonly difference: number
}

export function ledgerSums(counts: Counts): LedgerSums {
  const { accepted, succeeded, dead, discarded, cancelled, removed } = counts
  const live = counts.queued + counts.waiting + counts.running
  const difference = accepted - succeeded - dead - discarded - cancelled - live - removed
  return { accepted, succeeded, dead, discarded, cancelled, live, removed, difference }
}

export function addedSums(one: LedgerSums, other: LedgerSums): LedgerSums {
  const names = Object.keys(one) as (keyof LedgerSums)[]
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as unknown as LedgerSums
}
