// Which API token has which name. A name is taken in one step of the store before its token is made, so that two who want it at
// once do not both get it; and it belongs to a token, so that it is free again when there is no such token any more.

import {
  type Clock,
  type Collection,
  checkedName,
  type Engine,
  InvalidError,
  isRepriseError,
  NAME_LENGTH_MAX,
  type Stored,
} from '@reprise/core'
import { digestOf } from './secrets.ts'

interface NameDocument {
  /** The name itself, or its digest. */
  readonly id: string
  readonly tokenId: string
  readonly takenAt: number
}

/** The journal knows tokens by their names: one that looks like another, by letters of another script or by none at all, must not exist. */
const PLAIN_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 ._:@+-]*[A-Za-z0-9])?$/

/** Throws `InvalidError` for a name that could be taken for another one. */
export function checkedTokenName(value: unknown): string {
  const name = checkedName('name of the token', value)
  if (PLAIN_NAME.test(name) && !name.includes('  ')) return name
  throw new InvalidError(
    'The name of a token has plain letters (A to Z), digits, single spaces and the signs . _ - : @ + only, and begins and ends with a letter or a digit.',
  )
}

/** How long somebody who has taken a name may need to make its token. */
const MAKING_MS_MAX = 60_000

export class TokenNames {
  readonly #collection: Collection<NameDocument>
  readonly #clock: Clock
  readonly #isToken: (tokenId: string) => Promise<boolean>

  constructor(
    engine: Pick<Engine, 'collection'>,
    clock: Clock,
    /** Asks the store. */
    isToken: (tokenId: string) => Promise<boolean>,
  ) {
    this.#collection = engine.collection<NameDocument>({ name: 'token-names', indexes: {} })
    this.#clock = clock
    this.#isToken = isToken
  }

  /** False if it belongs to another token, or to one that is being made. */
  async take(name: string, tokenId: string): Promise<boolean> {
    const document: NameDocument = { id: keyOf(name), tokenId, takenAt: this.#clock.now() }
    return !(await isRefused(this.#collection.insert(document))) || (await this.#takeOver(document))
  }

  /** Asked when the token is made: a slow caller may have lost the name meanwhile. */
  async has(name: string, tokenId: string): Promise<boolean> {
    return (await this.#collection.get(keyOf(name)))?.document.tokenId === tokenId
  }

  /** When its token is gone. */
  async release(name: string, tokenId: string): Promise<void> {
    const stored = await this.#collection.get(keyOf(name))
    if (stored?.document.tokenId !== tokenId) return
    await isRefused(this.#collection.remove(keyOf(name), stored.version))
  }

  /** From a token that does not exist: its maker stopped half-way, or it was revoked and the name not released. */
  async #takeOver(document: NameDocument): Promise<boolean> {
    const stored = await this.#collection.get(document.id)
    if (stored === null || !(await this.#isLeft(stored))) return false
    if (await isRefused(this.#collection.update(document, stored.version))) return false
    // Its maker may have made it at the last moment, and have looked before the name changed hands: then it is theirs.
    if (!(await this.#isToken(stored.document.tokenId))) return true
    await isRefused(this.#collection.update(stored.document, stored.version + 1))
    return false
  }

  async #isLeft({ document: { tokenId, takenAt } }: Stored<NameDocument>): Promise<boolean> {
    return this.#clock.now() - takenAt >= MAKING_MS_MAX && !(await this.#isToken(tokenId))
  }
}

/** The name, or its digest where it is too long for the id of a document. */
const keyOf = (name: string): string => (name.length <= NAME_LENGTH_MAX ? name : `sha256:${digestOf(name)}`)

/** Whether somebody else was first. */
async function isRefused(change: Promise<unknown>): Promise<boolean> {
  try {
    await change
    return false
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_CONFLICT') || isRepriseError(error, 'REPRISE_NOT_FOUND')) return true
    throw error
  }
}
