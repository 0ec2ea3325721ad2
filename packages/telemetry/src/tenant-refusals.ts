// Counts tasks that were refused because their tenant is at a limit. The tenant is no label: there may be any number of them.

import { CATALOGUE } from './catalogue.ts'
import { counter, type MetricsRegistry } from './registry.ts'

export function tenantRefusals(metrics: MetricsRegistry): (limit: 'rate' | 'backlog' | 'bytes') => void {
  const refusals = counter(metrics, CATALOGUE.tenantRefusals)
  return (limit) => refusals.inc({ limit })
}
