// The port's verbs over one partition, each handed to its module. This file only wires; what the verbs do stands in the
// files named after them and in the scripts they call.

import type { Engine, EngineInfo, HealthThresholds } from '@reprise/core'
import { listBreakers, resetBreaker } from './breakers.ts'
import { change, retry } from './change.ts'
import { claim, type DrawRequestId, settleAndClaim } from './claim.ts'
import { collectionOf } from './collection.ts'
import { explain } from './explain.ts'
import { listFailureGroups } from './failure-groups.ts'
import { limit, pause, resume } from './gates.ts'
import { assign, launches } from './handover.ts'
import { inspect } from './inspect.ts'
import { journalOf } from './journal.ts'
import { counts, listLanes, series } from './lanes.ts'
import { expired, renew } from './leases.ts'
import { OrderedCalls } from './ordered-calls.ts'
import type { Partition } from './partition.ts'
import { beat, deregister, findWorkers, listWorkers, probed, register } from './registry.ts'
import { reserve } from './reserve.ts'
import { retain } from './retention.ts'
import { settle } from './settle.ts'
import { standings, storeTime } from './standings.ts'
import { submit } from './submit.ts'
import { findExecution, findTask, listExecutions, listTasks } from './tasks.ts'
import type { Wake } from './wake.ts'

export interface PartitionEngineParts {
  readonly partition: Partition
  readonly wake: Wake
  readonly info: EngineInfo
  readonly thresholds: HealthThresholds
  readonly backlogMax: number
  readonly drawRequestId: DrawRequestId
  /** Ends what the engine was opened with. */
  readonly close: () => Promise<void>
}

export function partitionEngine(parts: PartitionEngineParts): Engine {
  const { partition, wake, thresholds, backlogMax, drawRequestId } = parts
  const settings = { thresholds, drawRequestId }
  const calls = new OrderedCalls(
    partition,
    (groups) => submit(partition, groups, backlogMax),
    (groups) => settle(partition, groups),
  )
  const inOrder = (): Partition => calls.inOrder()

  return {
    info: parts.info,
    healthThresholds: thresholds,

    submit: (tasks) => calls.submit(tasks),
    async claim(request) {
      const { versions, blocked: _, ...result } = await claim(inOrder(), request, settings)
      wake.saw(request, versions)
      return result
    },
    assign: async (assignments) => assign(inOrder(), assignments, settings),
    launches: async (query) => launches(inOrder(), query),
    reserve: async (request) => reserve(inOrder(), request, drawRequestId),
    renew: async (leases, leaseMs) => renew(inOrder(), leases, leaseMs),
    settle: (items) => calls.settle(items),
    async settleAndClaim(items, request) {
      const { versions, blocked: _, ...result } = await settleAndClaim(inOrder(), items, request, settings)
      wake.saw(request, versions)
      return result
    },
    standings: async (ids) => standings(inOrder(), ids),
    expired: async (max) => expired(inOrder(), max, thresholds),

    change: async (request) => change(inOrder(), request, drawRequestId),
    retry: async (id, { by, maxRetries }) => retry(inOrder(), id, by, maxRetries, drawRequestId),

    pause: async (scope, by) => pause(inOrder(), scope, by, drawRequestId),
    resume: async (scope, by) => resume(inOrder(), scope, by, drawRequestId),
    limit: async (scope, concurrency, by) => limit(inOrder(), scope, concurrency, by, drawRequestId),

    breakers: async (page) => listBreakers(inOrder(), page),
    resetBreaker: async (name, by) => resetBreaker(inOrder(), name, by, drawRequestId),

    register: async (registration) => register(inOrder(), registration, drawRequestId),
    beat: async (report) => beat(inOrder(), report),
    probed: async (reports) => probed(inOrder(), reports, drawRequestId),
    deregister: async (worker, epoch) => deregister(inOrder(), worker, epoch),
    worker: async (id) => (await findWorkers(inOrder(), [id], thresholds)).found[0] ?? null,
    workers: async (page) => listWorkers(inOrder(), page, thresholds),

    now: async () => storeTime(inOrder()),
    task: async (id) => findTask(inOrder(), id),
    tasks: async (query) => listTasks(inOrder(), query),
    execution: async (id, attempt) => findExecution(inOrder(), id, attempt),
    executions: async (id, page) => listExecutions(inOrder(), id, page),
    explain: async (id) => explain(inOrder(), id, thresholds),
    lanes: async (query) => listLanes(inOrder(), query),
    failureGroups: async (query) => listFailureGroups(inOrder(), query),
    counts: async (query) => counts(inOrder(), query),
    series: async (query) => series(inOrder(), query),

    journal: journalOf(partition, drawRequestId),
    collection: (definition) => collectionOf(partition, definition, drawRequestId),
    retain: async (rules, options) => retain(inOrder(), rules, options, drawRequestId),
    inspect: async (request) => inspect(inOrder(), request, drawRequestId),

    mark: () => wake.mark(),
    wait: (interest, timeoutMs, signal) => wake.wait(interest, timeoutMs, signal),
    close: () =>
      calls.close(() => {
        wake.close()
        return parts.close()
      }),
  }
}
