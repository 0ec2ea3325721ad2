// API tokens: `rpr_<id>_<secret>`, for programs and for workers. The store has the digest of the secret, so a token can be shown
// only once, when it is made. A server asks the store again after a second at the latest: that long, at most, a revoked
// token goes on to work.

import {
  type Clock,
  type Collection,
  ConflictError,
  type Engine,
  InvalidError,
  isRepriseError,
  NotFoundError,
  type Page,
  type PageRequest,
  RequestError,
  type Stored,
  type TenantId,
  turnsOf,
} from '@reprise/core'
import { visiblePage } from '../visible-page.ts'
import { behind, type Caller } from './caller.ts'
import { grantableScopes, mayTouchAll } from './granting.ts'
import { Recent } from './recent.ts'
import { SCOPES, type Scope } from './scopes.ts'
import { Seals } from './seals.ts'
import { digestOf, isSameDigest, newId } from './secrets.ts'
import { checkedTokenName, TokenNames } from './token-names.ts'

export interface TokenFacts {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Null for all. */
  readonly tenants: readonly TenantId[] | null
  readonly createdBy: string
  readonly createdAt: number
  /** Null for never. */
  readonly expiresAt: number | null
  /** To the minute; null if it was not used yet. */
  readonly lastUsedAt: number | null
}

export interface NewToken {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Its maker's if missing; null for all. */
  readonly tenants?: readonly TenantId[] | null
  readonly expiresAt?: number | null
}

interface TokenDocument extends TokenFacts {
  readonly digest: string
  /** How the journal names it; missing in those that were made before names were told apart by tenant. */
  readonly actor?: string
  /** Who made it, if they are limited to tenants: the first of a chain of tokens that made tokens. */
  readonly limitedMaker?: string
  /** Who is behind it; missing in those that were made before this was written down: then it is who made it. */
  readonly person?: string
}

export const TOKEN_PREFIX = 'rpr_'
const TOKEN = /^rpr_([0-9a-f]{16})_([0-9a-f]{64})$/
const NO_DIGEST = digestOf('')

/** How long an answer of the store counts: the time within which a revocation takes effect everywhere. */
const ANSWER_MS = 1_000
const ANSWERS_MAX = 10_000
const NOTE_EVERY_MS = 60_000
/** Made by one caller, and by all tokens that it made. */
const TOKENS_PER_MAKER_MAX = 1_000
const COUNTED_AT_ONCE = 100

export class ApiTokens {
  readonly #collection: Collection<TokenDocument>
  readonly #names: TokenNames
  readonly #seals: Seals
  readonly #journal: Pick<Engine['journal'], 'append'>
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  readonly #answers: Recent<Promise<Stored<TokenDocument> | null>>
  readonly #notes = new Map<string, { readonly at: number; readonly written: Promise<void> }>()

  readonly #maxPerMaker: number

