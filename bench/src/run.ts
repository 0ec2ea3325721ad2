// What the scenarios of a run share: its stores, its figures, and the order of contestants. They take turns within a
// round and start in another order in each, so that what else goes on in the machine hits all of them alike.

import type { BenchArguments, EngineName, Mode } from './arguments.ts'
import { Figures, type Side } from './figures.ts'
import { PEER_NAMES } from './peers.ts'
import type { Plan } from './plan.ts'
import type { Store } from './store.ts'
import type { Stores } from './stores.ts'

export interface RunOptions extends Pick<BenchArguments, 'engine' | 'mode' | 'scenarios'> {
  readonly plan: Plan
  readonly stores: Stores
  /** The peer is there. */
  readonly withPeer: boolean
  readonly tell: (line: string) => void
}

/** Measures a side on a store that is empty, and says in a few words what was found. */
type MeasureSide<S extends Side> = (side: S, store: Store) => Promise<string>

export class Run {
  readonly engine: EngineName
  readonly plan: Plan
  readonly mainMode: Mode
  readonly figures: Figures = new Figures()
  readonly #options: RunOptions
  #peerFailed = false

  constructor(options: RunOptions) {
    this.engine = options.engine
    this.plan = options.plan
    this.mainMode = options.mode ?? 'fast'
    this.#options = options
  }

  /** Measures each side once in every round. A peer that fails is left out of the run; another's failure ends it. */
  async inTurns<S extends Side>(what: string, mode: Mode, sides: readonly S[], measure: MeasureSide<S>): Promise<void> {
    const { rounds } = this.plan
    for (let round = 0; round < rounds; round++) {
      for (const side of this.#order(sides, round)) {
        const name = side === 'ours' ? 'reprise' : side === 'peer' ? PEER_NAMES[this.engine] : side
        const line = `${what}, ${mode}${rounds > 1 ? `, round ${round + 1} of ${rounds}` : ''}, ${name}`
        try {
          await this.#options.stores.withStore(mode, async (store) =>
            this.tell(`${line}: ${await measure(side, store)}`),
          )
        } catch (error) {
          if (side !== 'peer') throw error
          this.#peerFailed = true
          this.tell(`${line}: left out, it could not be measured. ${error instanceof Error ? error.message : error}`)
        }
      }
    }
  }

  /** What takes long is measured once, of ours alone. */
  async onceFor(what: string, mode: Mode, measure: (store: Store) => Promise<string>): Promise<void> {
    await this.#options.stores.withStore(mode, async (store) => this.tell(`${what}, ${mode}: ${await measure(store)}`))
  }

  tell(line: string): void {
    this.#options.tell(line)
  }

  #order<S extends Side>(sides: readonly S[], round: number): readonly S[] {
    const present = sides.filter((side) => side !== 'peer' || (this.#options.withPeer && !this.#peerFailed))
    const first = round % Math.max(present.length, 1)
    return [...present.slice(first), ...present.slice(0, first)]
  }
}

export function perS(rate: number): string {
  return `${Math.round(rate).toLocaleString('en')} per s`
}
