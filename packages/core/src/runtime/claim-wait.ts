// The rest of everybody who claims (a worker, a dispatcher, a launch service, a server for its workers): after a claim that
// found less than it asked for, until the next one may find something.

import type { Engine, Interest, Mark } from '../port/engine.ts'
import type { ClaimResult } from '../port/leases.ts'
import { type Clock, sleep } from './clock.ts'

/** What a claim left to wait for. */
export interface Idle {
  /** Taken before the claim: what came since is not missed. */
  readonly since: Mark
  /** When the delay queue has something next, by this process's monotonic clock; null if it is empty. */
  readonly dueAt: number | null
  readonly heldBack: ClaimResult['heldBack']
}

/** Bounds what a lost hint can cost, and how often one who is held back for its failures asks again. */
const IDLE_MS = 1_000
/** The least time between two looks at a delay queue whose head is due. */
const DUE_MS_MIN = 5

/** Both times are the store's; only what lies between them counts, so a wrong wall clock does no harm. */
export function idleAfter({ nextDueAt, now, heldBack }: ClaimResult, since: Mark, clock: Clock): Idle {
  return { since, heldBack, dueAt: nextDueAt === null ? null : clock.monotonic() + (nextDueAt - now) }
}

export interface ClaimWait extends Omit<Interest, 'since'> {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** A second if not given. */
  readonly atMostMs?: number
}

export function untilClaimable(engine: Pick<Engine, 'wait'>, idle: Idle, wait: ClaimWait): Promise<void> {
  const { clock, signal, atMostMs = IDLE_MS, ...where } = wait
  if (idle.heldBack === 'unhealthy') return sleep(clock, Math.min(IDLE_MS, atMostMs), signal)
  const dueMs = idle.dueAt === null ? atMostMs : Math.max(Math.ceil(idle.dueAt - clock.monotonic()), DUE_MS_MIN)
  return engine.wait({ ...where, since: idle.since }, Math.min(dueMs, atMostMs), signal)
}
