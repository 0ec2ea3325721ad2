// Other stores on the same server, by their prefixes: for those who look for the half of a deployment that went to another
// prefix by mistake. It only reads, and looks at a bounded number of keys.

import { systemClock, systemRandom } from '@reprise/core'
import { DEFAULT_PREFIX } from './engine.ts'
import { openLink } from './link/link.ts'
import { storesBeside } from './store.ts'

const FOUND_MAX = 10

export interface OtherStoresOptions {
  readonly url: string | readonly string[]
  readonly prefix?: string
}

/** Their prefixes, ten at the most. */
export async function otherStores({ url, prefix = DEFAULT_PREFIX }: OtherStoresOptions): Promise<readonly string[]> {
  const link = await openLink({ url, clock: systemClock, random: systemRandom })
  try {
    return await storesBeside(link, prefix, FOUND_MAX)
  } finally {
    await link.close()
  }
}
