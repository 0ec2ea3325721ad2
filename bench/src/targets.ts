// What Reprise promises of itself on each engine, and whether a run found it so.

import type { Report } from './report.ts'

export interface Target {
  readonly label: string
  readonly value: number
  readonly atLeast?: number
  readonly atMost?: number
  readonly below?: number
  readonly aim?: number
}

type Wanted = Omit<Target, 'value'> & { readonly value: number | null | undefined }

/** The targets of the mode that was measured, as far as it was. */
export function targetsOf(report: Report): readonly Target[] {
  const wanted = report.engine === 'sqlite' ? sqliteTargets(report) : redisTargets(report)
  return wanted.flatMap(({ value, ...rest }) => (value === null || value === undefined ? [] : [{ ...rest, value }]))
}

const decideTarget = ({ ours }: Report): Wanted => {
  return { label: 'deciding about a failure, µs', value: ours.decideUs, below: 20 }
}

const redriveTarget = ({ ratios }: Report): Wanted => {
  return { label: 'redrive as a resource / in bulk', value: ratios.redrive, atLeast: 0.8 }
}

/** An avalanche of delayed tasks, and retention, both on every engine. */
const loadTargets = ({ ratios, ours }: Report): readonly Wanted[] => [
  { label: 'rate while many come due / before', value: ratios.avalanche, atLeast: 0.5 },
  { label: 'urgent task while many come due, p95, ms', value: ours.avalancheUrgentP95Ms, atMost: 50 },
  { label: 'longest call while many come due, ms', value: ours.avalancheCallMs, atMost: 10 },
  { label: 'growth of what retention leaves, per processed task', value: ours.retentionGrowth, atMost: 0.05 },
]

function sqliteTargets(report: Report): readonly Wanted[] {
  const { mode, ratios, ours } = report
  const isFast = mode === 'fast'
  return [
    {
      label: 'process, ours / plainjob',
      value: ratios.process,
      ...(isFast ? { atLeast: 3, aim: 5 } : { atLeast: 2.5 }),
    },
    ...(isFast ? [{ label: 'process, ours / limit', value: ratios.limit, atLeast: 0.55, aim: 0.85 }] : []),
    { label: 'process in durable, ours / plainjob', value: ratios.processDurable, atLeast: 2.5 },
    { label: 'rate at the large backlog / at the small', value: ratios.backlog, atLeast: 0.8 },
    { label: "worker's peak memory at the large backlog, MB", value: ours.memoryMb, below: 300 },
    { label: 'durable job / process', value: ratios.job, atLeast: 0.7 },
    { label: 'peak memory of a process of the durable job, MB', value: ours.jobMemoryMb, below: 300 },
    redriveTarget(report),
    ...loadTargets(report),
    decideTarget(report),
  ]
}

/** Promised for `fast`; what a server makes of syncing every write is its own affair. */
function redisTargets(report: Report): readonly Wanted[] {
  const { mode, ratios } = report
  if (mode !== 'fast') return []
  return [
    { label: 'process, ours / bullmq', value: ratios.process, atLeast: 4, aim: 6 },
    { label: 'submit, ours / bullmq', value: ratios.submit, atLeast: 6 },
    { label: 'memory per finished task, ours / bullmq', value: ratios.memory, atMost: 0.65 },
    { label: 'submit to start p50, ours / bullmq', value: ratios.latencyP50, atMost: 1 },
    { label: 'submit to start p99, ours / bullmq', value: ratios.latencyP99, atMost: 1 },
    { label: 'lateness p99, ours / bullmq', value: ratios.lateness, atMost: 1 },
    { label: 'process, ours / limit', value: ratios.limit, atLeast: 0.6, aim: 0.85 },
    { label: 'rate at the large backlog / at the small', value: ratios.backlog, atLeast: 0.8 },
    { label: 'rate of two worker processes / of one', value: ratios.processes, atLeast: 0.9 },
    redriveTarget(report),
    ...loadTargets(report),
    decideTarget(report),
  ]
}

export function isMet({ value, atLeast, atMost, below }: Target): boolean {
  if (atLeast !== undefined && value < atLeast) return false
  if (atMost !== undefined && value > atMost) return false
  return below === undefined || value < below
}
