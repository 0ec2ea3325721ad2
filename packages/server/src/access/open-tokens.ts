// API tokens without a server, for whoever has the store itself: they may do everything anyway, so what they make can have
// every right. This is how the first token comes about where no browser can open a link.

import { ROLE_NAMES, ROLES, SCOPES, type Scope } from '@reprise/contract'
import {
  type Clock,
  type Duration,
  durationMs,
  type Engine,
  InvalidError,
  type Page,
  type PageRequest,
  systemClock,
  tenantId,
} from '@reprise/core'
import { ApiTokens, type TokenFacts } from './api-tokens.ts'
import type { Principal } from './principal.ts'

export interface StoreTokenRequest {
  readonly name: string
  /** Either scopes or a role. */
  readonly scopes?: readonly string[]
  readonly role?: string
  /** All if missing, or null. */
  readonly tenants?: readonly string[] | null
  /** It never expires if missing. */
  readonly expiresIn?: Duration
}

export interface StoreTokens {
  list(page?: PageRequest): Promise<Page<TokenFacts>>
  /** The token itself is in this answer, and nowhere else ever again. */
  create(request: StoreTokenRequest): Promise<TokenFacts & { readonly token: string }>
  /** `NotFoundError` if there is none. */
  revoke(id: string): Promise<void>
}

export interface OpenTokensOptions {
  readonly engine: Pick<Engine, 'collection' | 'journal'>
  /** Who makes and revokes them, for the journal: `local:ann`. */
  readonly actor: string
  readonly clock?: Clock
}

export function openTokens({ engine, actor, clock = systemClock }: OpenTokensOptions): StoreTokens {
  // Nothing is verified here, so there is no use to note and nothing that could fail beside the calls.
  const tokens = new ApiTokens(engine, clock, () => undefined)
  const owner: Principal = { kind: 'user', actor, name: actor, scopes: new Set(SCOPES), tenants: null }
  return {
    list: (page) => tokens.list(owner, page),
    async create({ name, scopes, role, tenants = null, expiresIn }) {
      const wanted = role === undefined ? (scopes ?? []).map(scopeOf) : scopesOf(role)
      const expiresAt = expiresIn === undefined ? null : clock.now() + durationMs(expiresIn)
      const { token, facts } = await tokens.create(
        {
          name,
          scopes: wanted,
          tenants: tenants === null ? null : tenants.map((tenant) => tenantId(tenant)),
          expiresAt,
        },
        owner,
      )
      return { ...facts, token }
    },
    revoke: (id) => tokens.revoke(id, owner),
  }
}

function scopesOf(name: string): readonly Scope[] {
  const role = ROLE_NAMES.find((one) => one === name)
  if (role === undefined) throw new InvalidError(`There is no role '${name}'. There are ${ROLE_NAMES.join(', ')}.`)
  return ROLES[role]
}

function scopeOf(name: string): Scope {
  const scope = SCOPES.find((one) => one === name)
  if (scope === undefined) throw new InvalidError(`There is no scope '${name}'. There are ${SCOPES.join(', ')}.`)
  return scope
}
