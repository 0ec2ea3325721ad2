// The journal entries that stores write about transitions: who did it, why, and what else is said. Every store builds them
// here, or from these words where it writes them in a language of its own.

import type { Failure } from '../failure/failure.ts'
import type { TaskId, WorkerId } from '../model/ids.ts'
import type { Settlement, SupersededBecause } from '../model/settlement.ts'
import type { Breaker, BreakerState } from '../policy/breaker.ts'
import type { Decision } from '../policy/decide.ts'
import type { By } from './changes.ts'
import type { JournalEntryInput } from './journal.ts'

/** Who acts in a store without being asked by a person. A worker acts under its id: see `workerActor`. */
export const ACTORS = {
  breaker: 'breaker',
  caller: 'caller',
  registry: 'registry',
  retention: 'retention',
  sweep: 'sweep',
  worker: 'worker:',
} as const

export const JOURNAL_REASONS = {
  removed: 'kept long enough',
  replaced: 'registered again under the same id',
  refused: ' refused: ',
} as const

export const BREAKER_REASONS = {
  open: 'Too many failures: nothing starts until it has rested.',
  half_open: 'A few attempts are let through.',
  ramping: 'The attempts succeeded: more and more are let through.',
  closed: 'Work goes on as before.',
} as const satisfies Record<BreakerState['status'], string>

export const BREAKER_ENTRY_TYPES = {
  open: 'breaker.opened',
  half_open: 'breaker.half_open',
  ramping: 'breaker.ramping',
  closed: 'breaker.closed',
} as const satisfies Record<BreakerState['status'], JournalEntryInput['type']>

const ABOUT_NO_TASK = { taskId: null, attempt: null } as const

export const workerActor = (worker: WorkerId): string => `${ACTORS.worker}${worker}`

/** A breaker turned to the status that it has now. */
export function breakerEntry({ name, state }: Breaker): JournalEntryInput {
  const { status } = state
  if (status === 'closed') return resetEntry(name, { actor: ACTORS.breaker, reason: BREAKER_REASONS.closed })
  const data = { breaker: name, opens: state.opens, until: status === 'open' ? state.until : null }
  const type = BREAKER_ENTRY_TYPES[status]
  return { type, ...ABOUT_NO_TASK, actor: ACTORS.breaker, reason: BREAKER_REASONS[status], data }
}

/** Somebody closed a breaker. */
export function resetEntry(name: string, { actor, reason }: By): JournalEntryInput {
  return { type: BREAKER_ENTRY_TYPES.closed, ...ABOUT_NO_TASK, actor, reason, data: { breaker: name } }
}

/** Retention removed tasks. */
export function removedEntry(count: number): JournalEntryInput {
  const { retention: actor } = ACTORS
  return { type: 'tasks.removed', ...ABOUT_NO_TASK, actor, reason: JOURNAL_REASONS.removed, data: { count } }
}

/** A worker registered while another one had its id. */
export function replacedEntry(worker: WorkerId, epoch: number, leases: number): JournalEntryInput {
  const data = { worker, epoch, leases }
  return { type: 'worker.replaced', ...ABOUT_NO_TASK, actor: ACTORS.registry, reason: JOURNAL_REASONS.replaced, data }
}

/** A result that came too late. */
export function supersededEntry(
  { kind, ref: { taskId, attempt } }: Pick<Settlement, 'kind' | 'ref'>,
  because: SupersededBecause,
): JournalEntryInput {
  const reason = `${kind}${JOURNAL_REASONS.refused}${because}`
  return { type: 'execution.superseded', taskId, attempt, actor: ACTORS.caller, reason, data: { kind, because } }
}

/** A worker gave an attempt back before it really began. */
export function releasedEntry(taskId: TaskId, attempt: number, worker: WorkerId, reason: string): JournalEntryInput {
  return { type: 'execution.released', taskId, attempt, actor: workerActor(worker), reason, data: {} }
}

/** An attempt ended badly. `dueAt` is when the next one is due, if it waits for that. */
export function badEndEntry(
  kind: 'failed' | 'lost' | 'expired',
  { taskId, attempt }: { readonly taskId: TaskId; readonly attempt: number },
  actor: string,
  failure: Failure,
  decision: Decision,
  dueAt: number | null,
): JournalEntryInput {
  const data = { ...badEndData(failure, decision), dueAt }
  return { type: `execution.${kind}`, taskId, attempt, actor, reason: decision.sentence, data }
}

/** What such an entry says, without when the next attempt is due. */
export function badEndData({ code, reason, fingerprint }: Failure, decision: Decision) {
  return { code, reason, fingerprint, decision: decision.kind, detail: decision.reason }
}
