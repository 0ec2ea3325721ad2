// Looks at everything that has to be right, one check after the other, and goes on whatever it finds.

import type { Inspected } from '../configuration/resolve.ts'
import type { Host } from '../host.ts'
import { chooseTarget } from '../session.ts'
import { type Check, type Finding, fail, reason } from './finding.ts'
import { disk, node, port, privacy } from './machine.ts'
import { server, store, workers } from './service.ts'
import { configuration, packs, policies } from './setup.ts'

const CHECKS: Readonly<Record<string, Check>> = {
  node,
  configuration,
  policies,
  packs,
  disk,
  privacy,
  server,
  store,
  workers,
  port,
}

export async function examine(resolved: Inspected, host: Host): Promise<readonly Finding[]> {
  const circumstances = { resolved, host, target: await chooseTarget(resolved).catch(() => null) }
  const findings: Finding[] = []
  for (const [name, check] of Object.entries(CHECKS)) {
    try {
      findings.push(...(await check(circumstances)))
    } catch (error) {
      findings.push(fail(name, `The check itself failed: ${reason(error)}`, 'Please report this.'))
    }
  }
  return findings
}
