// The process in which one measurement runs: told by its arguments what to measure and with what, it prints the outcome
// as JSON and ends. Can be started by hand, under a profiler for instance.

import { measureAvalanche } from './avalanche.ts'
import { handInBacklog, measureBacklog } from './backlog.ts'
import { measureDecide } from './decide.ts'
import { measureJob } from './job.ts'
import { measureLatency } from './latency.ts'
import { measureLateness } from './lateness.ts'
import type { AnswerTo, Kind, RequestOf } from './measurement.ts'
import { measureMixed } from './mixed.ts'
import { measureProcesses } from './processes.ts'
import { measureRedrive } from './redrive.ts'
import { measureRetention } from './retention.ts'
import { measureThroughput } from './throughput.ts'

const MEASURE: { readonly [K in Kind]: (request: RequestOf<K>) => Promise<AnswerTo<K>> } = {
  throughput: measureThroughput,
  mixed: measureMixed,
  fill: handInBacklog,
  backlog: measureBacklog,
  latency: measureLatency,
  lateness: measureLateness,
  processes: measureProcesses,
  redrive: measureRedrive,
  decide: measureDecide,
  job: measureJob,
  avalanche: measureAvalanche,
  retention: measureRetention,
}

const [kind = '', request = 'null'] = process.argv.slice(2)
// The other end is measurement.ts, which asks only for what there is, with what it needs.
const measure = MEASURE[kind as Kind] as (request: unknown) => Promise<unknown>
process.stdout.write(`${JSON.stringify(await measure(JSON.parse(request)))}\n`)
