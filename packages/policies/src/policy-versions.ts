// Every version of the policies, kept in the store: numbered from 1 without gaps, never changed, never removed. So whatever a
// decision's stamp says can be looked up, and everybody follows the same newest one.

import { createHash } from 'node:crypto'
import {
  type Collection,
  type Engine,
  InvalidError,
  isRepriseError,
  type Page,
  type PageRequest,
  type Stored,
} from '@reprise/core'

export interface PolicyVersion {
  readonly number: number
  /** As it was written. */
  readonly text: string
  /** Of the text: two versions with one hash say the same. */
  readonly hash: string
  /** Who brought it in: a file, or a person. */
  readonly by: string
  /** Why, in the words of the person who did it; missing if nobody said. */
  readonly reason?: string
  readonly at: number
}

type VersionDocument = Omit<PolicyVersion, 'at'> & { readonly id: string }

const TRIES_MAX = 20
/** What fits into one document of a store, with the marks that JSON adds. */
const STORED_BYTES_MAX = 261_000

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

export class PolicyVersions {
  readonly #collection: Collection<VersionDocument>
  readonly #journal: Pick<Engine['journal'], 'append'>

  constructor(engine: Pick<Engine, 'collection' | 'journal'>) {
    this.#collection = engine.collection<VersionDocument>({
      name: 'policies',
      indexes: { hash: (document) => document.hash },
    })
    this.#journal = engine.journal
  }

  async get(number: number): Promise<PolicyVersion | null> {
    const stored = await this.#collection.get(idOf(number))
    return stored === null ? null : versionOf(stored)
  }

  /** The newest; null if there is none. From the one that is known already, it mostly takes one question. */
  async newest(known: PolicyVersion | null = null): Promise<PolicyVersion | null> {
    let newest = known
    let missing = Number.POSITIVE_INFINITY
    // Ever larger steps until there is none, then halves in between.
    for (let step = 1; missing > numberOf(newest) + 1; step *= 2) {
      const at = numberOf(newest)
      const number = missing === Number.POSITIVE_INFINITY ? at + step : Math.floor((at + missing) / 2)
      const found = await this.get(number)
      if (found === null) missing = number
      else newest = found
    }
    return newest
  }

  /** Oldest first. */
  async list(page?: PageRequest): Promise<Page<PolicyVersion>> {
    const { items, next } = await this.#collection.list(page)
    return { items: items.map(versionOf), next }
  }

  /** Whether this text was ever a version. */
  async isKnown(hash: string): Promise<boolean> {
    let cursor: string | null = null
    do {
      const after: PageRequest = cursor === null ? {} : { cursor }
      const page: Page<unknown> = await this.#collection.find({ index: 'hash', value: hash, limit: 1, ...after })
      if (page.items.length > 0) return true
      cursor = page.next
    } while (cursor !== null)
    return false
  }

  /** Makes the text the newest version, unless it is that already. Of several at once each gets a number of its own. */
  async publish(
    text: string,
    by: Pick<PolicyVersion, 'by' | 'reason'>,
    known: PolicyVersion | null = null,
  ): Promise<PolicyVersion> {
    if (Buffer.byteLength(JSON.stringify(text)) > STORED_BYTES_MAX) {
      throw new InvalidError(
        `The policies take more than ${STORED_BYTES_MAX} bytes once they are stored. Shorten them.`,
      )
    }
    const hash = hashOf(text)
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const newest = await this.newest(known)
      if (newest?.hash === hash) return newest
      const number = numberOf(newest) + 1
      try {
        const { createdAt } = await this.#collection.insert({ id: idOf(number), number, text, hash, ...by })
        await this.#note(number, hash, by)
        return { number, text, hash, ...by, at: createdAt }
      } catch (error) {
        if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
      }
    }
    throw new InvalidError(
      `Others published ${TRIES_MAX} versions of the policies meanwhile. Look at the newest and try again.`,
    )
  }

  async #note(number: number, hash: string, by: Pick<PolicyVersion, 'by' | 'reason'>): Promise<void> {
    const said = `Version ${number} of the policies counts from now on`
    const reason = by.reason === undefined ? `${said}.` : `${said}: ${by.reason}`
    const actor = by.by
    await this.#journal.append([
      { type: 'note', taskId: null, attempt: null, actor, reason, data: { policies: number, hash } },
    ])
  }
}

function versionOf({ document, createdAt }: Stored<VersionDocument>): PolicyVersion {
  const { id: _, ...version } = document
  return { ...version, at: createdAt }
}

const numberOf = (version: PolicyVersion | null): number => version?.number ?? 0
const idOf = (number: number): string => `v${number}`
