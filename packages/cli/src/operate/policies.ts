// The policies that a command reads and changes: a server's, or straight in the store, in one form.

import type { PolicyCalls } from '@reprise/client'
import { ConflictError, type Engine, InvalidError } from '@reprise/core'
import type { Invocation } from '../frame/invocation.ts'
import { localActor } from './by.ts'
import { storeOf } from './store.ts'

export type PolicyBooks = Omit<PolicyCalls, 'simulate'>

export async function policiesOf(invocation: Invocation): Promise<PolicyBooks> {
  const engine = await storeOf(invocation)
  return engine === null ? (await invocation.connect()).policies : storedPolicies(engine, localActor(invocation))
}

async function storedPolicies(engine: Engine, actor: string): Promise<PolicyBooks> {
  const { ConfigurationError, openPolicies, parsePolicies, policyNotes, TEMPLATES } = await import('@reprise/policies')
  const policies = await openPolicies({ engine })
  const notesOn = (text: string): readonly string[] => {
    try {
      return policyNotes(parsePolicies(text, { file: 'policies', version: 0 }))
    } catch (error) {
      throw error instanceof ConfigurationError ? new InvalidError(error.message) : error
    }
  }
  return {
    current: async () => ({ version: policies.version(), notes: policyNotes(policies.current()) }),
    versions: (page) => policies.versions.list(page),
    version: (number) => policies.versions.get(number),
    async publish(text, { dryRun = false, expected } = {}) {
      const notes = notesOn(text)
      if (dryRun) return { version: null, notes }
      const newest = policies.version()?.number ?? 0
      if (expected !== undefined && expected !== newest) {
        throw new ConflictError(
          `Version ${newest} of the policies is in force now, not ${expected}. Look at it, and change that.`,
        )
      }
      return { version: await policies.publish(text, actor), notes }
    },
    templates: async () => Object.entries(TEMPLATES).map(([name, settings]) => ({ name, ...settings })),
  }
}
