// The way in for development (A12): the header `x-dev-user` makes anybody an admin, and counts only where `ENV` is exactly
// `local`. Everywhere else it is treated as if it were not there.

import { isIP } from 'node:net'
import { checkedName, isRepriseError, RequestError } from '@reprise/core'
import { type Caller, ROLES } from '@reprise/operations'

export const DEV_USER_HEADER = 'x-dev-user'
export const isDevUserOn = (env: string | undefined): boolean => env === 'local'

export const DEV_USER_WARNING =
  'ENV=local: every request with the header x-dev-user is let in as an admin, from wherever it comes. Never set ENV=local where others can reach this server.'

/** Throws 401 for a value that is no name, or for a host name that a site of somebody else may have. */
export function devUser(value: string | string[], host: string | undefined, ownHosts: ReadonlySet<string>): Caller {
  // A web page may point its own name at this host and then talk to it as to itself. It can not choose these names.
  if (!isOwnName(host ?? '', ownHosts)) {
    throw refused('x-dev-user counts only for local host names. Use localhost, an IP address, or set the public URL.')
  }
  try {
    const name = checkedName('value of x-dev-user', Array.isArray(value) ? undefined : value)
    return { kind: 'dev', actor: `dev:${name}`, name, scopes: new Set(ROLES.admin), tenants: null }
  } catch (error) {
    if (isRepriseError(error)) throw refused(error.message)
    throw error
  }
}

function isOwnName(host: string, ownHosts: ReadonlySet<string>): boolean {
  if (ownHosts.has(host)) return true
  const name = host.replace(/:\d+$/, '').toLowerCase()
  const isPrivateName = !name.includes('.') || /\.(?:localhost|local|internal|test)$/.test(name)
  return name !== '' && (isPrivateName || isIP(name.replace(/^\[|\]$/g, '')) !== 0)
}

const refused = (why: string): RequestError => new RequestError('REPRISE_UNAUTHENTICATED', why)
