// Moves virtual time until every task has ended, from one moment to the next. Handlers that run get a little real time before,
// for those that do real input and output. Bounded: when nothing changes any more, it throws with a list of what is stuck and why.

import { type Duration, durationMs, type Observing, sleep, systemClock, type Task } from '@reprise/core'
import { liveTasks, moveTowards, nextMoment, QUIET_STEPS_MAX, type Surroundings, signatureOf } from './moments.ts'

export interface IdleOptions {
  /** The most virtual time it may take; 30 days if not given. */
  readonly within?: Duration
  /** Real time that running handlers get before the clock moves on without them; 50 ms if not given. */
  readonly patience?: Duration
}

const STUCK_SHOWN_MAX = 20

export async function runUntilIdle(around: Surroundings, options: IdleOptions): Promise<void> {
  const { engine, clock } = around
  const giveUpAt = clock.now() + durationMs(options.within ?? '30d', 'within')
  const patienceMs = durationMs(options.patience ?? '50ms', 'patience')
  let seen = ''
  let quietSteps = 0
  let patienceLeftMs = patienceMs
  for (;;) {
    await clock.advance(0)
    const live = await liveTasks(engine)
    if (live.length === 0) return
    const signature = signatureOf(live)
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
    quietSteps++
    // A running attempt ends at its timeout at the latest, so only rest counts towards giving up.
    if ((!running && quietSteps > QUIET_STEPS_MAX) || clock.now() >= giveUpAt) throw await stuck(engine, live)
    const moment = running && quietSteps < QUIET_STEPS_MAX ? null : await nextMoment(around, live)
    await moveTowards(around, live, moment === null ? null : Math.min(moment, giveUpAt))
  }
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
