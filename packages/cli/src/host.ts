// What the command line needs of the process it runs in. The real one is made in main.ts; a test brings its own, and so
// runs commands without starting processes.

import type { Clock } from '@reprise/core'
import type { Sink } from './output/output.ts'

export interface Host {
  readonly stdout: Sink
  readonly stderr: Sink
  readonly stdin: Input
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly clock: Clock
  /** Fires when somebody asks the process to end: SIGINT, SIGTERM or SIGHUP, which is its reason. */
  readonly asked: AbortSignal
  /** Fires when they ask a second time. */
  readonly urged: AbortSignal
  /** Fires when nobody reads standard output or standard error any more. */
  readonly unread: AbortSignal
  /** From now on, what can't be written is left out: a service goes on without its log, on a full disk say. */
  stay(): void
  /** Loads a module of the user's, by its URL. */
  importModule(url: string): Promise<unknown>
  /** Starts the same command in a process of its own, without `--watch`. */
  startCopy(): Copy
}

/** A process that runs the same command. */
export interface Copy {
  /** With its exit code; null if a signal ended it. */
  readonly ended: Promise<number | null>
  /** Asks it to end. A second time does nothing. */
  readonly stop: () => void
}

interface Input {
  readonly isTTY?: boolean | undefined
  /** Everything that comes in, as text. */
  text(): Promise<string>
  /** The same as it comes, for what may be longer than memory or may take its time. */
  readonly bytes: AsyncIterable<Uint8Array>
}
