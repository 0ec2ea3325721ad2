// Operations that tell figures: counters, minutes, what to watch, how many workers are needed, and what the store and server are.

import {
  type Counts,
  durationMs,
  type Engine,
  type PoolName,
  type ScalingSignal,
  SERIES_POINTS_MAX,
  SERIES_STEP_MS,
  type SeriesPoint,
} from '@reprise/core'
import { registrySnapshot, retentionInForce, scalingSignals, storeIdentity } from '@reprise/orchestrator'
import { type Monitoring, monitoring } from '@reprise/telemetry'
import { z } from 'zod'
import { given } from './given.ts'
import { scopeOf } from './lanes.ts'
import { operation, viewOf } from './operation.ts'
import { DurationInput, digitsInput, Moment, PoolNameInput, pageOf, ScopeInput, wholePage } from './schemas/names.ts'
import { CountsView, MonitoringView, ScalingSignalView, SeriesPointView } from './schemas/operations.ts'

const MINUTES = 60
const TARGET_WAIT_MS = 10_000
const WINDOW_MS = 600_000
const POOLS_MAX = 100

const RetentionView = z
  .object({
    succeededMs: z.int().optional(),
    cancelledMs: z.int().optional(),
    discardedMs: z.int().optional(),
    journalMs: z.int().optional(),
    seriesMs: z.int().optional(),
    deadMs: z.int().optional().meta({ description: 'Dead letters are exported and discarded after it.' }),
  })
  .meta({
    id: 'Retention',
    description:
      'How long things are kept, as the process that removes them was configured when it began. What is missing is kept for ever. Null if no such process has told; missing for callers limited to tenants.',
  })

export const figureOperations = {
  counts: operation({
    route: 'GET /api/v1/counts',
    summary: 'Count tasks by status',
    tag: 'figures',
    right: 'read',
    tenants: 'own',
    input: ScopeInput,
    output: viewOf<Counts>(CountsView),
    answer: 'Counters that are kept, not counted.',
    run: ({ engine }, caller, scope) => engine.counts(scopeOf(scope, caller)),
  }),
  series: operation({
    route: 'GET /api/v1/series',
    summary: 'What happened, minute by minute',
    tag: 'figures',
    right: 'read',
    tenants: 'own',
    input: ScopeInput.extend({
      minutes: digitsInput(1, SERIES_POINTS_MAX)
        .optional()
        .meta({ description: 'How many of the last; 60 if missing.' }),
    }),
    output: pageOf(viewOf<SeriesPoint>(SeriesPointView), 'Series'),
    answer: 'Minutes without events are left out.',
    run: async ({ engine }, caller, { minutes = MINUTES, ...scope }) => {
      const now = await engine.now()
      const from = Math.floor(now / SERIES_STEP_MS) * SERIES_STEP_MS - (minutes - 1) * SERIES_STEP_MS
      return wholePage(await engine.series({ ...scopeOf(scope, caller), from, to: now + 1 }))
    },
  }),
  monitoring: operation({
    route: 'GET /api/v1/monitoring',
    summary: 'The monitoring figures, ready made',
    description:
      'How the store is: a level (ok, warning, critical) and why, in sentences, the worst first. Retry rate and its success, reasons, health of workers, queue depth (C10).',
    tag: 'figures',
    right: 'read',
    tenants: 'all',
    input: z.object({ window: DurationInput.optional() }),
    output: viewOf<Monitoring>(MonitoringView),
    answer: 'The figures.',
    run: async ({ engine, policies, flags, monitoringThresholds: thresholds }, _, { window = WINDOW_MS }) => {
      await flags.look()
      return monitoring(engine, {
        windowMs: durationMs(window, 'window'),
        now: await engine.now(),
        book: policies.current(),
        thresholds,
        causes: flags.current()['dlq-inspector'],
      })
    },
  }),
  scaling: operation({
    route: 'GET /api/v1/scaling',
    summary: 'How many workers each pool would need',
    tag: 'figures',
    right: 'read',
    tenants: 'all',
    input: z.object({
      pool: PoolNameInput.optional().meta({ description: 'All pools that workers or lanes name if missing.' }),
      targetWait: DurationInput.optional().meta({
        description: 'How long a task may wait before it starts; 10 s if missing.',
      }),
      slotsPerWorker: digitsInput(1).optional(),
      duration: DurationInput.optional(),
    }),
    output: pageOf(viewOf<ScalingSignal>(ScalingSignalView), 'Scaling'),
    answer: 'One signal per pool, with its sum.',
    run: async ({ engine }, _, { pool, targetWait = TARGET_WAIT_MS, slotsPerWorker, duration }) => {
      const signals = await scalingSignals(engine, pool === undefined ? await poolsOf(engine) : [pool], {
        targetWaitMs: durationMs(targetWait, 'targetWait'),
        ...given({ slotsPerWorker }),
        ...(duration === undefined ? {} : { durationMs: durationMs(duration, 'duration') }),
      })
      return wholePage(signals)
    },
  }),
  info: operation({
    route: 'GET /api/v1/info',
    summary: 'What this server is',
    tag: 'service',
    right: 'known',
    tenants: 'none',
    input: z.object({}),
    output: z
      .object({
        version: z.string(),
        engine: z.object({
          kind: z.string(),
          durability: z.string().meta({ description: 'What an accepted task survives, looked up now.' }),
          risk: z
            .string()
            .optional()
            .meta({ description: 'Why tasks may be lost or deleted; missing if nothing is known.' }),
        }),
        store: z.string().nullable().meta({
          description: 'The id of the store: the same for all who share it. Null if it could not be written.',
        }),
        now: Moment,
        maxRetries: z.int(),
        flags: z.record(z.string(), z.boolean()),
        retention: RetentionView.nullable().optional(),
      })
      .meta({ id: 'Info' }),
    answer: "Version, engine, the store's time.",
    run: async ({ engine, version, maxRetries, flags }, caller) => {
      const safety = await engine.durability()
      await flags.look()
      return {
        version,
        engine: { kind: engine.info.kind, ...safety },
        store: await storeIdentity(engine).catch(() => null),
        now: await engine.now(),
        maxRetries,
        flags: { ...flags.current() },
        ...(caller.tenants === null ? { retention: await retentionInForce(engine).catch(() => null) } : {}),
      }
    },
  }),
}

async function poolsOf(engine: Engine): Promise<readonly PoolName[]> {
  const workers = await registrySnapshot(engine)
  const { items } = await engine.lanes({ limit: 1_000 })
  const pools = new Set([...workers.flatMap((worker) => worker.pools), ...items.map((lane) => lane.pool)])
  return [...pools].sort().slice(0, POOLS_MAX)
}
