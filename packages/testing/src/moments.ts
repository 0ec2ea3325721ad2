// The moments at which something can happen, and the way from one to the next. The time in between is jumped over, so that
// days pass in milliseconds. Attempts that run keep their leases over a jump. Its last bit is walked: heartbeats and samples of
// the loop's lag find time as usual then.

import { allPages, type Engine, type Observing, type RenewRequest, type Task, type TaskStatus } from '@reprise/core'
import type { KitClock } from './kit-clock.ts'

export interface Surroundings {
  readonly engine: Engine
  readonly clock: KitClock
}

const LIVE: readonly TaskStatus[] = ['queued', 'waiting', 'running']
const STEP_MS = 1_000
const WALKED_MS = 6_000
/** While an attempt runs: no longer than a lease can be. */
const JUMP_MS_MAX = 86_400_000
/** Steps without any change after which nothing can be expected before the next moment: longer than the grace time of the sweep. */
export const QUIET_STEPS_MAX = 20

export async function liveTasks(engine: Observing): Promise<readonly Task[]> {
  const live: Task[] = []
  for (const status of LIVE) {
    const { items } = await allPages((page) => engine.tasks({ ...page, status }), Number.POSITIVE_INFINITY)
    live.push(...items)
  }
  return live
}

/** Changes whenever a task does. */
export const signatureOf = (live: readonly Task[]): string =>
  live.map(({ id, attempt, state }) => `${id} ${attempt} ${state.status}`).join('\n')

/** When the first of them becomes due, expires or times out, a breaker lets some through, or a timer of the test fires. */
export async function nextMoment({ engine, clock }: Surroundings, live: readonly Task[]): Promise<number | null> {
  const moments = [...clock.ownMoments(), ...(await breakerMoments(engine))]
  for (const { state, deadlineAt } of live) {
    if (state.status === 'waiting') moments.push(state.dueAt)
    else if (deadlineAt !== null) moments.push(deadlineAt)
    if (state.status === 'queued' && state.expiresAt !== null) moments.push(state.expiresAt)
    if (state.status === 'running') moments.push(state.timeoutAt)
  }
  let next: number | null = null
  for (const at of moments) if (at > clock.now() && (next === null || at < next)) next = at
  return next
}

/** Jumps to the moment, or takes a step if there is none. */
export async function moveTowards(
  { engine, clock }: Surroundings,
  live: readonly Task[],
  moment: number | null,
): Promise<void> {
  const leases = live.flatMap(leaseOf)
  const farthestMs = leases.length === 0 ? Number.POSITIVE_INFINITY : JUMP_MS_MAX
  const distanceMs = moment === null ? 0 : Math.min(moment - clock.now(), farthestMs)
  if (distanceMs > WALKED_MS) {
    clock.jump(distanceMs - WALKED_MS)
    // Or else the store takes the jump for a pause of the worker, and puts off the timeouts of attempts by as long.
    if (leases.length > 0) await engine.renew(leases, distanceMs)
  }
  await clock.advance(Math.max(Math.min(distanceMs, WALKED_MS), STEP_MS))
}

function leaseOf({ id, state }: Task): readonly RenewRequest[] {
  if (state.status !== 'running') return []
  return [{ taskId: id, attempt: state.attempt, token: state.token, progress: state.progress }]
}

/** Moves time just so far, and stops at every moment on the way. */
export async function advance(around: Surroundings, byMs: number): Promise<void> {
  const { engine, clock } = around
  const target = clock.now() + byMs
  let seen: string | null = null
  let quietSteps = 0
  await clock.advance(0)
  while (target - clock.now() > WALKED_MS) {
    const live = await liveTasks(engine)
    const signature = signatureOf(live)
    quietSteps = signature === seen ? quietSteps + 1 : 0
    seen = signature
    // Tasks that only wait for their time change nothing before it.
    const restless = live.some(({ state }) => state.status !== 'waiting') && quietSteps < QUIET_STEPS_MAX
    await moveTowards(around, live, restless ? null : Math.min((await nextMoment(around, live)) ?? target, target))
  }
  await clock.advance(target - clock.now())
}

async function breakerMoments(engine: Observing): Promise<number[]> {
  const { items } = await engine.breakers({ limit: 1_000 })
  return items.flatMap(({ state }) => (state.status === 'open' ? [state.until] : []))
}
