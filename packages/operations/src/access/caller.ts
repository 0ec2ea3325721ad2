// Who asks, and what they may do: the one thing that every way of signing in comes to. A process that has the store itself is
// a caller too, a local one, who may do everything.

import { type By, NotFoundError, RequestError, type TenantId } from '@reprise/core'
import { type Access, SCOPES, type Scope } from './scopes.ts'

export interface Caller {
  readonly kind: 'user' | 'token' | 'dev' | 'local'
  /** As the journal names them: `google:ann@example.com#1f2e3d4c`, `token:deploys`, `dev:ann`, `cli:ann`. */
  readonly actor: string
  /**
   * What is theirs is kept under it: for a person issuer and subject, for a token its id. A name or an address that is given
   * to somebody else later is another one's. The actor if missing.
   */
  readonly id?: string
  /** When their credential ends; null or missing for never. Nothing that they make may outlive it. */
  readonly expiresAt?: number | null
  /** For people to read. */
  readonly name: string
  readonly scopes: ReadonlySet<Scope>
  /** The only tenants whose tasks they may see or touch; null for all. */
  readonly tenants: readonly TenantId[] | null
  /** Of a token: who made it, if they are limited to tenants themselves. To limits, all their tokens are one caller. */
  readonly madeBy?: string
  /** Of a token: who is behind it, at the beginning of the chain of those who made it. The actor if missing. */
  readonly person?: string
}

/** Where one has to agree with what another does, a person and the tokens that they made count as one. */
export const behind = ({ person, actor }: Caller): string => person ?? actor

/** What things that belong to a caller are kept under. */
export const ownerOf = ({ id, actor }: Caller): string => id ?? actor

/** Has the store itself: there is nobody to ask. */
export const localCaller = (actor: string): Caller => ({
  kind: 'local',
  actor,
  name: actor,
  scopes: new Set(SCOPES),
  tenants: null,
})

/** Who did it and why, for the journal: who is what the credentials say, never what the request says. */
export const byOf = ({ actor, kind, tenants }: Caller, reason: string | undefined): By => ({
  actor,
  rank: tenants === null ? 'platform' : 'tenant',
  reason: reason ?? (kind === 'local' ? 'asked for by the client' : 'asked for over HTTP'),
})

/** Throws 401 or 403 unless the caller may do what an operation or a route asks for. */
export function authorise(caller: Caller | null, access: Access, name: string): void {
  if (access === 'public') return
  if (caller === null) {
    throw new RequestError(
      'REPRISE_UNAUTHENTICATED',
      'Say who you are: send an API token or an ID token as a bearer token, or sign in.',
    )
  }
  if (access === 'known' || caller.scopes.has(access)) return
  throw new RequestError(
    'REPRISE_FORBIDDEN',
    `${name} needs the scope '${access}', which ${caller.actor} does not have. Ask an administrator for it.`,
  )
}

export const mayTouch = ({ tenants }: Pick<Caller, 'tenants'>, tenant: TenantId): boolean =>
  tenants === null || tenants.includes(tenant)

/** The tenant that a question is about: the one asked for, or the only one that the caller has. */
export function tenantScope(caller: Caller, asked: TenantId | undefined): { readonly tenant?: TenantId } {
  const { tenants } = caller
  if (asked !== undefined) {
    if (mayTouch(caller, asked)) return { tenant: asked }
    throw new NotFoundError('tenant', asked)
  }
  if (tenants === null) return {}
  const [only] = tenants
  if (tenants.length === 1 && only !== undefined) return { tenant: only }
  throw new RequestError(
    'REPRISE_INVALID',
    `Name a tenant: your rights are limited to ${tenants.join(', ') || 'none'}.`,
  )
}

/** For what can't be told apart by tenant. */
export function wholeStore({ actor, tenants }: Caller): void {
  if (tenants === null) return
  throw new RequestError(
    'REPRISE_FORBIDDEN',
    `This concerns all tenants, and the rights of ${actor} are limited to ${tenants.join(', ') || 'none'}.`,
  )
}
