// Calls that are grouped by subject: policies, feature flags, API tokens, figures that are made from many. All but the flags
// need a server: straight on an engine they are refused with a sentence that says so.

import {
  type Decision,
  type Duration,
  type Failure,
  InvalidError,
  type Page,
  type PageRequest,
  type ScalingSignal,
} from '@reprise/core'
import type { ByOptions } from './operator-requests.ts'

export interface PolicyVersion {
  readonly number: number
  /** As it was written: YAML. */
  readonly text: string
  readonly hash: string
  readonly by: string
  readonly at: number
}

export interface PoliciesInForce {
  /** Null if there is none, and for a dry run. */
  readonly version: PolicyVersion | null
  /** What should be looked at. */
  readonly notes: readonly string[]
}

export interface PublishOptions {
  /** Checks the text and changes nothing. */
  readonly dryRun?: boolean
  /** Only if this is still the newest version; 0 for none. `ConflictError` if it is not. */
  readonly expected?: number
}

export interface SimulationRequest {
  readonly action: string
  readonly tenant?: string
  /** Policies to try; those in force if missing. */
  readonly text?: string
  /** How every attempt fails; `lost` for a worker that vanishes. */
  readonly failure:
    | 'lost'
    | { readonly code?: string; readonly status?: number; readonly message?: string; readonly name?: string }
  readonly attemptTime?: Duration
  readonly attempts?: number
}

export interface SimulatedAttempt {
  readonly attempt: number
  readonly startsAtMs: number
  readonly endsAtMs: number
  readonly failure: Failure
  readonly decision: Decision
  readonly guards: unknown
}

export interface Simulation {
  readonly attempts: readonly SimulatedAttempt[]
  readonly notes: readonly string[]
}

export interface PolicyCalls {
  current(): Promise<PoliciesInForce>
  /** Oldest first. */
  versions(page?: PageRequest): Promise<Page<PolicyVersion>>
  /** Null if there is none of this number. */
  version(number: number): Promise<PolicyVersion | null>
  publish(text: string, options?: PublishOptions): Promise<PoliciesInForce>
  templates(): Promise<readonly PolicyTemplate[]>
  simulate(request: SimulationRequest): Promise<Simulation>
}

export interface PolicyTemplate {
  readonly name: string
  readonly [setting: string]: unknown
}

export interface Flag {
  readonly name: string
  readonly on: boolean
  readonly description: string
}

export interface FlagCalls {
  list(): Promise<readonly Flag[]>
  /** `NotFoundError` if there is none of this name. */
  set(name: string, on: boolean, options?: ByOptions): Promise<Flag>
}

export interface Token {
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
  /** Null for all. */
  readonly tenants: readonly string[] | null
  readonly createdBy: string
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly lastUsedAt: number | null
}

export interface NewToken extends Token {
  /** The token itself: shown now and never again. */
  readonly token: string
}

/** Either scopes or a role. */
export interface TokenRequest {
  readonly name: string
  readonly scopes?: readonly string[]
  readonly role?: string
  /** Your own if missing; null for all. */
  readonly tenants?: readonly string[] | null
  /** It never expires if missing. */
  readonly expiresIn?: Duration
}

export interface Me {
  readonly kind: 'user' | 'token' | 'dev'
  /** As the journal names you. */
  readonly actor: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly tenants: readonly string[] | null
}

export interface TokenCalls {
  /** Oldest first, without their secrets. */
  list(page?: PageRequest): Promise<Page<Token>>
  create(request: TokenRequest): Promise<NewToken>
  /** `NotFoundError` if there is none. */
  revoke(id: string): Promise<void>
  /** Who the server takes you for. */
  me(): Promise<Me>
}

export interface ScalingRequest {
  /** All pools if missing. */
  readonly pool?: string
  /** How long a task may wait before it starts; 10 s if missing. */
  readonly targetWait?: Duration
  readonly slotsPerWorker?: number
  /** How long one attempt takes, for when the figures don't tell. */
  readonly duration?: Duration
}

/** The figures of C10, ready made; their form is the server's. */
export type Monitoring = Readonly<Record<string, unknown>>

export interface FigureCalls {
  monitoring(options?: { readonly window?: Duration }): Promise<Monitoring>
  scaling(request?: ScalingRequest): Promise<readonly ScalingSignal[]>
}

/** The calls as they are without a server. */
export function withoutServer(): {
  readonly policies: PolicyCalls
  readonly tokens: TokenCalls
  readonly figures: FigureCalls
} {
  const needsServer = (what: string) => async (): Promise<never> => {
    throw new InvalidError(
      `${what} only through a server. This client is straight on an engine: make one with createClient({ url, token }).`,
    )
  }
  const policies = needsServer('Policies can be read and changed')
  const tokens = needsServer('API tokens are made and revoked')
  const figures = needsServer('These figures are made')
  return {
    policies: {
      current: policies,
      versions: policies,
      version: policies,
      publish: policies,
      templates: policies,
      simulate: policies,
    },
    tokens: { list: tokens, create: tokens, revoke: tokens, me: tokens },
    figures: { monitoring: figures, scaling: figures },
  }
}
