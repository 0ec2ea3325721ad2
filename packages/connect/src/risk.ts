// A warning of the process, once for each risk: a store that does not keep what it accepts is easily overlooked by those who open
// it in code. Roles say it in their log.

import type { Engine } from '@reprise/core'

const told = new Set<string>()

export function warnOfRisk({ info }: Pick<Engine, 'info'>): void {
  if (info.risk === undefined || told.has(info.risk)) return
  told.add(info.risk)
  process.emitWarning(info.risk, { type: 'RepriseWarning', code: 'REPRISE_STORE_RISK' })
}
