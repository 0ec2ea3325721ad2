// Dashboards for Grafana as code: retry and recovery, the fleet, the engine. Every query is made from the names of the catalogue, so
// a metric that is renamed takes its panels along. The files in config/monitoring/grafana are written from here, by a test with --update.

import { CATALOGUE } from './catalogue.ts'

export interface Panel {
  readonly title: string
  readonly about: string
  readonly unit: 'short' | 's' | 'percentunit' | 'ops'
  /** Queries, each with the name of its lines. `{{label}}` is the value of a label. */
  readonly queries: readonly (readonly [expression: string, legend: string])[]
}

export interface Dashboard {
  readonly file: string
  readonly title: string
  readonly panels: readonly Panel[]
}

interface Named {
  readonly name: string
}

const rate = ({ name }: Named, labels = ''): string => `rate(${name}${labels}[$__rate_interval])`
const perSecond = (metric: Named, by: string, labels = ''): string => `sum by (${by}) (${rate(metric, labels)})`
/** Figures of the store are the same in every process. */
const ofStore = ({ name }: Named, by?: string): string =>
  by === undefined ? `max(${name})` : `max by (${by}) (${name})`
const quantile = (share: number, { name }: Named, by: string): string =>
  `histogram_quantile(${share}, sum by (le, ${by}) (rate(${name}_bucket[$__rate_interval])))`

const {
  retryScheduled,
  retrySuccess,
  retryFailure,
  retryDlq,
  retryEscalated,
  parked,
  breakers,
  tasks,
  retryRate,
  retrySuccessRate,
  retryReasons,
  level,
  executions,
  workers,
  workersDraining,
  unhealthyShare,
  heartbeatLag,
  queueDepth,
  healthRouting,
  claims,
  poolTasks,
  queueWait,
  executionDuration,
  scalingWorkers,
  staleWorkerRetry,
  engineCall,
  storeUp,
  submitted,
  refused,
  ledgerDifferences,
  ledgerPass,
  httpRequest,
  maxLoopDelay,
  loopHeld,
  tenantRefusals,
} = CATALOGUE

