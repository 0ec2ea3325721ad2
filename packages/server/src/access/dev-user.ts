// The way in for development (A12): the header `x-dev-user` makes anybody on this host an admin, and counts only where `ENV` is
// exactly `local`. Everywhere else it is treated as if it were not there.

import { checkedName, isRepriseError, RequestError } from '@reprise/core'
import { type Caller, ROLES } from '@reprise/operations'

export const DEV_USER_HEADER = 'x-dev-user'
export const isDevUserOn = (env: string | undefined): boolean => env === 'local'

export const DEV_USER_WARNING =
  'ENV=local: every request of this host with the header x-dev-user is let in as an admin. Never set ENV=local where others have accounts on this host.'

/** `isNear` says whether it came from this host, and was asked for by a name of this host. Throws 401 otherwise, and for a value that is no name. */
export function devUser(value: string | string[], isNear: boolean): Caller {
  if (!isNear) {
    throw refused(
      'x-dev-user counts only for requests from the same host, to localhost or a loopback address. Use an API token.',
    )
  }
  try {
    const name = checkedName('value of x-dev-user', Array.isArray(value) ? undefined : value)
    return { kind: 'dev', actor: `dev:${name}`, name, scopes: new Set(ROLES.admin), tenants: null }
  } catch (error) {
    if (isRepriseError(error)) throw refused(error.message)
    throw error
  }
}

const refused = (why: string): RequestError => new RequestError('REPRISE_UNAUTHENTICATED', why)
