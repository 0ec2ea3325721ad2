// The journal entries that stores write about transitions: who did it, why, and what else is said. Every store builds them
// here, or from these words where it writes them in a language of its own.

import type { Failure } from '../failure/failure.ts'
import { cut } from '../failure/normalise.ts'
import type { TaskId, WorkerId } from '../model/ids.ts'
import type { Settlement, SupersededBecause } from '../model/settlement.ts'
import type { Breaker, BreakerKey, BreakerState } from '../policy/breaker.ts'
import type { Decision } from '../policy/decide.ts'
import type { By } from './changes.ts'
import type { JournalEntryInput } from './journal.ts'
import type { WorkerRegistration } from './registry.ts'

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
  joined: 'registered',
  left: 'said goodbye',
  silent: 'not heard of for a day',
  replaced: 'registered again under the same id',
  refused: ' refused: ',
  succeeded: 'The task has succeeded.',
  recovered: 'The task has succeeded after it had failed.',
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
export function breakerEntry({ name, tenant, state }: Breaker): JournalEntryInput {
  const { status } = state
  if (status === 'closed') {
    return resetEntry({ name, tenant }, { actor: ACTORS.breaker, reason: BREAKER_REASONS.closed })
  }
  const data = { breaker: name, tenant, opens: state.opens, until: status === 'open' ? state.until : null }
  const type = BREAKER_ENTRY_TYPES[status]
  return { type, ...ABOUT_NO_TASK, actor: ACTORS.breaker, reason: BREAKER_REASONS[status], data }
}

/** Somebody closed a breaker. */
export function resetEntry({ name, tenant }: BreakerKey, { actor, reason }: By): JournalEntryInput {
  return { type: BREAKER_ENTRY_TYPES.closed, ...ABOUT_NO_TASK, actor, reason, data: { breaker: name, tenant } }
}

/** Retention removed tasks. */
export function removedEntry(count: number): JournalEntryInput {
  const { retention: actor } = ACTORS
  return { type: 'tasks.removed', ...ABOUT_NO_TASK, actor, reason: JOURNAL_REASONS.removed, data: { count } }
}

type Registered = Pick<WorkerRegistration, 'worker' | 'version' | 'host'> & { readonly epoch: number }

/** A worker came, or went. */
export function workerEntry(
  type: 'worker.joined' | 'worker.left',
  { worker, epoch, version, host }: Registered,
  reason: 'joined' | 'left' | 'silent',
): JournalEntryInput {
  const data = { worker, epoch, version, host }
  return { type, ...ABOUT_NO_TASK, actor: ACTORS.registry, reason: JOURNAL_REASONS[reason], data }
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

/** What bad ends share with the entry of a task that died of one. */
interface EndedAttempt {
  readonly taskId: TaskId
  readonly attempt: number
  readonly action: string
}

/**
 * An attempt ended badly. `dueAt` is when the next one is due, if it waits for that. `diedOf` is what the task had died of before,
 * if it had: a death says so, because it ends that one.
 */
export function badEndEntry(
  kind: 'failed' | 'lost' | 'expired',
  { taskId, attempt, action }: EndedAttempt,
  actor: string,
  failure: Failure,
  decision: Decision,
  dueAt: number | null,
  diedOf: string | null,
): JournalEntryInput {
  const data = {
    ...badEndData(failure, decision),
    action,
    dueAt,
    ...(decision.kind === 'dead' && diedOf !== null ? { diedOf } : {}),
  }
  return { type: `execution.${kind}`, taskId, attempt, actor, reason: decision.sentence, data }
}

/** Every failure writes it, so it is short. The execution has the whole message. */
const ENTRY_MESSAGE_LENGTH_MAX = 200

/** What such an entry says, without the action and without when the next attempt is due. */
export function badEndData({ code, message, reason, fingerprint }: Failure, decision: Decision) {
  return {
    code,
    message: cut(message, ENTRY_MESSAGE_LENGTH_MAX),
    reason,
    fingerprint,
    decision: decision.kind,
    detail: decision.reason,
  }
}

/** A task whose settings ask for it succeeded. */
export function succeededEntry({ taskId, attempt, action }: EndedAttempt, worker: WorkerId): JournalEntryInput {
  const { succeeded: reason } = JOURNAL_REASONS
  return { type: 'task.succeeded', taskId, attempt, actor: workerActor(worker), reason, data: { action } }
}

/** Where a task stood before the attempt that it recovered with. */
export interface Recovery {
  /** Why there was that attempt. */
  readonly reason: string
  readonly generation: number
  /** What it last died of; null if it never did. */
  readonly diedOf: string | null
}

/** A task succeeded that had failed before, in this generation or in an earlier one. */
export function recoveredEntry(
  { taskId, attempt, action }: EndedAttempt,
  worker: WorkerId,
  { reason, generation, diedOf }: Recovery,
): JournalEntryInput {
  const data = { action, reason, generation, fingerprint: diedOf }
  const actor = workerActor(worker)
  return { type: 'task.recovered', taskId, attempt, actor, reason: JOURNAL_REASONS.recovered, data }
}

/** A task whose settings ask for it died. Comes after the entry of the attempt, and says the same. */
export function deadEntry(
  { taskId, attempt, action }: EndedAttempt,
  actor: string,
  failure: Failure,
  decision: Decision,
): JournalEntryInput {
  const data = { ...badEndData(failure, decision), action }
  return { type: 'task.dead', taskId, attempt, actor, reason: decision.sentence, data }
}
