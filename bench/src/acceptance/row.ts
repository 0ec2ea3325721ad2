// A row of the table: what was wanted, what was measured, and whether that is enough. And how a measurement waits for the store to come
// to a point.

import type { Client } from '@reprise/client'

export interface Row {
  readonly criterion: string
  readonly wanted: string
  readonly measured: string
  /** The same as a number: a share from 0 to 1, or a count. */
  readonly value: number
  readonly isMet: boolean
  readonly note: string
}

export interface Bounds {
  readonly tasks: number
  /** Dead letters that are replayed. */
  readonly deadLetters: number
}

const LOOK_MS = 20
const LONGEST_MS = 120_000

export const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`

/** Looks until there is an answer; throws after two minutes, and says what it saw last. */
export async function until<Seen>(
  what: string,
  look: () => Promise<Seen>,
  isSo: (seen: Seen) => boolean,
): Promise<Seen> {
  const began = performance.now()
  let last: unknown = null
  while (performance.now() - began < LONGEST_MS) {
    try {
      const seen = await look()
      if (isSo(seen)) return seen
      last = seen
    } catch (error) {
      // The store may be away: that is what is measured.
      last = error
    }
    await rest(LOOK_MS)
  }
  throw new Error(
    `This never came: ${what}. The last look: ${last instanceof Error ? last.message : JSON.stringify(last)}`,
  )
}

type Counts = Awaited<ReturnType<Client['counts']>>

export const countsUntil = (
  client: Pick<Client, 'counts'>,
  what: string,
  isSo: (counts: Counts) => boolean,
): Promise<Counts> => until(what, () => client.counts(), isSo)
