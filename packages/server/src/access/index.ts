// Puts access together: from options to one object that says of each request who it is and what they may do.

import { InvalidError, refuseNoEngine, refuseUnknownKeys, systemClock } from '@reprise/core'
import { ApiTokens, Sessions } from '@reprise/operations'
import { AccessControl } from './access-control.ts'
import { type BoundedFetch, boundedFetch } from './bounded-fetch.ts'
import { DEV_USER_WARNING, isDevUserOn } from './dev-user.ts'
import { FailureLimit } from './failure-limit.ts'
import { GOOGLE_ISSUERS, GOOGLE_JWKS_URL } from './google-tokens.ts'
import { IdTokens, type TrustedIssuer } from './id-tokens.ts'
import { checkedIssuerAddress, isLoopbackAddress } from './issuer-address.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { OidcSignIn } from './oidc-sign-in.ts'
import { OneTimeLinks } from './one-time-link.ts'
import type { AccessOptions, Admission, GoogleOptions, IssuerOptions } from './options.ts'
import { RemoteAddresses } from './remote-address.ts'
import { RoleRules } from './role-rules.ts'

export { AccessControl } from './access-control.ts'
export type {
  AccessOptions,
  GoogleOptions,
  IssuerOptions,
  SignInOptions,
} from './options.ts'
export type { RoleRule } from './role-rules.ts'

const OPTIONS: Readonly<Record<keyof AccessOptions, true>> = {
  engine: true,
  publicUrl: true,
  host: true,
  adminLink: true,
  clock: true,
  env: true,
  google: true,
  issuers: true,
  signIn: true,
  admins: true,
  rules: true,
  trustedProxies: true,
  sessionTimes: true,
  failureBounds: true,
  keyTimes: true,
  onError: true,
  warn: true,
}

/** Asks no issuer anything yet: the server starts also while one is down. Throws `InvalidError` for options that make no sense. */
export async function openAccess(options: AccessOptions): Promise<AccessControl> {
  refuseUnknownKeys(options, Object.keys(OPTIONS), 'access option')
  refuseNoEngine(options.engine, 'collection', 'openAccess')
  const { engine, clock = systemClock, publicUrl, google, issuers = [], signIn, onError = () => undefined } = options
  const trust = trusting(options, boundedFetch(clock))
  const bearers = [...(google === undefined ? [] : [trust.google(google)]), ...issuers.map(trust.oidc)]
  const atSignIn = signIn === undefined ? [] : [trust.oidc({ ...signIn, audiences: [signIn.clientId] })]
  const devUserOn = isDevUserOn(options.env)
  const tokens = new ApiTokens(engine, clock, onError)
  const sessions = new Sessions(engine, clock, options.sessionTimes)
  const links = new OneTimeLinks(engine, clock)
  await Promise.all([tokens.open(), sessions.seals.open(), links.seals.open()])
  return new AccessControl({
    tokens,
    idTokens: new IdTokens(bearers, clock),
    sessions,
    links,
    signIn:
      signIn === undefined
        ? null
        : new OidcSignIn(
            {
              issuer: checkedIssuerAddress('issuer to sign in at', signIn.issuer),
              clientId: signIn.clientId,
              clientSecret: signIn.clientSecret ?? null,
              extraScopes: signIn.extraScopes ?? [],
            },
            new IdTokens(atSignIn, clock),
            clock,
          ),
    journal: engine.journal,
    rules: new RoleRules(
      options.rules ?? [],
      options.admins,
      [...bearers, ...atSignIn].map(({ names: [name = ''] }) => name),
    ),
    addresses: new RemoteAddresses(options.trustedProxies ?? []),
    failures: new FailureLimit(clock, options.failureBounds),
    isDevUserOn: devUserOn,
    mayHaveLinks: options.adminLink === true || options.host === undefined || isLoopbackAddress(options.host),
    publicUrl: typeof publicUrl === 'string' ? () => publicUrl : publicUrl,
    clock,
    warnings: warningsOf(options, devUserOn),
    warn: options.warn ?? (() => undefined),
  })
}

function trusting({ clock = systemClock, keyTimes }: AccessOptions, fetch: BoundedFetch) {
  const keysOf = (issuer: string, jwksUrl: string | undefined): IssuerKeys =>
    new IssuerKeys({
      issuer,
      jwksUrl: jwksUrl === undefined ? null : checkedIssuerAddress('address of the keys', jwksUrl),
      fetch,
      clock,
      ...(keyTimes === undefined ? {} : { times: keyTimes }),
    })
  const google = ({ clientIds, jwksUrl = GOOGLE_JWKS_URL, ...admission }: GoogleOptions): TrustedIssuer => ({
    source: 'google',
    names: GOOGLE_ISSUERS,
    audiences: clientIds,
    keys: keysOf(GOOGLE_ISSUERS[0], jwksUrl),
    ...admitting(admission),
    groupsClaim: 'groups',
  })
  const oidc = ({
    issuer,
    audiences,
    jwksUrl,
    groupsClaim = 'groups',
    ...admission
  }: IssuerOptions): TrustedIssuer => ({
    source: issuer === GOOGLE_ISSUERS[0] ? 'google' : 'oidc',
    names: [checkedIssuerAddress('issuer', issuer)],
    audiences,
    keys: keysOf(issuer, jwksUrl),
    ...admitting(admission),
    groupsClaim,
  })
  return { google, oidc }
}

function admitting({ hostedDomains = [], domains = [] }: Admission): Required<Admission> {
  if ([...hostedDomains, ...domains].some((domain) => !/^[^\s@*/]+$/.test(domain))) {
    throw new InvalidError('A domain must be what stands after the @, such as example.com, without a pattern.')
  }
  return { hostedDomains, domains }
}

function warningsOf(options: AccessOptions, devUserOn: boolean): readonly string[] {
  const { google, issuers = [], signIn, rules = [], admins = [] } = options
  const hasIssuer = google !== undefined || issuers.length > 0 || signIn !== undefined
  const hasRule = rules.length > 0 || admins.length > 0
  return [
    ...(devUserOn ? [DEV_USER_WARNING] : []),
    ...(hasIssuer && !hasRule
      ? [
          'Sign-in is configured, but no rule gives anybody a role: everybody will be refused. Set REPRISE_ADMINS or REPRISE_ROLES.',
        ]
      : []),
  ]
}
