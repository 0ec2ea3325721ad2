// Core's Meter on a registry: what services of the orchestrator count becomes Prometheus metrics (D4). The number of label
// sets is bounded, since ids of workers may be drawn anew at each start.

import type { Meter, MeterLabels } from '@reprise/core'
import { boundedLabel, counter, counterOf, gauge, gaugeOf, type MetricsRegistry } from './registry.ts'

const VALUES_MAX = 500

export function prometheusMeter(registry: MetricsRegistry): Meter {
  counter(registry, 'staleWorkerRetry')
  gauge(registry, 'heartbeatLagMs')
  const bounds = new Map<string, (value: string) => string>()
  /** The same labels, with few values each. */
  const bounded = (name: string, labels: MeterLabels): Record<string, string> =>
    Object.fromEntries(
      Object.entries(labels).map(([label, value]) => {
        const key = `${name} ${label}`
        const bound = bounds.get(key) ?? boundedLabel(VALUES_MAX)
        bounds.set(key, bound)
        return [label, bound(value)]
      }),
    )
  const definition = (name: string, labels: MeterLabels) => ({
    name,
    help: 'Counted by a service.',
    labels: Object.keys(labels),
  })
  return {
    count: (name, labels, by = 1) => counterOf(registry, definition(name, labels)).inc(bounded(name, labels), by),
    observe: (name, labels, value) => gaugeOf(registry, definition(name, labels)).set(bounded(name, labels), value),
  }
}
