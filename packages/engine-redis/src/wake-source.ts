// What one partition tells the engine about changes: it listens on the engine's channel there, and remembers what the
// channel is registered with. A pool has a version that counts changes: a waiter that knows an older one looks again instead of
// waiting. A worker's inbox is such a place, too.

import type { Interest, PoolName, WorkerId } from '@reprise/core'
import { asTexts, type Partition } from './partition.ts'
import { idleScript, passOnScript, watchScript } from './scripts.generated.ts'

/** The part of the engine that wakes those who wait. */
export interface WakeListener {
  /** A new mark: something was heard of. */
  readonly drawMark: () => number
  /** False if nobody waits for it. */
  readonly work: (pool: string, action: string) => boolean
  /** Something came into this worker's inbox. */
  readonly assigned: (worker: string) => void
  readonly ended: (ids: readonly string[]) => void
  /** Messages may have been missed: all who wait look again. */
  readonly gap: () => void
}

interface KnownPool {
  version: string
  /** The mark at which this version became known. */
  since: number
}

const WATCH_MAX = 1_000

/** A worker's inbox among the pools that somebody waits for. No pool has such a name. */
export const inboxPlace = (worker: string): string => `\n${worker}`

export class WakeSource {
  readonly #partition: Partition
  readonly #channel: string
  readonly #listener: WakeListener
  readonly #pools = new Map<string, KnownPool>()
  /**
   * What the channel is registered with, until a message says that it is not any more: the answer to the call that registers
   * it. A caller that comes while that is under way shares it: false if something changed already.
   */
  readonly #idle = new Map<string, Promise<boolean>>()
  readonly #watched = new Map<string, Promise<boolean>>()
  #endedAt = 0
  #gapAt = 0

  constructor(partition: Partition, channel: string, listener: WakeListener) {
    this.#partition = partition
    this.#channel = channel
    this.#listener = listener
  }

  open(): Promise<void> {
    return this.#partition.link.subscribe(
      this.#partition.key(`wake:${this.#channel}`),
      (message) => this.#heard(message),
      () => this.#gap(),
    )
  }

  /** The version of the inbox is missing while nothing was ever assigned to the worker. */
  saw(pools: readonly PoolName[], worker: WorkerId, versions: readonly string[]): void {
    for (const [index, pool] of pools.entries()) this.#learn(pool, versions[index] ?? '')
    this.#learn(inboxPlace(worker), versions[pools.length] || '0')
  }

  changed(since: number, pools: ReadonlySet<string>, tasks: ReadonlySet<string> | undefined): boolean {
    if (this.#gapAt > since) return true
    if (tasks !== undefined && tasks.size > 0 && this.#endedAt > since) return true
    return [...pools].some((pool) => (this.#pools.get(pool)?.since ?? 0) > since)
  }

  /** False if something changed already. */
  async register(interest: Interest, pools: ReadonlySet<string>, tasks: ReadonlySet<string>): Promise<boolean> {
    const answers = await Promise.all([this.#registerIdle(interest, pools), this.#registerWatch(tasks)])
    return answers.every(Boolean)
  }

  async #registerIdle(interest: Interest, pools: ReadonlySet<string>): Promise<boolean> {
    if (pools.size === 0) return true
    const name = JSON.stringify([[...pools], interest.actions ?? null])
    const shared = this.#idle.get(name)
    if (shared === undefined) {
      const answer = this.#askIdle(name, interest, pools)
      this.#idle.set(name, answer)
      return answer
    }
    // The caller of that call may have known less of the pools.
    return (await shared) && (interest.since === undefined || !this.changed(interest.since, pools, undefined))
  }

  async #askIdle(name: string, interest: Interest, pools: ReadonlySet<string>): Promise<boolean> {
    const actions = interest.actions ?? null
    const known = (pool: string): string =>
      interest.since === undefined ? '' : (this.#pools.get(pool)?.version ?? 'unknown')
    try {
      const [isRegistered, ...versions] = asTexts(
        await this.#partition.run(idleScript, [
          this.#channel,
          ...(actions === null ? ['-1'] : [String(actions.length), ...actions]),
          ...[...pools].flatMap((pool) => [pool, known(pool)]),
        ]),
      )
      if (isRegistered === '') this.#idle.delete(name)
      for (const [index, pool] of [...pools].entries()) this.#learn(pool, versions[index] ?? '')
      return isRegistered !== ''
    } catch (error) {
      this.#idle.delete(name)
      throw error
    }
  }

  async #registerWatch(tasks: ReadonlySet<string>): Promise<boolean> {
    const calls = new Set<Promise<boolean>>()
    const fresh: string[] = []
    for (const id of tasks) {
      const shared = this.#watched.get(id)
      if (shared === undefined) fresh.push(id)
      else calls.add(shared)
    }
    for (let at = 0; at < fresh.length; at += WATCH_MAX) {
      const ids = fresh.slice(at, at + WATCH_MAX)
      const answer = this.#askWatch(ids)
      for (const id of ids) this.#watched.set(id, answer)
      calls.add(answer)
    }
    return (await Promise.all(calls)).every(Boolean)
  }

  async #askWatch(ids: readonly string[]): Promise<boolean> {
    const forget = (): void => {
      for (const id of ids) this.#watched.delete(id)
    }
    try {
      const answer = await this.#partition.run(watchScript, [this.#channel, ...ids])
      if (answer === '') return true
      forget()
      return false
    } catch (error) {
      forget()
      throw error
    }
  }

  #learn(pool: string, version: string): void {
    const known = this.#pools.get(pool)
    if (known?.version === version) return
    this.#pools.set(pool, { version, since: this.#listener.drawMark() })
  }

  #heard(message: string): void {
    const [kind, ...details] = message.split('\n')
    if (kind === 'ended') {
      this.#heardOfEnds(details)
      return
    }
    const [pool = '', action = ''] = details
    this.#idle.clear()
    if (kind === 'inbox') {
      const worker = details.join('\n')
      this.#pools.set(inboxPlace(worker), { version: 'changed', since: this.#listener.drawMark() })
      this.#listener.assigned(worker)
      return
    }
    this.#pools.set(pool, { version: 'changed', since: this.#listener.drawMark() })
    // Nobody here waits for it any more: somebody elsewhere may.
    if (!this.#listener.work(pool, action)) this.#partition.run(passOnScript, [pool, action]).catch(() => undefined)
  }

  #heardOfEnds(ids: readonly string[]): void {
    this.#endedAt = this.#listener.drawMark()
    for (const id of ids) this.#watched.delete(id)
    this.#listener.ended(ids)
  }

  #gap(): void {
    this.#partition.forget()
    this.#gapAt = this.#listener.drawMark()
    this.#idle.clear()
    this.#watched.clear()
    this.#listener.gap()
  }
}
