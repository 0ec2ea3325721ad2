// Everything around tasks that operators look at: lanes, workers, breakers, failure groups, figures.

import { z } from 'zod'
import { listOf, Milliseconds, Moment, pageOf } from './names.ts'
import { FailureView, GateView } from './task.ts'

export const CountsView = z
  .object({
    accepted: z.int(),
    queued: z.int(),
    waiting: z.int(),
    running: z.int(),
    succeeded: z.int(),
    dead: z.int(),
    discarded: z.int(),
    cancelled: z.int(),
    removed: z.int(),
  })
  .meta({ id: 'Counts', description: '`accepted` is the sum of all the others.' })

export const LaneView = z
  .object({
    pool: z.string(),
    action: z.string(),
    tenant: z.string(),
    counts: CountsView,
    gates: z.array(GateView),
  })
  .meta({ id: 'Lane' })

export const WorkerView = z
  .object({
    worker: z.string(),
    pools: z.array(z.string()),
    actions: z.array(z.string()).nullable(),
    host: z.string(),
    version: z.string(),
    runtimes: z.array(z.string()),
    endpoint: z.string().nullable(),
    concurrency: z.int().optional(),
    epoch: z.int(),
    registeredAt: Moment,
    lastBeatAt: Moment,
    alive: z.boolean().meta({ description: 'Whether it was heard of within the liveness TTL (30 s by default).' }),
    lastHealthCheckAt: Moment.meta({ description: 'When its health was last reported.' }),
    inFlight: z.int(),
    queueDepth: z.int(),
    loopLagMs: z.number(),
    memoryBytes: z.number(),
    draining: z.boolean(),
    policyVersion: z.int().nullable().meta({
      description: 'The version of the policies that it applies, 0 for none; null if the server judges for it.',
    }),
    consecutiveFailures: z.int(),
    recentOutcomes: z.int(),
    recentFailures: z.int(),
    lastFailureAt: Moment.nullable(),
    failuresBy: z
      .array(z.object({ tenant: z.string().nullable(), inRow: z.int(), recent: z.int() }))
      .meta({ description: 'The failures by tenant; null for all beyond a few.' }),
    servedWell: z
      .array(z.object({ tenant: z.string(), at: Moment }))
      .meta({ description: 'The last two tenants with a success.' }),
    lastProgressAt: Moment,
    maxQuietMs: z.number(),
    outlook: z.string().nullable(),
    probeFailures: z.int(),
    health: z.object({ status: z.enum(['healthy', 'degraded', 'unhealthy']), reasons: z.array(z.string()) }),
  })
  .meta({ id: 'Worker' })

export const DepartedWorkerView = WorkerView.pick({
  worker: true,
  pools: true,
  actions: true,
  host: true,
  version: true,
  runtimes: true,
  endpoint: true,
  concurrency: true,
  epoch: true,
  registeredAt: true,
})
  .extend({ leftAt: Moment })
  .meta({ id: 'DepartedWorker' })

export const BreakerView = z
  .object({
    name: z.string(),
    tenant: z.string().nullable().meta({ description: 'Whose it is; null for that of all tenants.' }),
    settings: z.looseObject({ windowMs: Milliseconds }),
    actions: z.array(z.string()),
    state: z.looseObject({ status: z.enum(['closed', 'open', 'half_open', 'ramping']) }),
    buckets: z.array(z.object({ at: Moment, ok: z.int(), failed: z.int() })),
    voices: z
      .array(z.object({ tenant: z.string(), since: Moment, ok: z.int(), failed: z.int() }))
      .meta({ description: 'What each tenant says, for that of all tenants.' }),
  })
  .meta({ id: 'Breaker' })

export const FailureGroupView = z
  .object({
    fingerprint: z.string(),
    action: z.string(),
    count: z.int(),
    firstAt: Moment,
    lastAt: Moment,
    lastTask: z.string(),
    sample: FailureView,
  })
  .meta({ id: 'FailureGroup', description: 'Dead letters with one cause.' })
export const FailureGroupPage = pageOf(FailureGroupView, 'FailureGroupPage')

export const SeriesPointView = z
  .object({
    at: Moment,
    accepted: z.int(),
    started: z.int(),
    succeeded: z.int(),
    failed: z.int(),
    lost: z.int(),
    retried: z.int(),
    dead: z.int(),
    cancelled: z.int(),
  })
  .meta({ id: 'SeriesPoint' })

const LevelView = z.enum(['ok', 'warning', 'critical'])

export const MonitoringView = z
  .looseObject({
    level: LevelView,
    because: z
      .array(z.object({ level: LevelView, about: z.string(), says: z.string() }))
      .meta({ description: 'Why it is not ok, in sentences, the worst first.' }),
  })
  .meta({ id: 'Monitoring' })

export const ScalingSignalView = z.object({
  pool: z.string(),
  slots: z.int().nullable(),
  workers: z.int().nullable(),
  workersNow: z.int(),
  sum: z.string().meta({ description: 'How the answer came about, in words.' }),
  numbers: z.looseObject({ depth: z.int(), running: z.int() }),
})

export const Changed = z
  .object({
    changed: z.boolean(),
    warnings: z
      .array(z.string())
      .optional()
      .meta({ description: 'Names that nothing has yet, and what may be meant.' }),
  })
  .meta({ id: 'Changed' })

export const BulkView = z
  .object({
    changed: listOf(z.string()).meta({ description: 'The ids of the tasks that were changed.' }),
    next: z.string().nullable().meta({ description: 'Where to go on; null when nothing is left.' }),
    warnings: z.array(z.string()).optional().meta({ description: 'What the query may not have been meant to say.' }),
    dryRun: z.boolean().optional().meta({ description: 'True if nothing was changed; then the rest is there.' }),
    matched: z.int().optional().meta({ description: 'How many would be changed. Those of further pages are added.' }),
    byAction: listOf(z.object({ action: z.string(), count: z.int() }))
      .optional()
      .meta({ description: 'The most first.' }),
    samples: listOf(z.object({ id: z.string(), action: z.string(), tenant: z.string(), status: z.string() }))
      .optional()
      .meta({ description: 'A few of them.' }),
  })
  .meta({ id: 'BulkResult' })

export const TaskCountView = z
  .object({
    count: z.int(),
    values: listOf(z.object({ value: z.string().nullable(), count: z.int() })).meta({
      description: 'By the field that was asked for, the most first. Null stands for tasks without such a value.',
    }),
    next: z.string().nullable().meta({
      description: 'Null if the count is exact. Otherwise ask again with it as `cursor`, and add what comes.',
    }),
    warnings: z.array(z.string()).optional().meta({ description: 'What the query may not have been meant to say.' }),
  })
  .meta({ id: 'TaskCount' })
