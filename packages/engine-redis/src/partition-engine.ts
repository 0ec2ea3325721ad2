// The port's verbs over one partition, each handed to its module. This file only wires; what the verbs do stands in the
// files named after them and in the scripts they call.

import type { Durability, Engine, EngineInfo, Voucher } from '@reprise/core'
import { holdPage, tenantPage } from '@reprise/core/engine'
import { listBreakers, resetBreaker } from './breakers.ts'
import { change, retry } from './change.ts'
import { claim, settleAndClaim } from './claim.ts'
import { collectionOf } from './collection.ts'
import { explain } from './explain.ts'
import { listFailureGroups } from './failure-groups.ts'
import { limit, pause, resume } from './gates.ts'
import { everyHold } from './gates-facts.ts'
import { assign, launches } from './handover.ts'
import { inspect } from './inspect.ts'
import { journalOf } from './journal.ts'
import { counts, listLanes, series } from './lanes.ts'
import { expired, renew } from './leases.ts'
import { logsOf } from './logs.ts'
import { OrderedCalls } from './ordered-calls.ts'
import type { Partition } from './partition.ts'
import { beat, deregister, findWorkers, listDeparted, listWorkers, probed, registerThere } from './registry.ts'
import { reserve } from './reserve.ts'
import { retain } from './retention.ts'
import { resultOf, settle } from './settle.ts'
import { standings, statuses, storeTime } from './standings.ts'
import { submit } from './submit.ts'
import { findExecution, findTask, listExecutions, listTasks } from './tasks.ts'
import { tenantParts } from './tenants.ts'
import { vouch } from './vouch.ts'
import type { Wake } from './wake.ts'

export interface PartitionEngineParts {
  readonly partition: Partition
  readonly wake: Wake
  readonly info: EngineInfo
  readonly durability: () => Promise<Durability>
  readonly maxBacklog: number
  readonly voucher: () => Voucher | null
  /** Ends what the engine was opened with. */
  readonly close: () => Promise<void>
}

export function partitionEngine(parts: PartitionEngineParts): Engine {
  const { partition, wake, maxBacklog } = parts
  const calls = new OrderedCalls(
    partition,
    (groups) => submit(partition, groups, maxBacklog),
    (groups) => settle(partition, groups),
  )
  const inOrder = (): Partition => calls.inOrder()

  return {
    info: parts.info,
    durability: parts.durability,
    healthThresholds: partition.thresholds,

    submit: (tasks) => calls.submit(tasks),
    async claim(request) {
      const { versions, blocked: _, ...result } = await claim(inOrder(), request)
      wake.saw(request, versions)
      return result
    },
    assign: async (assignments) => assign(inOrder(), assignments),
    launches: async (query) => launches(inOrder(), query),
    reserve: async (request) => reserve(inOrder(), request),
    renew: async (leases, leaseMs) => renew(inOrder(), leases, leaseMs),
    vouch: async (request) => vouch(inOrder(), request),
    voucher: parts.voucher,
    settle: (items) => calls.settle(items),
    async settleAndClaim(items, request) {
      const { versions, blocked: _, settled, ...result } = await settleAndClaim(inOrder(), items, request)
      wake.saw(request, versions)
      return { settled: settled.map(resultOf), ...result }
    },
    standings: async (ids) => standings(inOrder(), ids),
    statuses: async (ids) => statuses(inOrder(), ids),
    expired: async (max) => expired(inOrder(), max),

    change: async (request) => change(inOrder(), request),
    retry: async (id, request) => retry(inOrder(), id, request),

    pause: async (scope, by) => pause(inOrder(), scope, by),
    resume: async (scope, by) => resume(inOrder(), scope, by),
    limit: async (scope, concurrency, by) => limit(inOrder(), scope, concurrency, by),

    breakers: async (page) => listBreakers(inOrder(), page),
    resetBreaker: async (name, by, tenants) => resetBreaker(inOrder(), name, by, tenants),

    async register(registration) {
      const { epoch } = await registerThere(inOrder(), registration)
      return { epoch }
    },
    beat: async (report) => beat(inOrder(), report),
    probed: async (reports) => probed(inOrder(), reports),
    deregister: async (worker, epoch) => deregister(inOrder(), worker, epoch),
    worker: async (id) => (await findWorkers(inOrder(), [id])).found[0] ?? null,
    workers: async (page) => listWorkers(inOrder(), page),
    departed: async (page) => listDeparted(inOrder(), page),

    now: async () => storeTime(inOrder()),
    task: async (id, look) => findTask(inOrder(), id, look),
    tasks: async (query) => listTasks(inOrder(), query),
    execution: async (id, attempt) => findExecution(inOrder(), id, attempt),
    executions: async (id, page) => listExecutions(inOrder(), id, page),
    logs: async (id) => logsOf(inOrder(), id),
    explain: async (id, look = {}) => explain(inOrder(), id, look),
    lanes: async (query) => listLanes(inOrder(), query),
    holds: async (query) => holdPage(await everyHold(inOrder()), query),
    failureGroups: async (query) => listFailureGroups(inOrder(), query),
    tenants: async (page) => tenantPage(await tenantParts(inOrder()), page),
    counts: async (query) => counts(inOrder(), query),
    series: async (query) => series(inOrder(), query),

    journal: journalOf(partition),
    collection: (definition) => collectionOf(partition, definition),
    retain: async (rules, options) => retain(inOrder(), rules, options),
    inspect: async (request) => inspect(inOrder(), request),
    setbacks: async () => inOrder().witness.look(partition),

    mark: () => wake.mark(),
    wait: (interest, timeoutMs, signal) => wake.wait(interest, timeoutMs, signal),
    close: () =>
      calls.close(() => {
        wake.close()
        return parts.close()
      }),
  }
}
