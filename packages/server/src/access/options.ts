// What access can be configured with. What is not given is switched off. Where it comes from (files, the environment) is the
// business of the caller.

import type { Clock, Engine } from '@reprise/core'
import type { SessionTimes } from '@reprise/operations'
import type { FailureBounds } from './failure-limit.ts'
import type { KeyTimes } from './issuer-keys.ts'
import type { RoleRule } from './role-rules.ts'

/** Who of those that an issuer vouches for may come in at all. What they may do is up to the rules. */
export interface Admission {
  /** If any: only accounts of these organisations (the claim `hd`). */
  readonly hostedDomains?: readonly string[]
  /** If any: only email addresses in exactly these domains. */
  readonly domains?: readonly string[]
}

export interface GoogleOptions extends Admission {
  /** The audiences that mean us: TASK_DASHBOARD_GOOGLE_CLIENT_IDS. */
  readonly clientIds: readonly string[]
  /** Where Google's keys are; another place only in tests. */
  readonly jwksUrl?: string
}

/** An issuer whose ID tokens count as bearer tokens. */
export interface IssuerOptions extends Admission {
  /** As in `iss`. Its keys are found by its discovery document, unless `jwksUrl` says where they are. */
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly jwksUrl?: string
  /** The claim that lists groups; `groups` if missing. */
  readonly groupsClaim?: string
}

/** The issuer at which browsers sign in. */
export interface SignInOptions extends Admission {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: string
  /** Asked for beside `openid email profile`, such as `groups`. */
  readonly extraScopes?: readonly string[]
  readonly groupsClaim?: string
}

export interface AccessOptions {
  /** Keeps sessions, API tokens and one-time links. */
  readonly engine: Pick<Engine, 'collection' | 'journal' | 'now'>
  /**
   * The address at which browsers reach the server, such as `https://reprise.example.com`. A function if it is known only once
   * the server listens; asked when it is first needed.
   */
  readonly publicUrl: string | (() => string)
  /** Where the server listens; loopback if missing. Beyond loopback there is no one-time link. */
  readonly host?: string
  /** Offers the one-time link also where other hosts can reach the server. */
  readonly adminLink?: boolean
  readonly clock?: Clock
  /** ENV: `local`, and nothing else, lets `x-dev-user` of this host in. */
  readonly env?: string | undefined
  readonly google?: GoogleOptions
  readonly issuers?: readonly IssuerOptions[]
  readonly signIn?: SignInOptions
  /** Email addresses that have the role admin, before all rules; with `google:` or `oidc:` if there are several issuers. */
  readonly admins?: readonly string[]
  /** The first that fits says what somebody may do; without one, nothing. */
  readonly rules?: readonly RoleRule[]
  /** Addresses or ranges of proxies whose X-Forwarded-For counts; none if missing. */
  readonly trustedProxies?: readonly string[]
  readonly sessionTimes?: SessionTimes
  readonly failureBounds?: FailureBounds
  readonly keyTimes?: KeyTimes
  /** Told of what went wrong beside a request. */
  readonly onError?: (error: unknown) => void
  /** Told of what an operator should know, when it happens. */
  readonly warn?: (message: string) => void
}
