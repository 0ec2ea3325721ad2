// A dry run of a book of policies: what would become of a task that keeps failing the same way. Uses the very functions that
// workers decide by, on a made-up task and a made-up clock.

import {
  actionName,
  type Circumstances,
  DEFAULT_POOL,
  DEFAULT_PRIORITY,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  type Decision,
  type Duration,
  durationMs,
  type Failure,
  failureJudge,
  type Guards,
  JSON_NULL,
  type JudgedAttempt,
  type Judgement,
  judgeLost,
  mayStart,
  type PolicyBook,
  policyForTask,
  retryToken,
  type Snapshot,
  settingsUnder,
  type TaskSettings,
  taskId,
  tenantId,
} from '@reprise/core'
import { slaNote } from './notes.ts'

export interface Simulation {
  readonly action: string
  readonly tenant?: string
  /** The action's own settings; those of an action that sets nothing if missing. */
  readonly settings?: TaskSettings
  /** How every attempt fails; `lost` for a worker that vanishes. */
  readonly failure: SimulatedFailure | 'lost'
  /** How long each attempt runs before it fails; no time if missing. */
  readonly attemptTime?: Duration
  /** At most this number of attempts is tried; 100 if missing. */
  readonly attempts?: number
  /** Chance, in [0, 1); 0.5, which is no jitter at all, if missing. */
  readonly roll?: number
}

export interface SimulatedFailure {
  readonly code?: string
  readonly status?: number
  readonly message?: string
  /** The class of what is thrown. */
  readonly name?: string
}

export interface SimulatedAttempt {
  readonly attempt: number
  /** When it starts, and when it has failed, counted from the acceptance of the task. */
  readonly startsAtMs: number
  readonly endsAtMs: number
  readonly failure: Failure
  readonly decision: Decision
  readonly guards: Guards
}

export interface SimulationResult {
  readonly attempts: readonly SimulatedAttempt[]
  /** What should be looked at: an SLA that the policy can't make, most of all. */
  readonly notes: readonly string[]
}

const ATTEMPTS_MAX = 1_000

export function simulate(book: PolicyBook, simulation: Simulation): SimulationResult {
  const snapshot = snapshotOf(simulation)
  const attemptMs = durationMs(simulation.attemptTime ?? 0, 'attemptTime')
  const { roll = 0.5 } = simulation
  const maxAttempts = Math.min(simulation.attempts ?? 100, ATTEMPTS_MAX)
  const attempts: SimulatedAttempt[] = []
  let judge: Judge | null = null
  let spent = { failures: 0, losses: 0 }
  let startsAtMs = 0
  while (attempts.length < maxAttempts) {
    const attempt: JudgedAttempt = { snapshot, generation: 1, parks: 0, acceptedAt: 0, ...spent }
    const refused = mayStart(book, attempt, startsAtMs)
    const endsAtMs = refused === null ? startsAtMs + attemptMs : startsAtMs
    judge ??= judgeFor(book, attempt, simulation)
    const judged = refused ?? judge(attempt, { now: endsAtMs, roll })
    attempts.push({ attempt: attempts.length + 1, startsAtMs, endsAtMs, ...judged })
    if (judged.decision.kind !== 'retry') break
    startsAtMs = endsAtMs + judged.decision.delayMs
    spent =
      simulation.failure === 'lost'
        ? { ...spent, losses: spent.losses + 1 }
        : { ...spent, failures: spent.failures + 1 }
  }
  return { attempts, notes: notesOn(book, snapshot, attempts) }
}

type Judge = (attempt: JudgedAttempt, circumstances: Circumstances) => Judgement

/** All attempts fail the same way, so what that is gets found out once: it may take long, and there may be a thousand. */
function judgeFor(book: PolicyBook, first: JudgedAttempt, { failure }: Simulation): Judge {
  if (failure !== 'lost') return failureJudge(book, first, thrown(failure))
  return (attempt, circumstances) => judgeLost(book, attempt, 'Its worker vanished.', circumstances)
}

function thrown({ message = '', ...fields }: SimulatedFailure): Error {
  const error = Object.assign(new Error(message), fields)
  // Where it was made up is no part of it.
  delete error.stack
  return error
}

function snapshotOf({ action, tenant, settings = DEFAULT_SETTINGS }: Simulation): Snapshot {
  return {
    id: taskId('simulated'),
    action: actionName(action),
    pool: DEFAULT_POOL,
    tenant: tenant === undefined ? DEFAULT_TENANT : tenantId(tenant),
    payload: JSON_NULL,
    labels: {},
    priority: DEFAULT_PRIORITY,
    settings,
    retryToken: retryToken('simulated'),
    dedupeKey: null,
    deadlineAt: null,
  }
}

function notesOn(book: PolicyBook, snapshot: Snapshot, attempts: readonly SimulatedAttempt[]): readonly string[] {
  const policy = policyForTask(book, snapshot)?.policy ?? null
  const { maxRetries, backoff } = settingsUnder(policy, snapshot)
  const slaMs = policy?.slaMs ?? snapshot.settings.slaMs
  const name = policy?.name ?? 'none'
  const sla = slaMs === undefined ? null : slaNote({ name, slaMs, retries: maxRetries ?? 0, backoff })
  const last = attempts.at(-1)
  const late =
    sla === null && last?.decision.kind === 'dead' && last.decision.reason === 'deadline'
      ? `With attempts of this length the SLA ends it after ${attempts.length} of ${(maxRetries ?? 0) + 1} attempts.`
      : null
  return [sla, late].filter((note) => note !== null)
}
