// The policies that a worker judges failures by: those it was given, or else those of the store. The store is looked at beside
// the heartbeat, with two small reads; an attempt that fails never waits for that. A version that comes meanwhile is read once.

import { type Clock, type Engine, type Logger, type PolicySource, withoutPolicies } from '@reprise/core'
import { guardedPolicies } from './hooks.ts'

export interface AppliedPolicies extends PolicySource {
  /** Looks whether others count now, if it is time to. True if so. Never rejects: the last good ones stay. */
  follow(): Promise<boolean>
}

/** Heartbeats may come more often. */
const LOOK_EVERY_MS = 3_000

/** Somebody else looks after these. */
export function givenPolicies(source: PolicySource, log: Logger): AppliedPolicies {
  return Object.assign(guardedPolicies(source, log), { follow: () => Promise.resolve(false) })
}

interface StorePoliciesOptions {
  readonly engine: Engine
  readonly clock: Clock
  readonly log: Logger
}

/** Throws if the store has policies that this version does not understand. */
async function storePolicies({ engine, clock, log }: StorePoliciesOptions): Promise<AppliedPolicies> {
  const { openPolicies } = await import('@reprise/policies')
  const policies = await openPolicies({ engine, clock, log })
  let lookedAt = clock.monotonic()
  return {
    current: () => policies.current(),
    async follow() {
      const now = clock.monotonic()
      if (now - lookedAt < LOOK_EVERY_MS) return false
      lookedAt = now
      const before = policies.version()
      await policies.look()
      return policies.version() !== before
    },
  }
}

/** Behind a server, the server judges. */
export const policiesOf = async (engine: Engine | null, clock: Clock, log: Logger): Promise<AppliedPolicies> =>
  engine === null ? givenPolicies(withoutPolicies, log) : storePolicies({ engine, clock, log })
