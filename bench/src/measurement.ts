// One measurement, as it is asked for and answered. Each runs in a process of its own, so that nothing it measures has
// to share a heap, compiled code or a page cache with what was measured before.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Avalanche, AvalancheRequest } from './avalanche.ts'
import type { Backlog, BacklogRequest } from './backlog.ts'
import type { DecideRequest } from './decide.ts'
import type { JobMeasured, JobRequest } from './job.ts'
import type { Latency, LatencyRequest } from './latency.ts'
import type { Lateness, LatenessRequest } from './lateness.ts'
import type { MixedRequest } from './mixed.ts'
import { NODE_OPTIONS } from './node-options.ts'
import type { ProcessesRequest } from './processes.ts'
import type { RedriveRequest } from './redrive.ts'
import type { Retention, RetentionRequest } from './retention.ts'
import type { Throughput, ThroughputRequest } from './throughput.ts'

/** What is asked, and what is answered. */
interface Measurements {
  /** Hand in tasks, then work them off. */
  readonly throughput: readonly [ThroughputRequest, Throughput]
  /** Work off tasks of which some fail. */
  readonly mixed: readonly [MixedRequest, { readonly processPerS: number }]
  /** Only hand in tasks. */
  readonly fill: readonly [BacklogRequest, null]
  /** Work off this many of a backlog that is there. */
  readonly backlog: readonly [BacklogRequest, Backlog]
  /** From submit to the start of the handler, one task at a time. */
  readonly latency: readonly [LatencyRequest, Latency]
  /** From when a task is due to the start of the handler. */
  readonly lateness: readonly [LatenessRequest, Lateness]
  /** Several worker processes on a backlog that is there. */
  readonly processes: readonly [ProcessesRequest, { readonly processPerS: number }]
  /** What it takes to decide about a failure. */
  readonly decide: readonly [DecideRequest, { readonly decideUs: number }]
  /** Dead letters back to work. */
  readonly redrive: readonly [RedriveRequest, { readonly redrivePerS: number }]
  /** A durable job whose processes are killed on the way. */
  readonly job: readonly [JobRequest, JobMeasured]
  /** Many delayed tasks come due at once. */
  readonly avalanche: readonly [AvalancheRequest, Avalanche]
  /** Deleting what has ended, while the rest goes on. */
  readonly retention: readonly [RetentionRequest, Retention]
}

export type Kind = keyof Measurements
export type RequestOf<K extends Kind> = Measurements[K][0]
export type AnswerTo<K extends Kind> = Measurements[K][1]

/** No measurement takes this long; one that does is stuck. */
const MEASUREMENT_MS_MAX = 600_000
const MEASUREMENT_PROCESS = fileURLToPath(new URL('./measurement-process.ts', import.meta.url))

export async function measure<K extends Kind>(kind: K, request: RequestOf<K>): Promise<AnswerTo<K>> {
  const child = spawn(process.execPath, [...NODE_OPTIONS, MEASUREMENT_PROCESS, kind, JSON.stringify(request)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: MEASUREMENT_MS_MAX,
  })
  const exited = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
  const [answer, problems, code] = await Promise.all([text(child.stdout), text(child.stderr), exited])
  if (code !== 0) throw new Error(`The measurement '${kind}' ended with ${code}.\n${problems.trim()}`)
  // The other end is measurement-process.ts, which answers each kind with its own outcome.
  return JSON.parse(answer) as AnswerTo<K>
}
