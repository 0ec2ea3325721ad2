// Who makes a request, and what they may do: the one thing that every way of signing in comes to.

import type { Scope } from '@reprise/contract'
import type { TenantId } from '@reprise/core'

export interface Principal {
  readonly kind: 'user' | 'token' | 'dev'
  /** As the journal names them: `google:ann@example.com`, `oidc:ann@example.com`, `token:deploys`, `dev:ann`. */
  readonly actor: string
  /** For people to read. */
  readonly name: string
  readonly scopes: ReadonlySet<Scope>
  /** The only tenants whose tasks they may see or touch; null for all. */
  readonly tenants: readonly TenantId[] | null
}
