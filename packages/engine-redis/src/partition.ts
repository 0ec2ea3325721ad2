// One partition of a store: a key prefix whose keys all live in one slot, the scripts run there, and what can be
// remembered of it because it never changes. Every verb is a function over a partition.

import { randomUUID } from 'node:crypto'
import {
  type Clock,
  DEFAULT_HEALTH_THRESHOLDS,
  type HealthThresholds,
  StoreFailedError,
  systemClock,
  type TaskSettings,
} from '@reprise/core'
import { parseSettings } from '@reprise/core/engine'
import type { Link, Reply, Script } from './link/link.ts'
import { Names } from './names.ts'
import { idleScript, renewScript } from './scripts.generated.ts'
import { type DrawRequestId, UnheardClaims } from './unheard-claims.ts'
import { Witness } from './witness.ts'

const LEARNED_MS_MAX = 60_000

/** Which of how many partitions it is, counted from 0. */
export interface Position {
  readonly place: number
  readonly places: number
}

export const ALONE: Position = { place: 0, places: 1 }

export interface PartitionSettings {
  readonly position?: Position
  readonly drawRequestId?: DrawRequestId
  readonly thresholds?: HealthThresholds
}

/** Of one opened engine: none is drawn twice. */
export function requestIds(): DrawRequestId {
  const session = randomUUID().slice(0, 13)
  let requests = 0
  return () => `${session}.${++requests}`
}

export class Partition {
  readonly link: Link
  readonly prefix: string
  readonly position: Position
  readonly drawRequestId: DrawRequestId
  readonly thresholds: HealthThresholds
  /** As scripts take them. */
  readonly thresholdsText: string
  readonly unheardClaims = new UnheardClaims()
  readonly witness = new Witness()
  readonly #numbersKey: string
  readonly #clock: Clock | null
  #names = new Names()
  #learnedAt = systemClock.monotonic()

  /** `clock` is set by tests only: otherwise the server's own time decides. */
  constructor(link: Link, prefix: string, clock: Clock | null, settings: PartitionSettings = {}) {
    this.link = link
    this.prefix = prefix
    this.position = settings.position ?? ALONE
    this.drawRequestId = settings.drawRequestId ?? requestIds()
    this.thresholds = settings.thresholds ?? DEFAULT_HEALTH_THRESHOLDS
    this.thresholdsText = JSON.stringify(this.thresholds)
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

  /** Runs a script that would not say the same twice: its second argument names this call, so that a repetition is known. */
  once(script: Script, args: readonly string[]): Promise<Reply> {
    return this.run(script, [this.drawRequestId(), ...args])
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

  /** Lets its server learn our functions, so that calls which follow one another are not held up by it one by one. */
  async open(): Promise<void> {
    await Promise.all([this.run(renewScript, ['1']), this.run(idleScript, ['', '-1'])])
  }

  /** What these task texts refer to by number. */
  async learn(heads: readonly { readonly lane: number; readonly profile?: number }[]): Promise<Names> {
    if (systemClock.monotonic() - this.#learnedAt > LEARNED_MS_MAX) this.forget()
    const names = this.#names
    const { lanes, profiles } = names.missing(heads)
    if (lanes.length === 0 && profiles.length === 0) return names
    const replies = await this.pipeline([
      ...lanes.map((lane) => ['HMGET', this.key(`lane:${lane}`), 'pool', 'action', 'tenant']),
      ...profiles.map((profile) => ['HGET', this.key('profile'), String(profile)]),
    ])
    for (const [index, number] of lanes.entries()) {
      const [pool = '', action = '', tenant = ''] = asTexts(replies[index])
      names.addLane(number, { pool, action, tenant })
    }
    for (const [index, number] of profiles.entries()) {
      const text = replies[lanes.length + index]
      if (typeof text === 'string') names.addProfile(number, parseSettings<TaskSettings>(text))
    }
    return names
  }

  /**
   * In a store that was emptied, restored or failed over to a replica that lagged behind, numbers may mean something else.
   * So they are asked for again after each gap in our connection, whenever a worker is not known any more, and now and then.
   */
  forget(): void {
    this.#learnedAt = systemClock.monotonic()
    this.#names = new Names()
  }
}

/** A reply that is a list of texts, or of numbers and missing ones as texts. */
export function asTexts(reply: Reply | undefined): string[] {
  return asList(reply).map((item) => (item === null ? '' : String(item)))
}

export function asList(reply: Reply | undefined): readonly Reply[] {
  if (isList(reply)) return reply
  throw new StoreFailedError('The store answered something unexpected.')
}

const isList = (reply: Reply | undefined): reply is readonly Reply[] => Array.isArray(reply)

/** A name as a script spells a scope: its three parts, empty where it says nothing. */
export function scopeName(scope: {
  readonly pool?: string
  readonly action?: string
  readonly tenant?: string
}): string {
  return `${scope.pool ?? ''}\n${scope.action ?? ''}\n${scope.tenant ?? ''}`
}
