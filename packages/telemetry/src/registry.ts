// The registry of one process, and the metrics of the catalogue in it. Each is made when it is first asked for by the code that
// sets it, so that a process shows only what it can know; asking twice gives the same one.

import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type PrometheusContentType,
  Registry,
} from '@prometheus-io/client'
import { InvalidError } from '@reprise/core'
import { CATALOGUE, type MetricDefinition } from './catalogue.ts'

export type MetricsRegistry = Registry<PrometheusContentType>

export interface RegistryOptions {
  /** Figures of the process itself (event loop, memory, garbage collection); yes if not given. */
  readonly processMetrics?: boolean
}

/** The client's own figure of the event loop's use samples by a timer, ten times a second unless told otherwise. */
const SAMPLE_MS = 1_000

export function createRegistry({ processMetrics = true }: RegistryOptions = {}): MetricsRegistry {
  const registry: MetricsRegistry = new Registry(Registry.PROMETHEUS_CONTENT_TYPE)
  if (processMetrics) collectDefaultMetrics({ register: registry, eventLoopUtilizationTimeout: SAMPLE_MS })
  return registry
}

export const METRICS_CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE

/** What a scrape gets. */
export function metricsText(registry: MetricsRegistry): Promise<string> {
  return registry.metrics()
}

type Catalogue = typeof CATALOGUE
type KeysOf<Type extends MetricDefinition['type']> = {
  [Key in keyof Catalogue]: Catalogue[Key]['type'] extends Type ? Key : never
}[keyof Catalogue]
type LabelsOf<Key extends keyof Catalogue> = Catalogue[Key]['labels'][number]

export function counter<Key extends KeysOf<'counter'>>(registry: MetricsRegistry, key: Key): Counter<LabelsOf<Key>> {
  return counterOf(registry, CATALOGUE[key])
}

export function gauge<Key extends KeysOf<'gauge'>>(
  registry: MetricsRegistry,
  key: Key,
  collect?: () => Promise<void>,
): Gauge<LabelsOf<Key>> {
  return gaugeOf(registry, CATALOGUE[key], collect)
}

export function histogram<Key extends KeysOf<'histogram'>>(
  registry: MetricsRegistry,
  key: Key,
): Histogram<LabelsOf<Key>> {
  const { name, help, labels, buckets } = CATALOGUE[key]
  const known = knownMetric(registry, name, Histogram<LabelsOf<Key>>)
  if (known !== undefined) return known
  const labelNames: readonly LabelsOf<Key>[] = labels
  return new Histogram({ name, help, labelNames, buckets: [...buckets], registers: [registry] })
}

export function counterOf<Label extends string>(
  registry: MetricsRegistry,
  { name, help, labels }: Pick<MetricDefinition, 'name' | 'help'> & { readonly labels: readonly Label[] },
): Counter<Label> {
  const known = knownMetric(registry, name, Counter<Label>)
  return known ?? new Counter({ name, help, labelNames: labels, registers: [registry] })
}

export function gaugeOf<Label extends string>(
  registry: MetricsRegistry,
  { name, help, labels }: Pick<MetricDefinition, 'name' | 'help'> & { readonly labels: readonly Label[] },
  collect?: () => Promise<void>,
): Gauge<Label> {
  const known = knownMetric(registry, name, Gauge<Label>)
  const collected = collect === undefined ? {} : { collect }
  return known ?? new Gauge({ name, help, labelNames: labels, registers: [registry], ...collected })
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
export function boundedLabel(valuesMax: number): (value: string) => string {
  const seen = new Set<string>()
  return (value) => {
    if (seen.has(value)) return value
    if (seen.size >= valuesMax) return OTHER
    seen.add(value)
    return value
  }
}

const OTHER = 'other'
