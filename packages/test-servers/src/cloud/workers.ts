// The workers of a fake platform: what was started, with which environment, and how it ended. Nothing runs here: a test or an example
// acts as the worker, or lets one run with this environment. Each platform tells the same ends in its own words.

/** How a worker ended. */
export type FakeEnd =
  | { readonly by: 'exit'; readonly exitCode: number }
  | { readonly by: 'out of memory' }
  | { readonly by: 'image' }
  | { readonly by: 'interruption' }
  /** A secret, a volume, a network interface. */
  | { readonly by: 'start' }
  | { readonly by: 'deadline' }
  /** The platform was asked to stop it. */
  | { readonly by: 'stop' }

export class FakeWorker {
  readonly id: string
  readonly env: Readonly<Record<string, string>>
  /** All that was asked for, as it came over the wire. */
  readonly request: Readonly<Record<string, unknown>>
  readonly startedAt: number
  /** Comes when the platform was asked to stop it. */
  readonly stopAsked: Promise<void>
  readonly ended: Promise<FakeEnd>
  /** What it answers when it exits with 0, where the platform waits for an answer. */
  answer: unknown
  /** A worker that does not end when it is asked to. */
  ignoresStop = false
  /** The platform does not show it, as if it had not got round to it. */
  isHidden = false
  end: FakeEnd | null = null
  endedAt: number | null = null
  readonly #now: () => number
  readonly #askStop: () => void
  readonly #tellEnd: (end: FakeEnd) => void

  constructor(
    id: string,
    env: Readonly<Record<string, string>>,
    request: Readonly<Record<string, unknown>>,
    now: () => number,
  ) {
    const asked = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<FakeEnd>()
    this.id = id
    this.env = env
    this.request = request
    this.startedAt = now()
    this.stopAsked = asked.promise
    this.ended = ended.promise
    this.#askStop = asked.resolve
    this.#tellEnd = ended.resolve
    this.#now = now
  }

  get isRunning(): boolean {
    return this.end === null
  }

  finish(end: FakeEnd): void {
    if (this.end !== null) return
    this.end = end
    this.endedAt = this.#now()
    this.#tellEnd(end)
  }

  exit(exitCode = 0): void {
    this.finish({ by: 'exit', exitCode })
  }

  stop(): void {
    this.#askStop()
    if (!this.ignoresStop) this.finish({ by: 'stop' })
  }
}
