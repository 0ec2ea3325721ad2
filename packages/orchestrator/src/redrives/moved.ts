// The redrives that one process moves, and whose turn it is. Each holder (the callers of one tenant, or those who may see everything)
// has a few places, so that redrives of one tenant that wait for something for ever keep nobody else's from being moved. Where
// more redrives are active than there are places, those that only wait give theirs up after a while, and the one that was moved
// longest ago comes next.

import type { Collection, Logger, Stored } from '@reprise/core'
import { RedriveLost } from './open-chunks.ts'
import { ACTIVE, holderOf, type RedriveDocument, redrivesIn } from './redrive.ts'
import { RedriveRun, type RunOptions } from './run.ts'

/** How many redrives one process moves at once, and how many of them are of callers limited to tenants. */
const PLACES = { all: 40, tenants: 30, perHolder: 5 } as const
/** How many active ones one look goes through; the next look goes on behind them. */
const LOOKED_AT_MAX = 100
/** How long one keeps its place at least. */
const TENURE_MS = 10_000
/** How long one that failed is left alone. */
const SET_ASIDE_MS = 5_000
const REMEMBERED_MAX = 10_000

export interface Moved {
  readonly run: RedriveRun
  readonly holder: string
  readonly since: number
  /** On the monotonic clock. */
  restsUntil: number
  /** Whether its last round had nothing to do. */
  isWaiting: boolean
}

const WHOLE_STORE = holderOf({ tenants: null })

export class MovedRedrives {
  readonly #options: RunOptions
  readonly #log: Pick<Logger, 'info'>
  readonly #redrives: Collection<RedriveDocument>
  readonly #moved = new Map<string, Moved>()
  /** When each was taken last, and until when one that failed is left alone. */
  readonly #takenAt = new Map<string, number>()
  readonly #asideUntil = new Map<string, number>()
  #cursor: string | null = null

  constructor(options: RunOptions, log: Pick<Logger, 'info'>) {
    this.#options = options
    this.#log = log
    this.#redrives = redrivesIn(options.engine)
  }

  /** Takes what nobody moves, as far as there are places. */
  async takeOver(): Promise<void> {
    const { clock } = this.#options
    const now = clock.monotonic()
    const from = this.#cursor === null ? {} : { cursor: this.#cursor }
    const page = await this.#redrives.find({ index: 'active', value: ACTIVE, limit: LOOKED_AT_MAX, ...from })
    this.#cursor = page.next
    const crowded = new Set<string>()
    for (const { document } of this.#inTurn(page.items)) {
      const { id, state } = document
      if (this.#moved.has(id) || (this.#asideUntil.get(id) ?? now) > now) continue
      const holder = holderOf(document)
      if (!this.#hasPlace(holder)) {
        crowded.add(holder)
        continue
      }
      const run = await RedriveRun.take(this.#options, id)
      if (run === null) continue
      this.#takenAt.set(id, now)
      this.#moved.set(id, { run, holder, since: now, restsUntil: now, isWaiting: false })
      this.#log.info('A redrive is moved by this process.', { redrive: id, state })
    }
    if (crowded.size > 0) await this.#makePlaces(crowded, now)
  }

  /** The one that was moved longest ago first. */
  #inTurn(items: readonly Stored<RedriveDocument>[]): readonly Stored<RedriveDocument>[] {
    if (this.#takenAt.size > REMEMBERED_MAX) this.#takenAt.clear()
    if (this.#asideUntil.size > REMEMBERED_MAX) this.#asideUntil.clear()
    const turn = ({ document }: Stored<RedriveDocument>): number => this.#takenAt.get(document.id) ?? -1
    return items.toSorted((one, other) => turn(one) - turn(other))
  }

  #hasPlace(holder: string): boolean {
    if (this.#moved.size >= PLACES.all) return false
    if (holder === WHOLE_STORE) return true
    const limited = [...this.#moved.values()].filter((one) => one.holder !== WHOLE_STORE)
    return limited.length < PLACES.tenants && limited.filter((one) => one.holder === holder).length < PLACES.perHolder
  }

  /** Those that only wait go, if they have had their time: of the crowded holders, or of all where all places are taken. */
  async #makePlaces(crowded: ReadonlySet<string>, now: number): Promise<void> {
    const limited = [...this.#moved.values()].filter(({ holder }) => holder !== WHOLE_STORE).length
    const isFull = this.#moved.size >= PLACES.all || limited >= PLACES.tenants
    for (const one of this.#moved.values()) {
      if (!one.isWaiting || now - one.since < TENURE_MS || !(isFull || crowded.has(one.holder))) continue
      this.drop(one)
      await released(one)
    }
  }

  /** Those that have something to do now. */
  due(): readonly Moved[] {
    const now = this.#options.clock.monotonic()
    return [...this.#moved.values()].filter(({ restsUntil }) => restsUntil <= now)
  }

  rest(one: Moved, restMs: number): void {
    one.restsUntil = this.#options.clock.monotonic() + restMs
    one.isWaiting = restMs > 0
  }

  /** How long until one of them has something to do. */
  restMs(): number {
    const now = this.#options.clock.monotonic()
    return Math.max(0, Math.min(...[...this.#moved.values()].map(({ restsUntil }) => restsUntil - now)))
  }

  drop({ run }: Moved): void {
    this.#moved.delete(run.redrive.id)
  }

  setAside({ run }: Moved): void {
    this.#asideUntil.set(run.redrive.id, this.#options.clock.monotonic() + SET_ASIDE_MS)
  }

  /** Others may go on with all of them. */
  async release(): Promise<void> {
    for (const one of this.#moved.values()) await released(one)
  }
}

async function released({ run }: Moved): Promise<void> {
  try {
    await run.release()
  } catch (error) {
    if (!(error instanceof RedriveLost)) throw error
  }
}
