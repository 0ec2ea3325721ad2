// What a browser does to get a session and to end it: sign in at an issuer, come back, use a one-time link, sign out. Each
// step answers with where to go and which cookies to set; sending that is the route's business.

import { RequestError } from '@reprise/core'
import type { Identity } from '@reprise/operations'
import type { AccessControl, AccessRequest } from './access-control.ts'
import { NO_AGE } from './cookies.ts'
import { refuseOtherOrigin } from './csrf.ts'
import { FLOW_MS, type OidcSignIn } from './oidc-sign-in.ts'

export interface BrowserStep {
  /** A path on this server, or an address of the issuer. */
  readonly to: string
  /** Values of Set-Cookie headers. */
  readonly cookies: readonly string[]
}

export async function beginSignIn(access: AccessControl, returnTo: string): Promise<BrowserStep> {
  const { redirectTo, flow } = await signInOf(access).begin(access.address.origin, returnTo)
  return { to: redirectTo, cookies: [access.flowCookie.write(flow, FLOW_MS / 1_000)] }
}

export async function finishSignIn(access: AccessControl, request: AccessRequest): Promise<BrowserStep> {
  const signIn = signInOf(access)
  const { search } = new URL(request.url, access.address.origin)
  const flow = access.flowCookie.read(cookieOf(request))
  const { identity, returnTo } = await access.guarded(request, { kind: 'sign-in', credential: search }, () =>
    signIn.finish(access.address.origin, search, flow),
  )
  // Nobody gets a session that would be of no use: this throws 403 unless a rule gives them a role.
  access.rules.principalOf(identity)
  const session = await newSession(access, request, identity)
  await access.noteSignIn(identity, 'issuer')
  return { to: returnTo, cookies: [session, access.flowCookie.write('', NO_AGE)] }
}

export async function redeemLink(access: AccessControl, request: AccessRequest, code: string): Promise<BrowserStep> {
  refuseOtherOrigin(request, access.address.origins)
  if (!access.hasLinks) throw new RequestError('REPRISE_NOT_FOUND', NO_LINKS)
  const isSealed = (): boolean => access.links.seals.isSealed(code)
  const given = { kind: 'link', credential: code, isSealed } as const
  const identity = await access.guarded(request, given, () => access.links.redeem(code))
  const session = await newSession(access, request, identity)
  await access.noteSignIn(identity, 'link')
  return { to: '/', cookies: [session] }
}

export async function signOut(access: AccessControl, request: AccessRequest): Promise<BrowserStep> {
  refuseOtherOrigin(request, access.address.origins)
  await endSession(access, request)
  return { to: '/', cookies: [access.sessionCookie.write('', NO_AGE)] }
}

const NO_LINKS =
  'This server takes no one-time links: it can be reached from other hosts, or another way to sign in is configured.'

/** Always a new id: one that somebody planted in the browser before must not become a session. */
async function newSession(access: AccessControl, request: AccessRequest, identity: Identity): Promise<string> {
  await endSession(access, request)
  const secret = await access.sessions.begin(identity)
  return access.sessionCookie.write(secret, access.sessions.absoluteMs / 1_000)
}

async function endSession(access: AccessControl, request: AccessRequest): Promise<void> {
  const old = access.sessionCookie.read(cookieOf(request))
  if (old !== null) await access.sessions.end(old)
}

const cookieOf = ({ headers: { cookie } }: AccessRequest): string | undefined =>
  typeof cookie === 'string' ? cookie : undefined

function signInOf({ signIn }: AccessControl): OidcSignIn {
  if (signIn !== null) return signIn
  throw new RequestError(
    'REPRISE_NOT_FOUND',
    'No issuer is configured to sign in at. Set REPRISE_OIDC_ISSUER and REPRISE_OIDC_CLIENT_ID, or use an API token.',
  )
}
