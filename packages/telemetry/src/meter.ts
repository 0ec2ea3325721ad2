// Core's Meter on a registry: what services of the orchestrator count becomes Prometheus metrics (D4). The number of label
// sets is bounded, since ids of workers may be drawn anew at each start.

import type { Meter, MeterLabels } from '@reprise/core'
import { CATALOGUE } from './catalogue.ts'
import { boundedLabel, counter, gauge, type MetricsRegistry } from './registry.ts'

const VALUES_MAX = 500

export function prometheusMeter(registry: MetricsRegistry): Meter {
  counter(registry, CATALOGUE.staleWorkerRetry)
  gauge(registry, CATALOGUE.dispatchLag)
  counter(registry, CATALOGUE.queueMessages)
  counter(registry, CATALOGUE.queuePublished)
  gauge(registry, CATALOGUE.queueMessagesIn)
  counter(registry, CATALOGUE.jobChunks)
  gauge(registry, CATALOGUE.jobsMoving)
  counter(registry, CATALOGUE.ledgerDifferences)
  gauge(registry, CATALOGUE.ledgerPass)
  counter(registry, CATALOGUE.deadLettersExported)
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
  const definition = <Of extends 'counter' | 'gauge'>(type: Of, name: string, labels: MeterLabels) => {
    return { name, type, help: 'Counted by a service.', labels: Object.keys(labels), buckets: [] }
  }
  return {
    count: (name, labels, by = 1) =>
      counter(registry, definition('counter', name, labels)).inc(bounded(name, labels), by),
    observe: (name, labels, value) =>
      gauge(registry, definition('gauge', name, labels)).set(bounded(name, labels), value),
  }
}
