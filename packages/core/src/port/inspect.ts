// Inspection (B11): what a store says when it is asked whether it agrees with itself, and what it set right. A task's own
// record is the truth; queue, delay queue, leases, keys, groups and counts are held against it. How an engine looks, and
// how it repairs, is its own business; the words for what it found are here, so that all engines use the same.

import {
  type ActionName,
  checkedText,
  type Fingerprint,
  type TaskId,
  type TenantId,
  type WorkerId,
} from '../model/ids.ts'
import type { By, Scope } from './changes.ts'
import { foreignCursor } from './queries.ts'

export interface InspectRequest {
  /** Sets right what is found, in the same step; otherwise nothing is written. */
  readonly repair: boolean
  /** For the journal, which has an entry for each repair. */
  readonly by: By
  /** How many tasks or entries one step looks at, at the most; `BATCH_MAX` if not given. */
  readonly limit?: number
  /** From the result before, to go on where it stopped. */
  readonly cursor?: string
}

export interface InspectResult {
  /** How many tasks, entries, leases, keys, groups and lanes this step looked at. */
  readonly checked: number
  readonly findings: readonly Finding[]
  /** What this step could not look at, one sentence each: a store may have too many tasks to recount them in one step. */
  readonly unchecked: readonly string[]
  /** Where to go on; null when one whole inspection is done. */
  readonly next: string | null
}

/** What a finding is about. */
export type FindingSubject =
  | { readonly kind: 'task'; readonly id: TaskId }
  /** One lane has all three parts; a limit those that it was set with. */
  | { readonly kind: 'lane' | 'limit'; readonly scope: Scope }
  | { readonly kind: 'worker'; readonly id: WorkerId }
  | { readonly kind: 'key'; readonly tenant: TenantId; readonly action: ActionName; readonly key: string }
  | { readonly kind: 'group'; readonly fingerprint: Fingerprint }
  | { readonly kind: 'store' }

export interface Finding {
  readonly kind: FindingKind
  readonly subject: FindingSubject
  /** What the store says, in a few words. */
  readonly found: string
  /** What it should say. */
  readonly expected: string
  /** One sentence for a person: what it is, and what it means. */
  readonly sentence: string
  /** Set right in the same step. */
  readonly repaired: boolean
}

/** What each kind means, for a person. */
const MEANING = {
  count: 'A count that is kept differs from a recount: numbers shown, and what depends on them, are off.',
  queue_entry_missing: 'A queued task has no entry in its queue: no worker would ever get it.',
  queue_entry_extra: 'A queue has an entry for something that is not queued: a worker could get what it must not run.',
  queue_entry_twice: 'A task stands in its queue twice: it could be given out twice.',
  expiry_missing: 'A queued task has a time at which it expires, and the sweep knows of none, or of another.',
  expiry_extra: 'The sweep is told of a time at which something expires that is not queued, or does not expire.',
  delay_entry_missing: 'A waiting task is not in the delay queue: it would never become due.',
  delay_entry_extra:
    'The delay queue has an entry for something that does not wait: it would be queued when it is due.',
  lease_missing: 'A running task has no lease: nobody could settle it, and no sweep would find it.',
  lease_extra: 'There is a lease for something that does not run: its worker holds a right to nothing.',
  lease_unwatched: 'A worker holds leases, and the sweep does not look at them: if it dies, they would never end.',
  inbox_entry_missing: 'A task was assigned to a worker, and is not in its inbox: the worker would not collect it.',
  launch_entry_missing: 'A task was launched, and is not among the launches of its pool: nobody would look after it.',
  launch_entry_extra: 'The launches of a pool have an entry for something that was not launched.',
  inbox_entry_extra: 'An inbox has an entry for something that was not assigned to its worker.',
  slots: 'The slots in use under a limit are not what runs under it: too many or too few tasks would start.',
  lane_unlisted: 'A lane has claimable tasks, and claims do not see it: no worker would ever get them.',
  key_missing: 'A task holds a dedupe key that nothing notes: a second task could be accepted under it.',
  key_extra: 'A dedupe key is noted for something that does not have it: new tasks under it could be refused.',
  key_twice:
    'Two tasks hold one dedupe key. Which of them is right is not for the store to say: cancel or discard one.',
  group_count: 'A failure group counts other dead letters than there are.',
  group_entry_missing:
    'A dead letter is missing in its failure group: an operator who works by groups would not see it.',
  group_entry_extra: 'A failure group, or the list of dead letters, has an entry for something that is not one.',
  order_entry_extra: 'The order of acceptance names a task that is gone: lists and retention would stumble over it.',
  task_gone:
    'The record of a task was deleted, and not by Reprise. Restore it from a backup. A repair accepts the loss, and the counts follow.',
  record_unreadable:
    'The record of a task can’t be read. It is left as it is: look at it, or restore it from a backup.',
  set_back:
    'Writes that the store had acknowledged are gone: it came back older than processes had seen it. Restore a newer copy, or submit again what is missing. A repair accepts the loss.',
  execution_running: 'An attempt is recorded as running, and its task does not run it.',
} as const