export const DASHBOARDS: readonly Dashboard[] = [
  {
    file: 'retry-recovery.json',
    title: 'Runtime Ops / Retry & Recovery',
    panels: [
      panel('Level', 'short', '0 ok, 1 warning, 2 critical', [ofStore(level, 'figure'), '{{figure}}']),
      panel('Dead letters', 'short', 'Tasks that wait for a person', [`max(${tasks.name}{status="dead"})`, 'dead']),
      panel('Retry rate', 'percentunit', 'Warning above 20 %, critical above 50 %', [ofStore(retryRate), 'retry rate']),
      panel('Retry success', 'percentunit', 'Of the retries that have ended', [ofStore(retrySuccessRate), 'success']),
      panel('Retries by reason', 'ops', 'Scheduled retries', [perSecond(retryScheduled, 'reason'), '{{reason}}']),
      panel(
        'How retries end',
        'ops',
        'Succeeded and failed',
        [`sum(${rate(retrySuccess)})`, 'succeeded'],
        [`sum(${rate(retryFailure)})`, 'failed'],
      ),
      panel('New dead letters', 'ops', 'By why', [perSecond(retryDlq, 'reason'), '{{reason}}']),
      panel('Handed to people', 'ops', 'By severity', [perSecond(retryEscalated, 'severity'), '{{severity}}']),
      panel('Saved by breakers', 'ops', 'Attempts that were not charged', [perSecond(parked, 'reason'), '{{reason}}']),
      panel('Breakers', 'short', 'By state', [ofStore(breakers, 'status, level'), '{{status}} ({{level}})']),
      panel('Reasons of the window', 'short', 'Retries', [ofStore(retryReasons, 'reason'), '{{reason}}']),
    ],
  },
  {
    file: 'fleet.json',
    title: 'Runtime Ops / Fleet',
    panels: [
      panel('Workers', 'short', 'By health', [ofStore(workers, 'health'), '{{health}}']),
      panel('Draining', 'short', 'Workers that are about to stop', [ofStore(workersDraining), 'draining']),
      panel('Unhealthy share', 'percentunit', 'Warning above 30 %, critical above 70 %', [
        ofStore(unhealthyShare),
        'unhealthy',
      ]),
      panel('Heartbeats', 's', 'How long ago workers were heard of', [
        ofStore(heartbeatLag, 'statistic'),
        '{{statistic}}',
      ]),
      panel('Tasks inside workers', 'short', 'On average', [ofStore(queueDepth), 'queue depth']),
      panel('Routed by health', 'percentunit', 'Of the attempts that started', [ofStore(healthRouting), 'by health']),
      panel('Claims', 'ops', 'By whether health held the worker back', [
        perSecond(claims, 'held_back'),
        '{{held_back}}',
      ]),
      panel('Tasks of pools', 'short', 'Now', [ofStore(poolTasks, 'pool, status'), '{{pool}} {{status}}']),
      panel('Wait in the queue', 's', '95 of 100 wait less', [quantile(0.95, queueWait, 'pool'), '{{pool}}']),
      panel('Duration of attempts', 's', '95 of 100 take less', [
        quantile(0.95, executionDuration, 'pool'),
        '{{pool}}',
      ]),
      panel('Workers that would do', 'short', 'To start everything in 10 s', [
        ofStore(scalingWorkers, 'pool'),
        '{{pool}}',
      ]),
      panel('Stale picks', 'ops', 'Of dispatchers, by action', [perSecond(staleWorkerRetry, 'topic'), '{{topic}}']),
    ],
  },
  {
    file: 'engine.json',
    title: 'Runtime Ops / Engine',
    panels: [
      panel('Store', 'short', '1 if it answers', [`min(${storeUp.name})`, 'up']),
      panel('Tasks', 'short', 'By status', [ofStore(tasks, 'status'), '{{status}}']),
      panel('Submitted', 'ops', 'By outcome', [perSecond(submitted, 'outcome'), '{{outcome}}']),
      panel('Attempts', 'ops', 'By how they ended', [perSecond(executions, 'status'), '{{status}}']),
      panel('Calls of the engine', 's', '99 of 100 take less', [quantile(0.99, engineCall, 'verb'), '{{verb}}']),
      panel('Errors of the store', 'ops', 'By verb', [
        `sum by (verb) (rate(${engineCall.name}_count{outcome="error"}[$__rate_interval]))`,
        '{{verb}}',
      ]),
      panel('Refused settlements', 'ops', 'The lease was gone', [perSecond(refused, 'because'), '{{because}}']),
      panel('Ledger', 'short', 'Differences: there should be none', [
        `sum by (kind) (increase(${ledgerDifferences.name}[$__rate_interval]))`,
        '{{kind}}',
      ]),
      panel('A look of the ledger', 's', 'Through the whole store', [ofStore(ledgerPass), 'pass']),
      panel('Requests', 's', '99 of 100 take less', [quantile(0.99, httpRequest, 'route'), '{{route}}']),
      panel('Event loop', 's', 'The longest delay', [`max(${maxLoopDelay.name})`, 'delay']),
      panel('Who holds the event loop', 'ops', 'By route', [perSecond(loopHeld, 'route'), '{{route}}']),
      panel('Refused tenants', 'ops', 'By limit', [perSecond(tenantRefusals, 'limit'), '{{limit}}']),
    ],
  },
]

function panel(title: string, unit: Panel['unit'], about: string, ...queries: Panel['queries']): Panel {
  return { title, about, unit, queries }
}

const COLUMNS = 2
const [WIDTH, HEIGHT] = [12, 8]
/** Of the format that Grafana reads; it brings older ones up to date by itself. */
const SCHEMA_VERSION = 39

/** As Grafana imports it; it asks which Prometheus is meant. */
export function grafanaJson({ file, title, panels }: Dashboard): string {
  const datasource = { type: 'prometheus', uid: '$datasource' }
  const dashboard = {
    uid: `reprise-${file.replace(/\.json$/, '')}`,
    title,
    schemaVersion: SCHEMA_VERSION,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' }] },
    panels: panels.map(({ title: name, about, unit, queries }, at) => ({
      id: at + 1,
      type: 'timeseries',
      title: name,
      description: about,
      datasource,
      gridPos: { x: (at % COLUMNS) * WIDTH, y: Math.floor(at / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: queries.map(([expr, legendFormat], index) => ({
        refId: String.fromCharCode('A'.charCodeAt(0) + index),
        datasource,
        expr,
        legendFormat,
      })),
    })),
  }
  return `${JSON.stringify(dashboard, null, 2)}\n`
}
