// Refuses changes that another site makes a browser send along with our cookie. Cookies are `SameSite=Lax`, which stops most of
// it; this is the second wall: the request must say that it comes from our own pages, and be of a kind that a page of another
// site can not send without asking first. Requests with a token of their own need none of this: no browser adds that by itself.

import { RequestError } from '@reprise/core'

export interface CheckedRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])
/** A page of another site can send these without a preflight. */
const SIMPLE_METHODS = new Set(['POST'])
const SIMPLE_TYPES = new Set(['', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])

const isSafeMethod = (method: string): boolean => SAFE_METHODS.has(method)

/** Throws 403 for a change that may come from another site. `origins` are ours. */
export function refuseCrossSiteChange(request: CheckedRequest, origins: ReadonlySet<string>): void {
  if (isSafeMethod(request.method)) return
  refuseOtherOrigin(request, origins)
  const type = essence(headerOf(request, 'content-type'))
  const isWithoutBody = type === '' && !SIMPLE_METHODS.has(request.method)
  if (SIMPLE_TYPES.has(type) && !isWithoutBody) {
    throw refused(
      `A change made with a browser session must be sent as application/json, not ${type === '' ? 'without a type' : `as ${type}`}.`,
    )
  }
}

/** Throws 403 unless the request says that it comes from one of our own pages. */
export function refuseOtherOrigin(request: CheckedRequest, origins: ReadonlySet<string>): void {
  const site = headerOf(request, 'sec-fetch-site')
  const origin = headerOf(request, 'origin')
  if (site !== undefined && site !== 'same-origin')
    throw refused(`The request comes from another site (${show(site)}).`)
  if (origin !== undefined && !origins.has(origin)) {
    throw refused(`The request comes from a page of ${show(origin)}. If that is this server, set its public URL.`)
  }
  if (site === undefined && origin === undefined) {
    throw refused(
      'The request does not say which page it comes from (Origin, Sec-Fetch-Site). Programs use an API token rather than a session.',
    )
  }
}

function headerOf({ headers }: CheckedRequest, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

const essence = (type: string | undefined): string => (type ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

const show = (text: string): string => text.slice(0, 100).replace(/[^\x20-\x7e]/g, '?')

const refused = (why: string): RequestError => new RequestError('REPRISE_FORBIDDEN', `The change was refused. ${why}`)
