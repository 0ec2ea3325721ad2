// A store in memory on a virtual clock, a registry, a log that keeps its lines, and the few steps that bring tasks to their ends.

import {
  type ActionName,
  type Claimed,
  type ClaimResult,
  DEFAULT_POOL,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  type Decision,
  type Engine,
  JSON_NULL,
  type Logger,
  observedFailure,
  type PoolName,
  type RetryToken,
  silentLogger,
  systemClock,
  type TaskId,
  type TaskSpec,
  VirtualClock,
  type WorkerId,
} from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import {
  createRegistry,
  LoopWatch,
  type MetricsRegistry,
  metricsText,
  observedEngine,
  prometheusMeter,
  requestObserver,
  storeGauges,
  tenantRefusals,
} from '@reprise/telemetry'
import { startRedis } from '@reprise/test-servers'
import { onTestFinished } from 'vitest'

export interface Store {
  readonly engine: Engine
  readonly clock: VirtualClock
}

export async function openStore(): Promise<Store> {
  const clock = new VirtualClock()
  const engine = await openSqliteEngine({ path: ':memory:', clock })
  onTestFinished(() => engine.close())
  return { engine, clock }
}

/** A real server, whose store goes by the same clock. */
export async function openRedisStore(): Promise<Store> {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const clock = new VirtualClock()
  const engine = await openRedisEngine({ url: redis.url, clock })
  onTestFinished(() => engine.close())
  return { engine, clock }
}

/** Everything that a server registers. */
export function registerAll(engine: Engine, metrics: MetricsRegistry): void {
  observedEngine(engine, { metrics, log: silentLogger, clock: systemClock })
  requestObserver({ metrics, log: silentLogger })
  new LoopWatch({ metrics, log: silentLogger })
  tenantRefusals(metrics)
  prometheusMeter(metrics)
  storeGauges(engine, { metrics })
}

/** What such a server shows when it is scraped, with the figures of the process. */
export async function fullScrape(): Promise<string> {
  const { engine } = await openStore()
  const metrics = createRegistry()
  registerAll(engine, metrics)
  const scrape = await metricsText(metrics)
  metrics.clear()
  return scrape
}

/** Without the figures of the process. */
export const aRegistry = (): MetricsRegistry => createRegistry({ processMetrics: false })

export interface Line {
  readonly level: keyof Logger
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export function keepingLog(): { readonly log: Logger; readonly lines: Line[] } {
  const lines: Line[] = []
  const at =
    (level: keyof Logger): Logger['info'] =>
    (message, fields = {}) =>
      void lines.push({ level, message, fields })
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}

export function aTask(id: string, change: Partial<TaskSpec> = {}): TaskSpec {
  return {
    id: id as TaskId,
    action: 'work' as ActionName,
    pool: DEFAULT_POOL,
    tenant: DEFAULT_TENANT,
    payload: JSON_NULL,
    labels: {},
    priority: 5,
    retryToken: `token of ${id}` as RetryToken,
    dedupeKey: null,
    delayMs: 0,
    dueAt: null,
    deadlineAt: null,
    deadlineMs: null,
    settings: DEFAULT_SETTINGS,
    ...change,
  }
}

export interface Crew {
  readonly epoch: number
  claim(limit?: number): Promise<readonly Claimed[]>
  claimed(limit?: number): Promise<ClaimResult>
}

export async function aCrew(engine: Engine, pools: readonly string[] = [DEFAULT_POOL], id = 'w1'): Promise<Crew> {
  const worker = id as WorkerId
  const own = pools as readonly PoolName[]
  const { epoch } = await engine.register({
    worker,
    pools: own,
    actions: null,
    host: `host of ${id}`,
    version: '1',
    runtimes: [],
    endpoint: null,
  })
  const claimed = (limit = 100): Promise<ClaimResult> =>
    engine.claim({ worker, epoch, pools: own, actions: null, limit, leaseMs: 15_000 })
  return { epoch, claimed, claim: async (limit) => (await claimed(limit)).claimed }
}

export const aFailure = observedFailure('connection', 'The line is dead.', 'work' as ActionName)

export const retryIn = (delayMs: number): Decision => ({
  kind: 'retry',
  delayMs,
  reason: 'connection',
  rule: 'test',
  sentence: 'Again.',
})

export const deadLetter = (more: object = {}): Decision => ({
  kind: 'dead',
  reason: 'retries_exhausted',
  rule: 'test',
  sentence: 'No more.',
  ...more,
})

/** The value of one series of the registry, as a scrape would show it; undefined if it has none. */
export async function seriesValue(
  registry: MetricsRegistry,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  const all = await registry.getMetricsAsJSON()
  const values = all.flatMap((metric) => metric.values.map((value) => ({ metricName: metric.name, ...value })))
  const found = values.find(
    (value) =>
      value.metricName === name &&
      Object.keys(value.labels).length === Object.keys(labels).length &&
      Object.entries(labels).every(([label, own]) => String(Reflect.get(value.labels, label)) === own),
  )
  return found?.value
}

/** Waits until a clock has a timer set. */
export async function timerOn(clock: VirtualClock): Promise<void> {
  while (clock.nextAt() === null) await new Promise<void>((resolve) => setImmediate(resolve))
}
