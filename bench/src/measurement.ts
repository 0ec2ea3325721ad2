// One measurement, as it is asked for and answered. Each runs in a process of its own, so that nothing it measures has
// to share a heap, compiled code or a page cache with what was measured before.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { EngineName, Mode } from './arguments.ts'
import type { Throughput, ThroughputRequest } from './queue-under-test.ts'

export type Contestant = 'reprise' | 'plainjob' | 'limit'

interface OnStore {
  readonly engine: EngineName
  readonly path: string
  readonly mode: Mode
}

export type Measurement =
  /** Hand in tasks, then work them off. */
  | (OnStore & ThroughputRequest & { readonly kind: 'throughput'; readonly contestant: Contestant })
  /** Only hand in tasks, for a backlog. */
  | (OnStore & { readonly kind: 'fill'; readonly tasks: number })
  /** Work off this many of a backlog that is there. */
  | (OnStore & { readonly kind: 'backlog'; readonly tasks: number })
  /** From submit to the start of the handler, one task at a time. */
  | (OnStore & { readonly kind: 'latency'; readonly samples: number; readonly workerRuns: WorkerRuns })
  /** Work off tasks of which some fail. */
  | (OnStore & { readonly kind: 'mixed'; readonly tasks: number })

/** Where the worker is, seen from the client. */
export type WorkerRuns = 'in process' | 'across processes'

interface Outcomes {
  readonly throughput: Throughput
  readonly fill: { readonly submitPerS: number }
  readonly backlog: { readonly processPerS: number; readonly peakMb: number }
  readonly latency: { readonly samplesMs: readonly number[] }
  readonly mixed: { readonly processPerS: number }
}

export type OutcomeOf<Kind extends Measurement['kind']> = Outcomes[Kind]

/** How every process of the benchmark is started. */
export const NODE_OPTIONS: readonly string[] = ['--conditions=reprise-source', '--expose-gc', '--no-warnings']
/** No measurement takes this long; one that does is stuck. */
const MEASUREMENT_MS_MAX = 1_800_000
const MEASUREMENT_PROCESS = fileURLToPath(new URL('./measurement-process.ts', import.meta.url))

export async function measure<M extends Measurement>(measurement: M): Promise<OutcomeOf<M['kind']>> {
  const child = spawn(process.execPath, [...NODE_OPTIONS, MEASUREMENT_PROCESS, JSON.stringify(measurement)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: MEASUREMENT_MS_MAX,
  })
  const exited = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
  const [answer, problems, code] = await Promise.all([text(child.stdout), text(child.stderr), exited])
  if (code !== 0) throw new Error(`The measurement '${measurement.kind}' ended with ${code}.\n${problems.trim()}`)
  // The other end is measurement-process.ts, which answers each kind with its own outcome.
  return JSON.parse(answer) as OutcomeOf<M['kind']>
}
