// What became of a run, told from its directory and from /proc. Everything that can be seen half-way is looked at in the
// order in which it is written, and the outcome once more at the end, so that no step in between is taken for a loss.

import type { LaunchRef, LaunchSighting } from '@reprise/core'
import { monotonicMs } from '../monotonic.ts'
import { bootId, isAlive, livingOf, type ProcessId, signalAll } from '../processes.ts'
import { outcomeOf } from './outcome.ts'
import { type CommandFile, type Exited, FILE, type GateFile, type OrderFile, type OutcomeFile } from './protocol.ts'
import { isRunName, type Run, type Runs, runName } from './runs.ts'

export type RunState =
  /** Nothing was started under it, and nothing will be. */
  | { readonly is: 'barred' }
  /** Nothing was started yet; something may still be. */
  | { readonly is: 'undecided' }
  | { readonly is: 'running'; readonly supervisor: ProcessId; readonly command: ProcessId | null }
  | { readonly is: 'ended'; readonly supervisor: ProcessId; readonly exited: Exited }
  | { readonly is: 'vanished' }
  /** There is no such directory. */
  | { readonly is: 'gone' }

const NOBODY: ProcessId = { pid: 0, startTime: 0 }

export async function stateOf(runs: Runs, run: Run): Promise<RunState> {
  const order = await runs.read<OrderFile>(run, FILE.order)
  if (order === null) return { is: 'gone' }
  if (await runs.isBarred(run)) return { is: 'barred' }
  const gate = await runs.read<GateFile>(run, FILE.gate)
  if (gate === null) return { is: 'undecided' }
  const supervisor: ProcessId = gate !== 'unreadable' && gate.by === 'supervisor' ? gate : NOBODY
  const ended = await endedState(runs, run, supervisor)
  if (ended !== null) return ended
  const isOfThisBoot = order !== 'unreadable' && order.bootId === bootId() && supervisor.pid !== 0
  if (isOfThisBoot) {
    const command = readable(await runs.read<CommandFile>(run, FILE.command))
    if (isAlive(supervisor)) return { is: 'running', supervisor, command }
    const living = livingOf(supervisor, command)
    if (living.length > 0) {
      // Its supervisor was killed. It may come to its end, but not to more time than it was given.
      const startedAt = gate !== 'unreadable' && gate.by === 'supervisor' ? gate.at : 0
      if (monotonicMs() > startedAt + order.endedWithinMs) signalAll(living, 'SIGKILL')
      return { is: 'running', supervisor, command }
    }
  }
  // The supervisor may have written it, and ended, after the first look.
  const outcome = await endedState(runs, run, supervisor)
  if (outcome !== null) return outcome
  return (await runs.isBarred(run)) ? { is: 'barred' } : { is: 'vanished' }
}

async function endedState(runs: Runs, run: Run, supervisor: ProcessId): Promise<RunState | null> {
  const outcome = readable(await runs.read<OutcomeFile>(run, FILE.outcome))
  if (outcome === null || outcome.kind === 'unstarted') return null
  return { is: 'ended', supervisor, exited: outcome }
}

const readable = <Content>(content: Content | null | 'unreadable'): Content | null =>
  content === 'unreadable' ? null : content

/** What a launch is known by: its supervisor, for people, and its run, which no other launch has. */
export const handleOf = (supervisorPid: number, run: Pick<Run, 'name'>): string => `pid-${supervisorPid}-${run.name}`

/** Null for a text that is no handle of ours: handles come from the store, and what they name may be removed. */
function runNameOf(handle: string): string | null {
  const [, name = ''] = /^pid-\d+-(.*)$/s.exec(handle) ?? []
  return isRunName(name) ? name : null
}

/** The runs that may be meant; none if the handle is not ours. */
export async function candidatesOf(runs: Runs, { key, handle }: LaunchRef): Promise<Run[]> {
  if (handle === null) return runs.of(key)
  const name = runNameOf(handle)
  return name === null ? [] : [runs.run(key, name)]
}

export const isOver = ({ is }: RunState): boolean => is !== 'running' && is !== 'undecided'

export async function sightingOf(
  runs: Runs,
  ref: LaunchRef,
  exitCodes: Readonly<Record<string, 'permanent' | 'transient'>>,
  onRunning: (run: Run, supervisor: ProcessId) => void,
): Promise<LaunchSighting> {
  if (ref.handle !== null && runNameOf(ref.handle) === null) return { status: 'unknown' }
  if (!(await runs.isThere())) return { status: 'unknown' }
  const candidates = await candidatesOf(runs, ref)
  const seen = await Promise.all(candidates.map(async (run) => ({ run, state: await stateOf(runs, run) })))
  const sighting = await sightingIn(runs, ref, seen, exitCodes, onRunning)
  // What could not be found may have been taken away, with all the others, while it was looked for.
  const isFound = sighting.status === 'running' || sighting.status === 'ended' || (await runs.isThere())
  return isFound ? sighting : { status: 'unknown' }
}

async function sightingIn(
  runs: Runs,
  ref: LaunchRef,
  seen: readonly { readonly run: Run; readonly state: RunState }[],
  exitCodes: Readonly<Record<string, 'permanent' | 'transient'>>,
  onRunning: (run: Run, supervisor: ProcessId) => void,
): Promise<LaunchSighting> {
  const ownName = ref.handle === null && ref.token !== undefined ? runName(ref.token) : null
  const states = seen.filter(({ run }) => ownName === null || run.name === ownName)
  const others = seen.filter(({ run }) => ownName !== null && run.name !== ownName)
  for (const { run, state } of states) {
    if (state.is === 'running') {
      onRunning(run, state.supervisor)
      return { status: 'running', handle: handleOf(state.supervisor.pid, run) }
    }
  }
  for (const { run, state } of states) {
    if (state.is === 'ended') {
      const outcome = outcomeOf(state.exited, exitCodes)
      return { status: 'ended', handle: handleOf(state.supervisor.pid, run), outcome }
    }
  }
  if (states.some(({ state }) => state.is === 'vanished')) return { status: 'vanished' }
  if (states.some(({ state }) => state.is === 'undecided')) return { status: 'unknown' }
  // Somebody noted a handle, so it was started; and now there is no directory.
  if (ref.handle !== null && states.some(({ state }) => state.is === 'gone')) return { status: 'vanished' }
  // The run of an attempt that was released: until it is over, nothing can be launched for this one.
  for (const { run, state } of others) if (state.is === 'running') onRunning(run, state.supervisor)
  if (others.some(({ state }) => !isOver(state))) return { status: 'unknown' }
  await Promise.all(seen.filter(({ state }) => state.is === 'barred').map(({ run }) => runs.remove(run)))
  return { status: 'never' }
}
