// Looks at everything that has to be right, one check after the other, and goes on whatever it finds.

import { messageOf } from '@reprise/core'
import type { Inspected } from '../configuration/resolve.ts'
import type { Host } from '../host.ts'
import { knownServers } from '../known-servers.ts'
import { chooseTarget } from '../session.ts'
import { tokenTrust } from '../token-trust.ts'
import { type Check, type Finding, fail } from './finding.ts'
import { disk, node, port, privacy } from './machine.ts'
import { outbox } from './outbox.ts'
import { appliedPolicies } from './policies-applied.ts'
import { formerServer, rights } from './remains.ts'
import { level, readiness, server, store } from './service.ts'
import { configuration, packs, policies } from './setup.ts'
import { shared } from './shared.ts'

const CHECKS: Readonly<Record<string, Check>> = {
  node,
  configuration,
  policies,
  packs,
  disk,
  privacy,
  rights,
  formerServer,
  server,
  readiness,
  store,
  shared,
  outbox,
  level,
  appliedPolicies,
  port,
}

export async function examine(resolved: Inspected, host: Host): Promise<readonly Finding[]> {
  const trust = tokenTrust(knownServers(host.env), null)
  const chosen = await chooseTarget(resolved, trust).catch((error: unknown) => messageOf(error))
  const target = typeof chosen === 'string' ? null : chosen
  const circumstances = { resolved, host, target, nowhereBecause: typeof chosen === 'string' ? chosen : null }
  const findings: Finding[] = []
  for (const [name, check] of Object.entries(CHECKS)) {
    try {
      findings.push(...(await check(circumstances)))
    } catch (error) {
      findings.push(fail(name, `The check itself failed: ${messageOf(error)}`, 'Please report this.'))
    }
  }
  return findings
}
