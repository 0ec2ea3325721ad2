// What the numbers in a task's text stand for: its lane, and the settings it was submitted with. Neither is ever changed,
// so they are remembered. A caller that was given names keeps them, also when the partition begins to learn anew.

import { StoreFailedError, type TaskSettings } from '@reprise/core'

export interface LaneName {
  readonly pool: string
  readonly action: string
  readonly tenant: string
}

interface Numbered {
  readonly lane: number
  readonly profile?: number
}

export class Names {
  readonly #lanes = new Map<number, LaneName>()
  readonly #profiles = new Map<number, TaskSettings>()

  lane(number: number): LaneName {
    const known = this.#lanes.get(number)
    if (known === undefined) throw new StoreFailedError(`The store has no lane number ${number}.`)
    return known
  }

  profile(number: number): TaskSettings {
    const known = this.#profiles.get(number)
    if (known === undefined) throw new StoreFailedError(`The store has no settings number ${number}.`)
    return known
  }

  addLane(number: number, name: LaneName): void {
    this.#lanes.set(number, name)
  }

  addProfile(number: number, settings: TaskSettings): void {
    this.#profiles.set(number, settings)
  }

  /** What is not known yet of all that these refer to. */
  missing(heads: readonly Numbered[]): { readonly lanes: readonly number[]; readonly profiles: readonly number[] } {
    const lanes = new Set<number>()
    const profiles = new Set<number>()
    for (const { lane, profile } of heads) {
      if (!this.#lanes.has(lane)) lanes.add(lane)
      if (profile !== undefined && !this.#profiles.has(profile)) profiles.add(profile)
    }
    return { lanes: [...lanes], profiles: [...profiles] }
  }
}