  constructor(
    engine: Pick<Engine, 'collection' | 'journal' | 'now'>,
    clock: Clock,
    onError: (error: unknown) => void,
    maxPerMaker = TOKENS_PER_MAKER_MAX,
  ) {
    this.#maxPerMaker = maxPerMaker
    this.#collection = engine.collection<TokenDocument>({
      name: 'tokens',
      indexes: {
        maker: ({ limitedMaker, createdBy }) => limitedMaker ?? createdBy,
        name: (token) => wholeNameOf(token),
      },
    })
    this.#names = new TokenNames(engine, clock, async (id) => (await this.#collection.get(id)) !== null)
    this.#seals = new Seals(engine, clock, 'api-token')
    this.#journal = engine.journal
    this.#clock = clock
    this.#onError = onError
    this.#answers = new Recent({ clock, keepMs: ANSWER_MS, maxEntries: ANSWERS_MAX })
  }

  /** Reads the keys of the seals, so that `isSealed` can tell. */
  async open(): Promise<void> {
    await this.#seals.open()
  }

  /** Whether we made this token, revoked or not. The store is not asked. */
  isSealed(token: string): boolean {
    const [, id = '', secret = ''] = TOKEN.exec(token) ?? []
    return this.#seals.isSealed(secret, id)
  }

  /** Throws 401 unless it is a token that counts. */
  async verify(token: string): Promise<Caller> {
    const [, id = '', secret = ''] = TOKEN.exec(token) ?? []
    const stored = id === '' ? null : await this.#look(id)
    // Also compared when there is none, so that the time tells nothing.
    const isRight = isSameDigest(digestOf(secret), stored?.document.digest ?? NO_DIGEST)
    if (stored === null || !isRight) throw refused('There is no such token, or it was revoked.')
    const { name, scopes, tenants, expiresAt, limitedMaker, createdBy, person = createdBy } = stored.document
    const actor = actorOf(stored.document)
    if (expiresAt !== null && this.#clock.now() >= expiresAt) throw refused('It has expired. Have a new one made.')
    this.#noteUse(stored)
    const known = {
      kind: 'token',
      id: `token:${id}`,
      actor,
      name,
      scopes: new Set(scopes),
      tenants,
      expiresAt,
      person,
    } as const
    return limitedMaker === undefined ? known : { ...known, madeBy: limitedMaker }
  }

  /** The token itself is in this answer, and nowhere else ever again. */
  async create(request: NewToken, maker: Caller): Promise<{ readonly token: string; readonly facts: TokenFacts }> {
    const facts = await this.#checkedFacts(request, maker)
    const { id, name } = facts
    const whole = wholeName(facts)
    const secret = await this.#seals.newSecret(id)
    if (!(await this.#names.take(whole, id))) throw taken(name)
    const { document } = await this.#collection.insert({
      ...facts,
      actor: `${ACTOR_PREFIX}${whole}`,
      digest: digestOf(secret),
      person: behind(maker),
      ...(maker.tenants === null ? {} : { limitedMaker: firstMaker(maker) }),
    })
    if (!(await this.#names.has(whole, id))) {
      // This took so long that the name was given away. Nobody has seen the token yet.
      await this.#collection.remove(id)
      throw taken(name)
    }
    await this.#note(maker, 'made', facts)
    return { token: `${TOKEN_PREFIX}${facts.id}_${secret}`, facts: factsOf(document) }
  }

  /** Those that the viewer could have made, as far as tenants go. */
  async list(viewer: Caller, page?: PageRequest): Promise<Page<TokenFacts>> {
    const read = (some: PageRequest): Promise<Page<Stored<TokenDocument>>> => this.#collection.list(some)
    const isOwn = ({ document }: Stored<TokenDocument>): boolean => mayTouchAll(viewer, document.tenants)
    const { items, next } = await visiblePage(page ?? {}, read, isOwn, turnsOf(this.#clock))
    return { items: items.map(({ document }) => factsOf(document)), next }
  }

  /** Throws `NotFoundError` also for a token of tenants that are not the revoker's. */
  async revoke(id: string, revoker: Caller): Promise<void> {
    const stored = await this.#collection.get(id)
    if (stored === null || !mayTouchAll(revoker, stored.document.tenants)) throw new NotFoundError('API token', id)
    await this.#collection.remove(id)
    this.#answers.delete(id)
    await this.#names.release(wholeNameOf(stored.document), id)
    await this.#note(revoker, 'revoked', stored.document)
  }

  /** Resolves when what was noted about uses is written. */
  async close(): Promise<void> {
    await Promise.all([...this.#notes.values()].map(({ written }) => written))
  }

  /** What the store says, or said within the last second. Those who ask at once share one question. */
  async #look(id: string): Promise<Stored<TokenDocument> | null> {
    const known = this.#answers.get(id)
    if (known !== undefined) return known
    const answer = this.#collection.get(id)
    this.#answers.set(id, answer)
    try {
      return await answer
    } catch (error) {
      this.#answers.delete(id)
      throw error
    }
  }

  async #checkedFacts({ name, scopes, tenants, expiresAt: asked }: NewToken, maker: Caller): Promise<TokenFacts> {
    const wanted = SCOPES.filter((scope) => scopes.includes(scope))
    if (wanted.length === 0 || wanted.length < new Set(scopes).size) {
      throw new InvalidError(`A token needs at least one scope, of ${SCOPES.join(', ')}.`)
    }
    const grantable = grantableScopes(maker)
    const tooMuch = wanted.filter((scope) => !grantable.has(scope))
    if (tooMuch.length > 0) {
      throw forbidden(`You can not give away the scope ${tooMuch.join(', ')}, because you don't have it yourself.`)
    }
    const given = tenants === undefined ? maker.tenants : tenants
    if (given?.length === 0) throw new InvalidError('A token needs at least one tenant, or null for all.')
    if (!mayTouchAll(maker, given)) throw forbidden('You can only give away tenants that you may touch yourself.')
    const now = this.#clock.now()
    const expiresAt = asked ?? maker.expiresAt ?? null
    if (maker.expiresAt != null && expiresAt !== null && expiresAt > maker.expiresAt) {
      throw forbidden(
        'A token can not outlive the one that makes it. Give it an earlier end, or none to end with yours.',
      )
    }
    if (expiresAt !== null && expiresAt <= now) throw new InvalidError('The token would have expired already.')
    const checked = checkedTokenName(name)
    await this.#refuseTaken({ name: checked, tenants: given }, maker)
    return {
      id: newId(),
      name: checked,
      scopes: wanted,
      tenants: given,
      createdBy: maker.actor,
      createdAt: now,
      expiresAt,
      lastUsedAt: null,
    }
  }

  /** The journal knows tokens by their names: two of one name could be taken for each other. */
  async #refuseTaken(wanted: Pick<TokenFacts, 'name' | 'tenants'>, maker: Caller): Promise<void> {
    const named = await this.#collection.find({ index: 'name', value: wholeName(wanted), limit: 1 })
    if (named.items.length > 0) throw taken(wanted.name)
    if (await this.#hasMadeMost(firstMaker(maker))) {
      throw new ConflictError(
        `You, and tokens that you made, have made ${this.#maxPerMaker} tokens already. Revoke those that are not in use.`,
      )
    }
  }

  /** In small pages, and in turns: many who ask at once must not hold the loop. */
  async #hasMadeMost(value: string): Promise<boolean> {
    const turns = turnsOf(this.#clock)
    let made = 0
    let cursor: string | undefined
    do {
      if (turns.isSpent) await turns.wait()
      const place = cursor === undefined ? {} : { cursor }
      const page = await this.#collection.find({ index: 'maker', value, limit: COUNTED_AT_ONCE, ...place })
      made += page.items.length
      cursor = page.next ?? undefined
    } while (cursor !== undefined && made < this.#maxPerMaker)
    return made >= this.#maxPerMaker
  }

  /** Beside the request: it neither waits for this nor fails with it. */
  #noteUse({ document, version }: Stored<TokenDocument>): void {
    const now = this.#clock.now()
    const lastAt = Math.max(document.lastUsedAt ?? 0, this.#notes.get(document.id)?.at ?? 0)
    if (now - lastAt < NOTE_EVERY_MS) return
    const written = this.#writeUse({ ...document, lastUsedAt: now }, version)
    this.#notes.delete(document.id)
    this.#notes.set(document.id, { at: now, written })
    const [oldest] = this.#notes.keys()
    if (this.#notes.size > ANSWERS_MAX && oldest !== undefined) this.#notes.delete(oldest)
  }

  async #writeUse(document: TokenDocument, version: number): Promise<void> {
    try {
      await this.#collection.update(document, version)
    } catch (error) {
      // Another server noted it first, or the token was revoked.
      if (isRepriseError(error, 'REPRISE_CONFLICT') || isRepriseError(error, 'REPRISE_NOT_FOUND')) return
      this.#onError(error)
    }
  }

  /** Its id is not under the name `token`, behind which secrets stand: it would be redacted. */
  async #note({ actor }: Caller, what: string, { id, name, scopes, tenants }: TokenFacts): Promise<void> {
    const data = { id, scopes: scopes.join(' '), tenants: tenants?.join(' ') ?? null }
    const reason = `The API token '${name}' was ${what}.`
    await this.#journal.append([{ type: 'note', taskId: null, attempt: null, actor, reason, data }])
  }
}

function factsOf(document: TokenDocument): TokenFacts {
  const { id, name, scopes, tenants, createdBy, createdAt, expiresAt, lastUsedAt } = document
  return { id, name, scopes, tenants, createdBy, createdAt, expiresAt, lastUsedAt }
}

/** Tokens that a limited caller made make tokens in its name: else each would have a bound of its own, without end. */
const firstMaker = ({ madeBy, actor }: Caller): string => madeBy ?? actor

const ACTOR_PREFIX = 'token:'
const TENANTS_LENGTH_MAX = 60
const TENANTS_DIGEST_LENGTH = 16

/**
 * What its name is unique by, and what the journal calls it. A token for some tenants has them before its name: so those who may
 * see these tenants only learn nothing of the names that others chose, and can not be taken for them.
 */
function wholeName({ name, tenants }: Pick<TokenFacts, 'name' | 'tenants'>): string {
  if (tenants === null) return name
  const joined = [...new Set(tenants)].sort().join('+')
  const short = joined.length <= TENANTS_LENGTH_MAX ? joined : digestOf(joined).slice(0, TENANTS_DIGEST_LENGTH)
  return `${short}/${name}`
}

const actorOf = ({ actor, name }: TokenDocument): string => actor ?? `${ACTOR_PREFIX}${name}`

const wholeNameOf = (token: TokenDocument): string => actorOf(token).slice(ACTOR_PREFIX.length)

/** Only a token that its maker may see can have it. */
const taken = (name: string): ConflictError =>
  new ConflictError(`There is a token '${name}' already. Choose another name.`)

const refused = (why: string): RequestError =>
  new RequestError('REPRISE_UNAUTHENTICATED', `The API token was refused. ${why}`)

const forbidden = (message: string): RequestError => new RequestError('REPRISE_FORBIDDEN', message)
