// Collects what was measured, round by round, and answers with medians.

import { median } from './statistics.ts'

/** Who is measured, and whose figure it is: Reprise, the engine's peer, or the limit of its store. */
export type Side = 'ours' | 'peer' | 'limit'

export class Figures {
  readonly #samples = new Map<Side, Map<string, number[]>>()

  add(side: Side, name: string, sample: number): void {
    const ofSide = this.#samples.get(side) ?? new Map<string, number[]>()
    this.#samples.set(side, ofSide)
    const samples = ofSide.get(name) ?? []
    ofSide.set(name, samples)
    samples.push(sample)
  }

  /** The median of the rounds; null if it was not measured. */
  get(side: Side, name: string): number | null {
    const samples = this.#samples.get(side)?.get(name)
    return samples === undefined ? null : median(samples)
  }

  /** All figures of a side, by name. Empty if it was not measured at all. */
  allOf(side: Side): Map<string, number> {
    const medians = new Map<string, number>()
    for (const [name, samples] of this.#samples.get(side) ?? []) medians.set(name, median(samples))
    return medians
  }

  /** The lowest and the highest of the rounds: how far to trust the median. */
  range(side: Side, name: string): readonly [low: number, high: number] | null {
    const samples = this.#samples.get(side)?.get(name)
    return samples === undefined ? null : [Math.min(...samples), Math.max(...samples)]
  }
}
