// Moves virtual time until every task has ended. What waits, for its time or for a breaker's, is jumped to; while handlers run, time goes on step by
// step, after a little real time for those that do real input and output. Bounded: when nothing changes any more, it
// throws with a list of what is stuck and why.

import {
  allPages,
  type Duration,
  durationMs,
  type Observing,
  sleep,
  systemClock,
  type Task,
  type TaskStatus,
  type VirtualClock,
} from '@reprise/core'

export interface IdleOptions {
  /** The most virtual time it may take; 30 days if not given. */
  readonly within?: Duration
  /** Real time that running handlers get before the clock moves on without them; 50 ms if not given. */
  readonly patience?: Duration
}

const LIVE: readonly TaskStatus[] = ['queued', 'waiting', 'running']
/** Steps without any change after which nothing can be expected: longer than the grace time of the sweep. */
const QUIET_STEPS_MAX = 20
const STEP_MS = 1_000
/** The last bit of a jump is walked, so that heartbeats and samples of the loop's lag find time as usual again. */
const WALKED_MS = 6_000
const STUCK_SHOWN_MAX = 20

export async function runUntilIdle(engine: Observing, clock: VirtualClock, options: IdleOptions): Promise<void> {
  const giveUpAt = clock.now() + durationMs(options.within ?? '30d', 'within')
  const patienceMs = durationMs(options.patience ?? '50ms', 'patience')
  let seen = ''
  let quietSteps = 0
  let patienceLeftMs = patienceMs
  for (;;) {
    await clock.advance(0)
    const live = await liveTasks(engine)
    if (live.length === 0) return
    const signature = live.map(({ id, attempt, state }) => `${id} ${attempt} ${state.status}`).join('\n')
    if (signature !== seen) {
      seen = signature
      quietSteps = 0
      patienceLeftMs = patienceMs
    }
    const running = live.some(({ state }) => state.status === 'running')
    if (running && patienceLeftMs > 0) {
      await sleep(systemClock, 1, undefined, { hold: true })
      patienceLeftMs--
      continue
    }
    // A running attempt ends at its timeout at the latest, so only rest counts towards giving up.
    if (!running) quietSteps++
    if (quietSteps > QUIET_STEPS_MAX || clock.now() >= giveUpAt) throw await stuck(engine, live)
    const target = running ? null : await nextMoment(engine, live, clock.now())
    await moveTowards(clock, target)
  }
}

async function moveTowards(clock: VirtualClock, target: number | null): Promise<void> {
  const distanceMs = target === null ? 0 : target - clock.now()
  if (distanceMs > WALKED_MS) clock.jump(distanceMs - WALKED_MS)
  await clock.advance(Math.max(Math.min(distanceMs, WALKED_MS), STEP_MS))
}

async function liveTasks(engine: Observing): Promise<Task[]> {
  const live: Task[] = []
  for (const status of LIVE) {
    const { items } = await allPages((page) => engine.tasks({ ...page, status }), Number.POSITIVE_INFINITY)
    live.push(...items)
  }
  return live
}

/** When the first of them becomes due or expires, or a breaker lets some through; null if nothing ever will. */
async function nextMoment(engine: Observing, live: readonly Task[], now: number): Promise<number | null> {
  const moments = await breakerMoments(engine)
  for (const { state, deadlineAt } of live) {
    if (state.status === 'waiting') moments.push(state.dueAt)
    else if (deadlineAt !== null) moments.push(deadlineAt)
    if (state.status === 'queued' && state.expiresAt !== null) moments.push(state.expiresAt)
  }
  let next: number | null = null
  for (const at of moments) if (at > now && (next === null || at < next)) next = at
  return next
}

async function breakerMoments(engine: Observing): Promise<number[]> {
  const { items } = await engine.breakers({ limit: 1_000 })
  return items.flatMap(({ state }) => (state.status === 'open' ? [state.until] : []))
}

async function stuck(engine: Observing, live: readonly Task[]): Promise<Error> {
  const lines: string[] = []
  for (const task of live.slice(0, STUCK_SHOWN_MAX)) {
    const explanation = await engine.explain(task.id)
    lines.push(`- ${task.id} (${task.action}, ${task.state.status}): ${explanation?.summary ?? 'gone.'}`)
  }
  if (live.length > lines.length) lines.push(`- and ${live.length - lines.length} more`)
  return new Error(`Tasks have not ended, and nothing changes any more (${live.length}):\n${lines.join('\n')}`)
}
