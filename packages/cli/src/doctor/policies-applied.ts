// Checks that the workers apply the policies that were published.

import { messageOf } from '@reprise/core'
import { lookedThrough } from '../command/rows.ts'
import { appliedVersions, lagText } from '../policies/applied.ts'
import { connection } from '../session.ts'
import { type Check, fail, ok, warn } from './finding.ts'

/** A worker looks at the store every few seconds: one that is a little late does not lag. */
const GRACE_MS = 15_000

export const appliedPolicies: Check = async ({ target, resolved, host }) => {
  if (target === null) return []
  try {
    const client = await connection(target, resolved)
    try {
      const { version } = await client.policies()
      if (version === null || host.clock.now() - version.at < GRACE_MS) return []
      const applied = appliedVersions(await lookedThrough(client.listWorkers))
      const lag = lagText(applied, version.number)
      if (lag === null) return [ok('applied', `Every worker applies version ${version.number} of the policies.`)]
      const advice = 'A worker that was given policies of its own keeps them. Restart the others, or look at their log.'
      return [warn('applied', lag, advice)]
    } finally {
      await client.close()
    }
  } catch (error) {
    return [fail('applied', `Nobody can say who applies them: ${messageOf(error)}`, 'See the check before this one.')]
  }
}
