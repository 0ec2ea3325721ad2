// The registry of one process, and the metrics of the catalogue in it. Each is made when it is first asked for by the code that
// sets it, so that a process shows only what it can know; asking twice gives the same one.

import type { PrometheusContentType } from '@prometheus-io/client'
import { InvalidError, present } from '@reprise/core'
import type { MetricDefinition } from './catalogue.ts'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from './commonjs.ts'

export type MetricsRegistry = Registry<PrometheusContentType>

export interface RegistryOptions {
  /** Figures of the process itself (event loop, memory, garbage collection); yes if not given. */
  readonly processMetrics?: boolean
}

/** The client's own figure of the event loop's use is not shown, and need not be sampled ten times a second. */
const SAMPLE_MS = 3_600_000

export function createRegistry({ processMetrics = true }: RegistryOptions = {}): MetricsRegistry {
  const registry: MetricsRegistry = new Registry(Registry.PROMETHEUS_CONTENT_TYPE)
  if (processMetrics) {
    collectDefaultMetrics({ register: registry, eventLoopUtilizationTimeout: SAMPLE_MS })
    // Names that promtool refuses. What is left shows the same: the sums of handles by type, the lag of the event loop.
    for (const { name, type } of registry.getMetricsAsArray()) {
      const isMisnamed = name.endsWith(`_${type}`) || (type !== 'counter' && name.endsWith('_total'))
      if (isMisnamed) registry.removeSingleMetric(name)
    }
  }
  return registry
}

export const METRICS_CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE

/** What a scrape gets. */
export function metricsText(registry: MetricsRegistry): Promise<string> {
  return registry.metrics()
}

export function counter<Label extends string>(
  registry: MetricsRegistry,
  { name, help, labels }: MetricDefinition<'counter', Label>,
): Counter<Label> {
  const known = knownMetric(registry, name, Counter<Label>)
  return known ?? new Counter({ name, help, labelNames: labels, registers: [registry] })
}

export function gauge<Label extends string>(
  registry: MetricsRegistry,
  { name, help, labels }: MetricDefinition<'gauge', Label>,
  collect?: () => Promise<void>,
): Gauge<Label> {
  const known = knownMetric(registry, name, Gauge<Label>)
  return known ?? new Gauge({ name, help, labelNames: labels, registers: [registry], ...present({ collect }) })
}

export function histogram<Label extends string>(
  registry: MetricsRegistry,
  { name, help, labels, buckets }: MetricDefinition<'histogram', Label>,
): Histogram<Label> {
  const known = knownMetric(registry, name, Histogram<Label>)
  return known ?? new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers: [registry] })
}

function knownMetric<Metric>(
  registry: MetricsRegistry,
  name: string,
  kind: new (...input: never[]) => Metric,
): Metric | undefined {
  const known: unknown = registry.getSingleMetric(name)
  if (known === undefined || known instanceof kind) return known
  throw new InvalidError(`The registry has a metric '${name}' of another type. Give Reprise a registry of its own.`)
}

/** Keeps the values of a label few: what comes after the first ones is `other`. */
export function boundedLabel(maxValues: number): (value: string) => string {
  const seen = new Set<string>()
  return (value) => {
    if (seen.has(value)) return value
    if (seen.size >= maxValues) return OTHER
    seen.add(value)
    return value
  }
}

const OTHER = 'other'
