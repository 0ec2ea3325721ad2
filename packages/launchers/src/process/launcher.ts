// The process launcher: each execution is a child process on this host, started by a supervisor of its own that outlives the
// orchestrator. What is true about a run stands in its directory, so any launcher of this host and user that is given the same
// directory can look after it. It needs Linux: processes are told apart by what /proc says.

import { existsSync } from 'node:fs'
import {
  InvalidError,
  type Launched,
  type Launcher,
  type LaunchOrder,
  type LaunchRef,
  type LaunchSighting,
  mapLimited,
  sleep,
} from '@reprise/core'
import { describedFailure } from '../described-failure.ts'
import { monotonicMs } from '../monotonic.ts'
import { isAlive, livingOf, signalAll, startTimeOf } from '../processes.ts'
import { EndWatch } from './end-watch.ts'
import { failpoint } from './failpoint.ts'
import {
  commandFor,
  environmentOf,
  type ProcessLauncherOptions,
  type ProcessSettings,
  processSettings,
} from './options.ts'
import { type Unstarted, VOID } from './protocol.ts'
import { type Run, Runs } from './runs.ts'
import { candidatesOf, handleOf, isOver, sightingOf, stateOf } from './sighting.ts'
import { startSupervisor } from './start.ts'

export interface ProcessLauncher extends Launcher {
  onEnded(listener: (key: string) => void): () => void
  /**
   * Removes the directories of runs that ended, and were last touched, so long ago, and that nobody forgot. Answers how
   * many. Settle first what they may tell: choose a time well above the longest time-out.
   */
  sweepDirectories(olderThanMs: number): Promise<number>
}

const LOOKS_AT_ONCE = 16
const LOOK_AGAIN_MS = 50
/** How much longer than its time-out and grace time a run may take before its supervisor must be gone too. */
const SUPERVISOR_SLACK_MS = 15_000
/** Half-made directories are moved to their place within moments. */
const LEFTOVERS_MS = 3_600_000

export function createProcessLauncher(options: ProcessLauncherOptions): ProcessLauncher {
  const settings = processSettings(options)
  if (!existsSync('/proc/self/stat')) {
    throw new InvalidError('The process launcher needs Linux: it finds its processes in /proc, which is not here.')
  }
  return new DirectoryLauncher(settings)
}

class DirectoryLauncher implements ProcessLauncher {
  readonly name: string
  readonly #settings: ProcessSettings
  readonly #runs: Runs
  readonly #watch: EndWatch

  constructor(settings: ProcessSettings) {
    this.name = settings.name
    this.#settings = settings
    this.#runs = new Runs(settings.directory)
    this.#watch = new EndWatch(this.#runs, settings.clock, settings.pollMs)
  }

  async launch(order: LaunchOrder, signal: AbortSignal): Promise<Launched> {
    signal.throwIfAborted()
    const command = commandFor(this.#settings, order)
    if (monotonicMs() >= order.voidAt) throw launchFailure(VOID)
    const endedWithinMs = order.timeoutMs + this.#settings.killGraceMs + SUPERVISOR_SLACK_MS
    const run = await this.#runs.place(order, endedWithinMs, async (other) => isOver(await stateOf(this.#runs, other)))
    failpoint('launcher:placed')
    const env = environmentOf(this.#settings, order, run)
    let start: Awaited<ReturnType<typeof startSupervisor>>
    try {
      start = await startSupervisor(this.#runs, run, { ...command, env }, this.#settings.clock, signal)
    } catch (error) {
      // No process, or no directory any more. If something did start after all, the directory stays, and tells.
      if (await this.#runs.bar(run)) await this.#runs.remove(run)
      throw error
    }
    if (start.may === 'not run') {
      await this.#runs.remove(run)
      throw launchFailure(start.unstarted)
    }
    this.#watch.add(run, { pid: start.pid, startTime: startTimeOf(start.pid) ?? 0 })
    return { handle: handleOf(start.pid, run) }
  }

  look(refs: readonly LaunchRef[]): Promise<readonly LaunchSighting[]> {
    return mapLimited(refs, LOOKS_AT_ONCE, (ref) => this.#sighting(ref))
  }

  async #sighting(ref: LaunchRef): Promise<LaunchSighting> {
    try {
      return await sightingOf(this.#runs, ref, this.#settings.exitCodes, (run, supervisor) => {
        // Without a supervisor nobody says when it ends.
        if (isAlive(supervisor)) this.#watch.add(run, supervisor)
      })
    } catch {
      // The directory can't be read now: no disk, no file handles left.
      return { status: 'unknown' }
    }
  }

  async end(ref: LaunchRef, graceMs: number): Promise<void> {
    const killAt = monotonicMs() + graceMs
    const candidates = await candidatesOf(this.#runs, ref)
    await Promise.all(candidates.map((run) => this.#endRun(run, killAt)))
    // With the directory away, a run that lives looks like one that is gone.
    if (candidates.length > 0 && !(await this.#runs.isThere())) throw launchFailure(missing(this.#runs.root))
  }

  async #endRun(run: Run, killAt: number): Promise<void> {
    // A run that has not begun will not.
    if (await this.#runs.bar(run)) return this.#runs.remove(run)
    let isAsked = false
    for (;;) {
      const state = await stateOf(this.#runs, run)
      if (state.is !== 'running') return
      const living = livingOf(state.supervisor, state.command)
      const now = monotonicMs()
      if (now >= killAt) signalAll(living, 'SIGKILL')
      else if (!isAsked) signalAll(living, 'SIGTERM')
      isAsked = true
      // A supervisor that neither notices nor writes anything, being stopped itself.
      if (living.length === 0 && now >= killAt + SUPERVISOR_SLACK_MS && isAlive(state.supervisor)) {
        signalAll([state.supervisor.pid], 'SIGKILL')
      }
      await sleep(this.#settings.clock, LOOK_AGAIN_MS, undefined, { hold: true })
    }
  }

  async forget(ref: LaunchRef): Promise<void> {
    for (const run of await candidatesOf(this.#runs, ref)) {
      this.#watch.delete(run)
      if (isOver(await stateOf(this.#runs, run))) await this.#runs.remove(run)
    }
  }

  onEnded(listener: (key: string) => void): () => void {
    return this.#watch.listen(listener)
  }

  async sweepDirectories(olderThanMs: number): Promise<number> {
    const now = this.#settings.clock.now()
    await this.#runs.removeLeftovers(now - Math.max(olderThanMs, LEFTOVERS_MS))
    let removed = 0
    for (const run of await this.#runs.olderThan(now - olderThanMs)) {
      if (!isOver(await stateOf(this.#runs, run))) continue
      await this.#runs.remove(run)
      removed += 1
    }
    return removed
  }

  /** Runs go on without it; another launcher, or this directory's next one, looks after them. */
  close(): Promise<void> {
    this.#watch.close()
    return Promise.resolve()
  }
}

// The arguments are too long, or the command may not be run: so it will be the next time.
const NEVER_STARTS: ReadonlySet<string> = new Set(['E2BIG', 'EACCES', 'EPERM'])

const missing = (root: string): Unstarted => ({
  code: 'RUNS_MISSING',
  message: `The directory of the runs, ${root}, is missing: whether the worker is gone can't be told. Bring it back.`,
})

function launchFailure({ code, message }: Unstarted): Error {
  return describedFailure({ code, message, says: NEVER_STARTS.has(code) ? 'permanent' : 'transient' })
}
