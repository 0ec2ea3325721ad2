// The process in which one measurement runs: told what to do by its only argument, it prints the outcome as JSON and
// ends. Can be started by hand, under a profiler for instance.

import { measureBacklog, measureFill } from './backlog.ts'
import { measureLatency } from './latency.ts'
import { openLimitSqlite } from './limit-sqlite.ts'
import type { Contestant, Measurement, OutcomeOf } from './measurement.ts'
import { measureMixed } from './mixed.ts'
import { openPlainjob } from './plainjob.ts'
import { measureThroughput, type OpenQueue } from './queue-under-test.ts'
import { openReprise } from './reprise.ts'

const OPEN: Readonly<Record<Contestant, OpenQueue>> = {
  reprise: openReprise,
  plainjob: openPlainjob,
  limit: openLimitSqlite,
}

function outcomeOf(measurement: Measurement): Promise<OutcomeOf<Measurement['kind']>> {
  switch (measurement.kind) {
    case 'throughput':
      return measureThroughput(OPEN[measurement.contestant], measurement)
    case 'fill':
      return measureFill(measurement.path, measurement.mode, measurement.tasks)
    case 'backlog':
      return measureBacklog(measurement.path, measurement.mode, measurement.tasks)
    case 'latency':
      return measureLatency(measurement.path, measurement.mode, measurement.samples, measurement.workerRuns)
    case 'mixed':
      return measureMixed(measurement.path, measurement.mode, measurement.tasks)
  }
}

const outcome = await outcomeOf(JSON.parse(process.argv[2] ?? 'null') as Measurement)
process.stdout.write(`${JSON.stringify(outcome)}\n`)
