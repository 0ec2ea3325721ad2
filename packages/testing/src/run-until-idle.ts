// Moves virtual time until every task has ended. Waiting tasks are jumped to; while handlers run, time goes on step by
// step, after a little real time for those that do real input and output. Bounded: when nothing changes any more, it
// throws with a list of what is stuck and why.

import {
  type Duration,
  durationMs,
  type Engine,
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
const STUCK_SHOWN_MAX = 20

export async function runUntilIdle(engine: Engine, clock: VirtualClock, options: IdleOptions): Promise<void> {
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
    const target = running ? null : nextMoment(live, clock.now())
    if (target !== null && target > clock.now() + STEP_MS) clock.jump(target - clock.now())
    else await clock.advance(STEP_MS)
  }
}

async function liveTasks(engine: Engine): Promise<Task[]> {
  const live: Task[] = []
  for (const status of LIVE) {
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<Engine['tasks']>> = await engine.tasks({
        status,
        limit: 1_000,
        ...(cursor === null ? {} : { cursor }),
      })
      live.push(...page.items)
      cursor = page.next
    } while (cursor !== null)
  }
  return live
}

/** When the first of them becomes due or expires; null if none ever will. */
function nextMoment(live: readonly Task[], now: number): number | null {
  let next: number | null = null
  for (const { state, deadlineAt } of live) {
    const moments = state.status === 'waiting' ? [state.dueAt] : [deadlineAt]
    if (state.status === 'queued') moments.push(state.expiresAt)
    for (const at of moments) if (at !== null && at > now && (next === null || at < next)) next = at
  }
  return next
}

async function stuck(engine: Engine, live: readonly Task[]): Promise<Error> {
  const lines: string[] = []
  for (const task of live.slice(0, STUCK_SHOWN_MAX)) {
    const explanation = await engine.explain(task.id)
    lines.push(`- ${task.id} (${task.action}, ${task.state.status}): ${explanation?.summary ?? 'gone.'}`)
  }
  if (live.length > lines.length) lines.push(`- and ${live.length - lines.length} more`)
  return new Error(`Tasks have not ended, and nothing changes any more (${live.length}):\n${lines.join('\n')}`)
}
