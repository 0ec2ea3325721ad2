// A launcher in memory, on the test's own clock: it starts nothing, and says of each launch what the test wants.

import {
  type Clock,
  DuplicateExecutionError,
  type Launcher,
  type LaunchOrder,
  type LaunchOutcome,
  type LaunchRef,
  type LaunchSighting,
} from '@reprise/core'

/** Tests speak of 'task:attempt': when the task was accepted says nothing there. */
const shortKey = (key: string): string => key.replace(/:\d+(?=:\d+$)/, '')

export class FakeLauncher implements Launcher {
  readonly name = 'fake'
  readonly orders: LaunchOrder[] = []
  readonly ended: LaunchRef[] = []
  readonly forgotten: LaunchRef[] = []
  readonly lookedAt: string[] = []
  /** The tokens that came with those. */
  readonly lookedFor: (string | undefined)[] = []
  /** Thrown by the next launches. */
  failure: Error | null = null
  /** Awaited before a launch takes effect. */
  holdUp: Promise<void> | null = null
  readonly #clock: Clock
  readonly #sightings = new Map<string, LaunchSighting>()
  readonly #listeners = new Set<(key: string) => void>()
  /** The real keys, by their short forms. */
  readonly #keys = new Map<string, string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async launch(order: LaunchOrder, signal: AbortSignal): Promise<{ readonly handle: string }> {
    await this.holdUp
    if (this.failure !== null) throw this.failure
    if (signal.aborted) throw new Error('stopped')
    if (this.#clock.monotonic() >= order.voidAt) throw new Error('The order is void.')
    const key = shortKey(order.key)
    if (this.#sightings.has(key)) throw new DuplicateExecutionError(order.taskId, order.attempt)
    this.#keys.set(key, order.key)
    this.orders.push({ ...order, key })
    const handle = `handle of ${key}`
    this.#sightings.set(key, { status: 'running', handle })
    return { handle }
  }

  async look(refs: readonly LaunchRef[]): Promise<readonly LaunchSighting[]> {
    this.lookedAt.push(...refs.map(({ key }) => shortKey(key)))
    this.lookedFor.push(...refs.map(({ token }) => token))
    return refs.map(({ key }) => this.#sightings.get(shortKey(key)) ?? { status: 'never' })
  }

  async end(ref: LaunchRef): Promise<void> {
    const key = shortKey(ref.key)
    this.ended.push({ ...ref, key })
    if (this.#sightings.get(key)?.status === 'running') {
      this.finish(key, { ok: false, thrown: new Error('was ended') }, 'quietly')
    }
  }

  async forget(ref: LaunchRef): Promise<void> {
    const key = shortKey(ref.key)
    this.forgotten.push({ ...ref, key })
    this.#sightings.delete(key)
  }

  onEnded(listener: (key: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async close(): Promise<void> {}

  finish(key: string, outcome: LaunchOutcome, how: 'telling' | 'quietly' = 'telling'): void {
    this.#sightings.set(key, { status: 'ended', handle: `handle of ${key}`, outcome })
    if (how === 'telling') for (const listener of this.#listeners) listener(this.#keys.get(key) ?? key)
  }

  see(key: string, sighting: LaunchSighting): void {
    this.#sightings.set(key, sighting)
  }
}
