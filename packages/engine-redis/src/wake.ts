// Waiting for a change. Every opened engine listens on one channel of its own. Before it waits, it registers that channel
// with the pools or tasks it waits for, in the store; a change then wakes as many waiters as it brings work for. A pool
// has a version that counts changes: whoever knows an older one looks again instead of waiting. A wake-up is a hint.

import type { Clock, Interest, Mark, PoolName } from '@reprise/core'
import { asTexts, type Partition } from './partition.ts'
import { idleScript, passOnScript, watchScript } from './scripts.generated.ts'

interface Waiter {
  readonly pools: ReadonlySet<string>
  readonly tasks: ReadonlySet<string>
  readonly wake: () => void
}

interface KnownPool {
  version: string
  /** The mark at which this version became known. */
  since: number
}

const NOTHING: ReadonlySet<string> = new Set()
const WATCH_MAX = 1_000

export class Wake {
  readonly #partition: Partition
  readonly #channel: string
  readonly #clock: Clock
  readonly #waiters = new Set<Waiter>()
  readonly #pools = new Map<string, KnownPool>()
  /** What the channel is registered with, until a message says that it is not any more. */
  readonly #idle = new Set<string>()
  readonly #watched = new Set<string>()
  #endedAt = 0
  #gapAt = 0
  #mark = 0
  #closed = false

  constructor(partition: Partition, channel: string, clock: Clock) {
    this.#partition = partition
    this.#channel = channel
    this.#clock = clock
  }

  /** Starts to listen. */
  open(): Promise<void> {
    return this.#partition.link.subscribe(
      this.#partition.key(`wake:${this.#channel}`),
      (message) => this.#heard(message),
      () => this.#gap(),
    )
  }

  mark(): Mark {
    return this.#mark as Mark
  }

  /** A claim tells the versions of its pools as it found them. */
  saw(pools: readonly PoolName[], versions: readonly string[]): void {
    pools.forEach((pool, index) => this.#learn(pool, versions[index] ?? ''))
  }

  wait(interest: Interest, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const pools = new Set<string>(interest.pools)
    const tasks = interest.tasks === undefined ? NOTHING : new Set<string>(interest.tasks)
    if (interest.since !== undefined && this.#changedSince(interest.since, pools, tasks)) return Promise.resolve()
    return new Promise((resolve) => {
      if (signal?.aborted === true || this.#closed) return resolve()
      const done = (): void => {
        this.#waiters.delete(waiter)
        timer.cancel()
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const waiter: Waiter = { pools, tasks, wake: done }
      const timer = this.#clock.after(timeoutMs, done, { hold: true })
      signal?.addEventListener('abort', done, { once: true })
      this.#waiters.add(waiter)
      // If registering fails, the look that follows will say why.
      this.#register(interest, pools, tasks).then(
        (mayWait) => mayWait || done(),
        () => this.#clock.after(REGISTER_RETRY_MS, done, { hold: true }),
      )
    })
  }

  close(): void {
    this.#closed = true
    for (const waiter of this.#waiters) waiter.wake()
  }

  /** False if something changed already. */
  async #register(interest: Interest, pools: ReadonlySet<string>, tasks: ReadonlySet<string>): Promise<boolean> {
    const answers = await Promise.all([this.#registerIdle(interest, pools), this.#registerWatch(tasks)])
    return answers.every(Boolean)
  }

  async #registerIdle(interest: Interest, pools: ReadonlySet<string>): Promise<boolean> {
    const actions = interest.actions ?? null
    const name = JSON.stringify([[...pools], actions])
    if (pools.size === 0 || this.#idle.has(name)) return true
    const known = (pool: string): string =>
      interest.since === undefined ? '' : (this.#pools.get(pool)?.version ?? 'unknown')
    this.#idle.add(name)
    try {
      const [isRegistered, ...versions] = asTexts(
        await this.#partition.run(idleScript, [
          this.#channel,
          ...(actions === null ? ['-1'] : [String(actions.length), ...actions]),
          ...[...pools].flatMap((pool) => [pool, known(pool)]),
        ]),
      )
      if (isRegistered === '') this.#idle.delete(name)
      ;[...pools].forEach((pool, index) => this.#learn(pool, versions[index] ?? ''))
      return isRegistered !== ''
    } catch (error) {
      this.#idle.delete(name)
      throw error
    }
  }

  async #registerWatch(tasks: ReadonlySet<string>): Promise<boolean> {
    const fresh = [...tasks].filter((id) => !this.#watched.has(id))
    const calls: Promise<boolean>[] = []
    for (let at = 0; at < fresh.length; at += WATCH_MAX) calls.push(this.#watch(fresh.slice(at, at + WATCH_MAX)))
    return (await Promise.all(calls)).every(Boolean)
  }

  async #watch(ids: readonly string[]): Promise<boolean> {
    for (const id of ids) this.#watched.add(id)
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
    this.#pools.set(pool, { version, since: ++this.#mark })
  }

  #changedSince(since: number, pools: ReadonlySet<string>, tasks: ReadonlySet<string>): boolean {
    if (this.#gapAt > since) return true
    if (tasks.size > 0 && this.#endedAt > since) return true
    return [...pools].some((pool) => (this.#pools.get(pool)?.since ?? 0) > since)
  }

  #heard(message: string): void {
    const [kind, ...details] = message.split('\n')
    if (kind === 'ended') return this.#heardOfEnds(details)
    const [pool = '', action = ''] = details
    this.#idle.clear()
    this.#pools.set(pool, { version: 'changed', since: ++this.#mark })
    let isTaken = false
    for (const waiter of this.#waiters) {
      if (!waiter.pools.has(pool)) continue
      isTaken = true
      waiter.wake()
    }
    // Nobody here waits any more: somebody elsewhere may.
    if (!isTaken) this.#partition.run(passOnScript, [pool, action]).catch(() => undefined)
  }

  #heardOfEnds(ids: readonly string[]): void {
    this.#endedAt = ++this.#mark
    for (const id of ids) this.#watched.delete(id)
    for (const waiter of this.#waiters) if (ids.some((id) => waiter.tasks.has(id))) waiter.wake()
  }

  /** Messages may have been missed: all who wait look again. */
  #gap(): void {
    this.#gapAt = ++this.#mark
    this.#idle.clear()
    this.#watched.clear()
    for (const waiter of this.#waiters) waiter.wake()
  }
}

/** After a failure to register, whoever waits looks again this much later. */
const REGISTER_RETRY_MS = 250
