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
    inFlight: z.int(),
    queueDepth: z.int(),
    loopLagMs: z.number(),
    memoryBytes: z.number(),
    draining: z.boolean(),
    consecutiveFailures: z.int(),
    recentOutcomes: z.int(),
    recentFailures: z.int(),
    lastFailureAt: Moment.nullable(),
    lastProgressAt: Moment,
    quietMsMax: z.number(),
    outlook: z.string().nullable(),
    probeFailures: z.int(),
    health: z.object({ status: z.enum(['healthy', 'degraded', 'unhealthy']), reasons: z.array(z.string()) }),
  })
  .meta({ id: 'Worker' })

export const BreakerView = z
  .object({
    name: z.string(),
    settings: z.looseObject({ windowMs: Milliseconds }),
    actions: z.array(z.string()),
    state: z.looseObject({ status: z.enum(['closed', 'open', 'half_open', 'ramping']) }),
    buckets: z.array(z.object({ at: Moment, ok: z.int(), failed: z.int() })),
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

export const ScalingSignalView = z.object({
  pool: z.string(),
  slots: z.int().nullable(),
  workers: z.int().nullable(),
  workersNow: z.int(),
  sum: z.string().meta({ description: 'How the answer came about, in words.' }),
  numbers: z.looseObject({ depth: z.int(), running: z.int() }),
})

export const Changed = z.object({ changed: z.boolean() }).meta({ id: 'Changed' })

export const BulkView = z
  .object({
    changed: listOf(z.string()).meta({ description: 'The ids of the tasks that were changed.' }),
    next: z.string().nullable().meta({ description: 'Where to go on; null when nothing is left.' }),
  })
  .meta({ id: 'BulkResult' })
