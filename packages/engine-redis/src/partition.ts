// One partition of a store: a key prefix whose keys all live in one slot, the scripts run there, and what can be
// remembered of it because it never changes. Every verb is a function over a partition.

import { type Clock, StoreFailedError, type TaskSettings } from '@reprise/core'
import type { Link, Reply, Script } from './link/link.ts'

export interface LaneName {
  readonly pool: string
  readonly action: string
  readonly tenant: string
}

export class Partition {
  readonly link: Link
  readonly prefix: string
  readonly #numbersKey: string
  readonly #clock: Clock | null
  readonly #profiles = new Map<number, TaskSettings>()
  readonly #lanes = new Map<number, LaneName>()

  /** `clock` is set by tests only: otherwise the server's own time decides. */
  constructor(link: Link, prefix: string, clock: Clock | null) {
    this.link = link
    this.prefix = prefix
    this.#numbersKey = `${prefix}/numbers`
    this.#clock = clock
  }

  taskKey(id: string): string {
    return `${this.prefix}:${id}`
  }

  key(name: string): string {
    return `${this.prefix}/${name}`
  }

  /** The time for a script: empty when the server's clock decides. */
  get timeArgument(): string {
    return this.#clock === null ? '' : String(this.#clock.now())
  }

  /** Runs a script; its first argument is the time. */
  run(script: Script, args: readonly string[]): Promise<Reply> {
    return this.link.run(script, this.#numbersKey, [this.timeArgument, ...args])
  }

  command(...args: readonly string[]): Promise<Reply> {
    return this.link.command(this.#numbersKey, args)
  }

  pipeline(commands: readonly (readonly string[])[]): Promise<readonly Reply[]> {
    return commands.length === 0 ? Promise.resolve([]) : this.link.pipeline(this.#numbersKey, commands)
  }

  /** The store's time. */
  async now(): Promise<number> {
    if (this.#clock !== null) return this.#clock.now()
    const [seconds, micros] = asTexts(await this.command('TIME'))
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)
  }

  /** The settings that tasks refer to by number. They are never changed, so they are asked for once. */
  profile(number: number): TaskSettings {
    const known = this.#profiles.get(number)
    if (known === undefined) throw new StoreFailedError(`The store has no settings number ${number}.`)
    return known
  }

  /** Lanes are never renamed or removed either. */
  lane(number: number): LaneName {
    const known = this.#lanes.get(number)
    if (known === undefined) throw new StoreFailedError(`The store has no lane number ${number}.`)
    return known
  }

  /** Makes sure that `lane()` and `profile()` know what these task texts refer to. */
  async learn(heads: readonly { readonly lane: number; readonly profile: number }[]): Promise<void> {
    const lanes = new Set<number>()
    const profiles = new Set<number>()
    for (const { lane, profile } of heads) {
      if (!this.#lanes.has(lane)) lanes.add(lane)
      if (!this.#profiles.has(profile)) profiles.add(profile)
    }
    if (lanes.size === 0 && profiles.size === 0) return
    const replies = await this.pipeline([
      ...[...lanes].map((lane) => ['HMGET', this.key(`lane:${lane}`), 'pool', 'action', 'tenant']),
      ...[...profiles].map((profile) => ['HGET', this.key('profile'), String(profile)]),
    ])
    let at = 0
    for (const number of lanes) {
      const [pool = '', action = '', tenant = ''] = asTexts(replies[at++] ?? [])
      this.#lanes.set(number, { pool, action, tenant })
    }
    for (const number of profiles) {
      const text = replies[at++]
      if (typeof text === 'string') this.#profiles.set(number, JSON.parse(text) as TaskSettings)
    }
  }

  /** After the store was emptied under us, numbers mean something else. */
  forget(): void {
    this.#lanes.clear()
    this.#profiles.clear()
  }
}

/** A reply that is a list of texts, or of numbers and missing ones as texts. */
export function asTexts(reply: Reply | undefined): string[] {
  if (!Array.isArray(reply)) throw new StoreFailedError('The store answered something unexpected.')
  return reply.map((item) => (item === null ? '' : String(item)))
}

export function asList(reply: Reply | undefined): readonly Reply[] {
  if (!Array.isArray(reply)) throw new StoreFailedError('The store answered something unexpected.')
  return reply
}

/** A name as a script spells a scope: its three parts, empty where it says nothing. */
export function scopeName(scope: {
  readonly pool?: string
  readonly action?: string
  readonly tenant?: string
}): string {
  return `${scope.pool ?? ''}\n${scope.action ?? ''}\n${scope.tenant ?? ''}`
}
