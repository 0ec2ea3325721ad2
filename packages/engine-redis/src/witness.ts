// What this process saw of a partition's sequence, held against what is there: the numbers only go up, unless the server lost
// writes that it had acknowledged. Answers of claims and submissions bring the last number along, and the beginning that the
// number belongs to: each start of a server, each failover and each emptying is one, with the number it began with (see
// lua/include/base.lua). So a loss is noticed however fast the numbers have come back: a number above that of a later beginning
// was seen, and is lost. A server that starts again and has lost nothing begins with the last number, and nobody is alarmed.

import type { Setback } from '@reprise/core'
import type { Reply } from './link/link.ts'
import type { Partition } from './partition.ts'

interface Sight {
  readonly sequence: number
  /** By the store's clock. */
  readonly at: number
  /** Empty where the server keeps no history. */
  readonly beginning: string
}

/** Of different beginnings, between two looks. */
const SIGHTS_MAX = 8
const SETBACKS_MAX = 20

export class Witness {
  /** One for each beginning, the latest last. */
  #sights: Sight[] = []
  #history: readonly string[] = []
  readonly #setbacks: Setback[] = []

  /** What an answer told: the last number drawn, and its beginning. */
  saw(sequence: number, at: number, beginning: string): void {
    const last = this.#sights.at(-1)
    if (last?.beginning === beginning && last.sequence >= sequence) return
    if (last?.beginning === beginning) this.#sights.pop()
    else if (this.#sights.length >= SIGHTS_MAX) this.#sights.shift()
    this.#sights.push({ sequence, at, beginning })
  }

  /** Everything that was noticed so far. */
  async look(partition: Partition): Promise<readonly Setback[]> {
    const sights = this.#sights
    // What comes in from here on is judged by the next look: this one may be answered before it.
    this.#sights = []
    try {
      const [[sequence, text], now] = await Promise.all([numbersOf(partition), partition.now()])
      const history = text.split(' ').filter((beginning) => beginning !== '')
      const later = this.#sights
      this.#sights = [{ sequence, at: now, beginning: history.at(-1) ?? '' }]
      for (const sight of later) this.saw(sight.sequence, sight.at, sight.beginning)
      for (const sight of sights) {
        const setback = this.#judge(sight, history, { found: sequence, foundAt: now })
        if (setback !== null) this.#add({ part: partition.position.place, ...setback })
      }
      this.#history = history
    } catch (error) {
      this.#sights = [...sights, ...this.#sights].slice(-SIGHTS_MAX)
      throw error
    }
    return [...this.#setbacks]
  }

  #judge({ sequence, at, beginning }: Sight, history: readonly string[], now: Found): Omit<Setback, 'part'> | null {
    const place = history.indexOf(beginning)
    // A beginning that is gone was lost with the rest, or is too long ago.
    const later = place === -1 ? history.filter((one) => !this.#history.includes(one)) : history.slice(place + 1)
    const lowest = [...later.map(parseBeginning), now].reduce((low, one) => (one.found < low.found ? one : low))
    return sequence > lowest.found ? { seen: sequence, seenAt: at, ...lowest } : null
  }

  #add(setback: Setback): void {
    if (this.#setbacks.length < SETBACKS_MAX) this.#setbacks.push(setback)
  }
}

type Found = Pick<Setback, 'found' | 'foundAt'>

function parseBeginning(text: string): Found {
  const [, found = '0', foundAt = '0'] = text.split(':')
  return { found: Number(found), foundAt: Number(foundAt) }
}

async function numbersOf(partition: Partition): Promise<readonly [sequence: number, history: string]> {
  const reply = await partition.command('HMGET', partition.key('numbers'), 'sequence', 'history')
  const [sequence, history] = Array.isArray(reply) ? (reply as readonly Reply[]) : []
  return [Number(sequence ?? 0), String(history ?? '')]
}
