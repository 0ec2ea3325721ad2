/**
 * Metrics, logs and the figures that operators watch. It observes an engine from outside and changes nothing; traces come
 * from the client and the worker themselves, by OpenTelemetry's API.
 */

export { DASHBOARDS, type Dashboard, grafanaJson, type Panel } from './dashboards.ts'
export { JournalTail, type JournalTailOptions } from './journal-tail.ts'
export {
  type About,
  type Because,
  becauseOf,
  type Level,
  type LevelFacts,
  MONITORING_THRESHOLDS,
  type MonitoringThresholds,
  type Thresholds,
} from './level.ts'
export { createLog, LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel, type LogOptions } from './log.ts'
export { LOOP_HELD_MS_MAX, type LoopReading, LoopWatch, type LoopWatchOptions } from './loop-watch.ts'
export { prometheusMeter } from './meter.ts'
export {
  type Monitoring,
  type MonitoringFacts,
  type MonitoringOptions,
  monitoring,
  monitoringOf,
  retryFailures,
} from './monitoring.ts'
export { type ObservedEngineOptions, observedEngine } from './observed-engine.ts'
export { prometheusRules } from './prometheus-rules.ts'
export {
  createRegistry,
  METRICS_CONTENT_TYPE,
  type MetricsRegistry,
  metricsText,
  type RegistryOptions,
} from './registry.ts'
export { type AnsweredRequest, type RequestObserverOptions, requestObserver } from './requests.ts'
export type { RetryFields } from './retry-events.ts'
export { type StoreGaugesOptions, storeGauges } from './store-gauges.ts'
export { tenantRefusals } from './tenant-refusals.ts'
export { inRequest, type TracedRequest, traceparentFor } from './tracing.ts'