export type FindingKind = keyof typeof MEANING

export const isFindingKind = (text: string): text is FindingKind => Object.hasOwn(MEANING, text)

export function findingOf(parts: Omit<Finding, 'sentence'>): Finding {
  const { kind, subject, found, expected, repaired } = parts
  return { kind, subject, found, expected, sentence: MEANING[kind], repaired }
}

/** The journal's data about a repair: what it is about, in words, and what changed. */
export function repairData({ kind, subject, found, expected }: Finding): Readonly<Record<string, string>> {
  return { kind, subject: subjectText(subject), found, expected }
}

/** A subject in words; %s is what it is named by, of a key first the key, then its action and its tenant. */
export const SUBJECT_WORDS = {
  task: "task '%s'",
  worker: "worker '%s'",
  lane: 'lane of %s',
  limit: 'limit of %s',
  key: "key '%s' of action '%s' and tenant '%s'",
  group: "failure group '%s'",
  store: 'store',
} as const satisfies Record<FindingSubject['kind'], string>

/** A scope that names nothing, in words. */
export const EVERYTHING = 'everything'

export function subjectText(subject: FindingSubject): string {
  return filled(SUBJECT_WORDS[subject.kind], ...namesOf(subject))
}

/** Words with their %s replaced, one after the other. */
export const filled = (words: string, ...names: readonly string[]): string => {
  let at = 0
  return words.replace(/%s/g, () => names[at++] ?? '')
}

function namesOf(subject: FindingSubject): string[] {
  switch (subject.kind) {
    case 'task':
    case 'worker':
      return [subject.id]
    case 'lane':
    case 'limit': {
      const parts = Object.entries(subject.scope).map(([name, value]) => `${name} '${value}'`)
      return [parts.length === 0 ? EVERYTHING : parts.join(', ')]
    }
    case 'key':
      return [subject.key, subject.action, subject.tenant]
    case 'group':
      return [subject.fingerprint]
    case 'store':
      return []
  }
}

/** What was found, and what was expected, where stores of any kind say the same. */
export const FINDING_WORDS = {
  noEntry: 'no entry',
  oneEntry: 'one entry',
  noLease: 'no lease',
  entryInLane: 'an entry in its lane',
  entryDueAt: 'an entry due at ',
  heldByNobody: 'held by nobody',
  heldByTask: "held by task '%s'",
  keyHeld: "key '%s' held by ",
  somethingElse: 'something else',
} as const

const ACTOR_LENGTH_MAX = 200
const REASON_LENGTH_MAX = 1_000

/** An operator who has a store repaired gives name and reason: the journal keeps both. */
export function checkInspector({ repair, by }: InspectRequest): void {
  if (!repair) return
  checkedText('actor of a repair', by.actor, ACTOR_LENGTH_MAX)
  checkedText('reason of a repair', by.reason, REASON_LENGTH_MAX)
}

/** The place of an inspection: one of the engine's stages, and how far it came in it. */
export interface InspectPlace<Stage extends string> {
  readonly stage: Stage
  /** As the stage knows it; empty at its beginning. */
  readonly position: string
}

export function inspectCursor({ stage, position }: InspectPlace<string>): string {
  return `${stage}:${position}`
}

/** Where a call begins: in the first stage, without a cursor. */
export function inspectPlace<Stage extends string>(
  stages: readonly [Stage, ...Stage[]],
  cursor: string | undefined,
): InspectPlace<Stage> {
  if (cursor === undefined) return { stage: stages[0], position: '' }
  const colon = cursor.indexOf(':')
  const stage = stages.find((name) => name === cursor.slice(0, colon))
  if (stage === undefined) throw foreignCursor()
  return { stage, position: cursor.slice(colon + 1) }
}

/** The beginning of the stage that follows; null after the last. */
export function nextInspectPlace<Stage extends string>(
  stages: readonly Stage[],
  stage: Stage,
): InspectPlace<Stage> | null {
  const next = stages[stages.indexOf(stage) + 1]
  return next === undefined ? null : { stage: next, position: '' }
}
