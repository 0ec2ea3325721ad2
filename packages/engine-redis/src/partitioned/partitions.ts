// The partitions of a store, and which of them a task lives in. The first is the home: what belongs to no task stands
// there. Everything of a task lives in one partition, so every step of its life stays one atomic step.

import { crc32 } from 'node:zlib'
import type { JournalEntryInput, LeaseToken } from '@reprise/core'
import { journalOf } from '../journal.ts'
import type { Partition } from '../partition.ts'

/** The things that belong to one partition, with their places in the list they come from. */
export interface Part<Item> {
  readonly place: number
  readonly partition: Partition
  readonly items: Item[]
  readonly positions: number[]
}

export class Partitions {
  readonly all: readonly Partition[]
  readonly home: Partition

  constructor(home: Partition, others: readonly Partition[]) {
    this.all = [home, ...others]
    this.home = home
  }

  get size(): number {
    return this.all.length
  }

  /** Must never change: stores are laid out by it. CRC-32 of the text in UTF-8. */
  placeOf(text: string): number {
    return crc32(text) % this.all.length
  }

  at(place: number): Partition {
    return this.all[place] ?? this.home
  }

  of(id: string): Partition {
    return this.at(this.placeOf(id))
  }

  /** By place; partitions that have nothing are left out. */
  split<Item>(items: readonly Item[], nameOf: (item: Item) => string): readonly Part<Item>[] {
    const shares = new Map<number, Part<Item>>()
    items.forEach((item, position) => {
      const place = this.placeOf(nameOf(item))
      let share = shares.get(place)
      if (share === undefined) {
        share = { place, partition: this.at(place), items: [], positions: [] }
        shares.set(place, share)
      }
      share.items.push(item)
      share.positions.push(position)
    })
    return [...shares.values()]
  }

  /** Asks the partitions for their shares at the same time, and puts the answers in the order of the items. */
  async inOrder<Item, Answer>(
    items: readonly Item[],
    nameOf: (item: Item) => string,
    ask: (share: Part<Item>) => Promise<readonly Answer[]>,
  ): Promise<Answer[]> {
    const answers: Answer[] = []
    await Promise.all(
      this.split(items, nameOf).map(async (share) => {
        const own = await ask(share)
        share.positions.forEach((position, index) => {
          const answer = own[index]
          if (answer !== undefined) answers[position] = answer
        })
      }),
    )
    return answers
  }

  /** Asks all partitions at the same time. */
  each<Answer>(ask: (partition: Partition, place: number) => Promise<Answer>): Promise<Answer[]> {
    return Promise.all(this.all.map(ask))
  }
}

/**
 * Lifts something in every partition, in the home last: its journal tells of it. False if it was nowhere. What was put on and
 * lifted at the same time may have been left in the others alone: then the entry is written by itself.
 */
export async function liftEverywhere(
  { home, all }: Partitions,
  lift: (partition: Partition, isTold: boolean) => Promise<boolean>,
  entry: JournalEntryInput,
): Promise<boolean> {
  const lifted = await Promise.all(all.slice(1).map((partition) => lift(partition, false)))
  if (await lift(home, true)) return true
  if (!lifted.includes(true)) return false
  await journalOf(home).append([entry])
  return true
}

/**
 * A token as callers see it. Each partition draws its own; with its place before it, none is used twice in the store.
 */
export const outwardToken = (place: number, token: LeaseToken): LeaseToken => `${place}:${token}` as LeaseToken

/** As its partition knows it; one that was not given out there is nobody's. */
export function inwardToken(place: number, token: LeaseToken): LeaseToken {
  const start = `${place}:`
  return (token.startsWith(start) ? token.slice(start.length) : '') as LeaseToken
}
