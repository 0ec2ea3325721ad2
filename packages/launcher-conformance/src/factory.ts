// How the suite gets hold of the launcher it is to try, and of the platform behind it: a stage of its own for each test. What a
// launcher can't do it says in `lacks`; the suite then tries what must hold instead, and says what it leaves out.

import type { Launcher } from '@reprise/core'

/** What a launcher may be unable to do, because its platform is. */
export type LauncherLack =
  /** A launch whose handle nobody noted is not found again, nor recognised: it counts as gone. */
  | 'finding'
  /** Nobody can be asked about a worker: it counts as running until its time is over. */
  | 'watching'
  /** A worker that runs can't be stopped; what it reports later is refused by its token. */
  | 'stopping'

/** What the stage can make the next launch meet. */
export type StagedTrouble =
  /** The platform has no room. */
  | 'full'
  /** The platform wants fewer calls. */
  | 'throttled'
  /** The orchestrator may not start workers. */
  | 'denied'
  /** The worker is started, and the answer is lost. */
  | 'lost answer'
  /** The platform never answers. */
  | 'hanging'

/** A worker that was started. */
export interface StagedWorker {
  /** The token that it got, with which it may call back. */
  readonly token: string
  isRunning(): boolean
  /** Ends without a word to anybody. */
  vanish(): void | Promise<void>
}

/** A platform, and launchers on it. */
export interface LauncherStage {
  /** A launcher of a process of its own: it knows nothing that another one keeps in memory. The stage closes it. */
  launcher(): Launcher
  /** Of orders that the launcher knows what to do with. */
  readonly action: string
  /** All that were ever started. */
  workers(): readonly StagedWorker[]
  /** Those that it can make. */
  readonly troubles: readonly StagedTrouble[]
  trouble(kind: StagedTrouble): void
  /** From now on all is well. */
  recover(): void
  close(): Promise<void>
}

export interface LauncherFactory {
  readonly name: string
  readonly lacks?: readonly LauncherLack[]
  open(): Promise<LauncherStage>
}
