// The port's verbs over several partitions, each handed to its module. A verb on one task stays one atomic step in its
// partition; what spans partitions is put together here, and says in its module what that means.

import type { Durability, Engine, EngineInfo, Voucher } from '@reprise/core'
import { holdPage, tenantPage } from '@reprise/core/engine'
import { retry } from '../change.ts'
import { collectionOf } from '../collection.ts'
import { OrderedCalls } from '../ordered-calls.ts'
import { listDeparted } from '../registry.ts'
import { inGroups, resultOf } from '../settle.ts'
import { tenantParts } from '../tenants.ts'
import type { Wake } from '../wake.ts'
import { Backlogs } from './backlogs.ts'
import { listAllBreakers, resetBreakerIn } from './breakers.ts'
import { changeAll } from './change.ts'
import { Claiming } from './claim.ts'
import { Evidence } from './evidence.ts'
import { listFailureGroups } from './failure-groups.ts'
import { everyHoldIn, pauseAll, resumeAll } from './gates.ts'
import { assignAll, launchesIn } from './handover.ts'
import { inspectAll } from './inspect.ts'
import { journalOfAll } from './journal.ts'
import { Keys } from './keys.ts'
import { countAll, listLanes, seriesOfAll } from './lanes.ts'
import { expiredIn, renewAll, settleAll, vouchInAll } from './leases.ts'
import type { Partitions } from './partitions.ts'
import { beatAll, deregisterAll, findAllWorkers, listAllWorkers, probedAll, registerAll } from './registry.ts'
import { reserve } from './reserve.ts'
import { retainAll } from './retention.ts'
import { Slots } from './slots.ts'
import { standingsIn, statusesIn, storeTimeIn } from './standings.ts'
import { Submitting } from './submit.ts'
import { executionIn, executionsIn, explain, findTaskIn, listTasks, logsIn } from './tasks.ts'

export interface PartitionedEngineParts {
  readonly store: Partitions
  readonly wake: Wake
  readonly info: EngineInfo
  readonly durability: () => Promise<Durability>
  readonly maxBacklog: number
  readonly voucher: () => Voucher | null
  /** Ends what the engine was opened with. */
  readonly close: () => Promise<void>
}

export function partitionedEngine(parts: PartitionedEngineParts): Engine {
  const { store, wake, maxBacklog } = parts
  const backlogs = new Backlogs(store)
  const keys = new Keys(store)
  const slots = new Slots(store)
  const submitting = new Submitting(store, backlogs, keys, maxBacklog)
  const evidence = new Evidence(store)
  const claiming = new Claiming(store, backlogs, evidence, slots, wake)
  const calls = new OrderedCalls(
    store,
    (groups) => submitting.submit(groups),
    async (groups) => {
      const settlements = groups.flat()
      const answers = await settleAll(store, settlements)
      await evidence.settled(settlements, answers)
      return inGroups(groups, answers.map(resultOf))
    },
  )
  const inOrder = (): Partitions => calls.inOrder()

  return {
    info: parts.info,
    durability: parts.durability,
    healthThresholds: store.home.thresholds,

    submit: (tasks) => calls.submit(tasks),
    async claim(request) {
      inOrder()
      return claiming.claim(request)
    },
    assign: async (assignments) => assignAll(inOrder(), assignments, evidence),
    launches: async (query) => launchesIn(inOrder(), query),
    reserve: async (request) => reserve(inOrder(), request, keys, slots),
    renew: async (leases, leaseMs) => renewAll(inOrder(), leases, leaseMs),
    vouch: async (request) => vouchInAll(inOrder(), request),
    voucher: parts.voucher,
    settle: (items) => calls.settle(items),
    async settleAndClaim(items, request) {
      inOrder()
      return claiming.settleAndClaim(items, request)
    },
    standings: async (ids) => standingsIn(inOrder(), ids),
    statuses: async (ids) => statusesIn(inOrder(), ids),
    async expired(max) {
      const found = await expiredIn(inOrder(), max)
      await slots.finish()
      return found
    },

    change: async (request) => changeAll(inOrder(), request),
    retry: async (id, request) => retry(inOrder().of(id), id, request),

    pause: async (scope, by) => pauseAll(inOrder(), scope, by),
    resume: async (scope, by) => resumeAll(inOrder(), scope, by),
    async limit(scope, concurrency, by) {
      inOrder()
      await slots.setLimit(scope, concurrency, by)
    },

    breakers: async (page) => listAllBreakers(inOrder(), page),
    resetBreaker: async (name, by, tenants) => resetBreakerIn(inOrder(), name, by, tenants),

    async register(registration) {
      evidence.forget(registration.worker)
      return registerAll(inOrder(), registration)
    },
    async beat(report) {
      evidence.doubt(report.worker)
      const [result] = await Promise.all([beatAll(inOrder(), report), evidence.flush(report.worker)])
      return result
    },
    async probed(reports) {
      for (const { worker } of reports) evidence.doubt(worker)
      await probedAll(inOrder(), reports)
    },
    deregister: async (worker, epoch) => deregisterAll(inOrder(), worker, epoch),
    async worker(id) {
      await evidence.flush(id)
      return (await findAllWorkers(inOrder(), [id]))[0] ?? null
    },
    async workers(page) {
      await evidence.flush()
      return listAllWorkers(inOrder(), page)
    },
    departed: async (page) => listDeparted(inOrder().home, page),

    now: async () => storeTimeIn(inOrder()),
    task: async (id, look) => findTaskIn(inOrder(), id, look),
    tasks: async (query) => listTasks(inOrder(), query),
    execution: async (id, attempt) => executionIn(inOrder(), id, attempt),
    executions: async (id, page) => executionsIn(inOrder(), id, page),
    logs: async (id) => logsIn(inOrder(), id),
    explain: async (id, look = {}) => explain(inOrder(), id, look),
    lanes: async (query) => listLanes(inOrder(), query),
    holds: async (query) => holdPage(await everyHoldIn(inOrder()), query),
    failureGroups: async (query) => listFailureGroups(inOrder(), query),
    tenants: async (page) => tenantPage((await inOrder().each(tenantParts)).flat(), page),
    counts: async (query) => countAll(inOrder(), query),
    series: async (query) => seriesOfAll(inOrder(), query),

    journal: journalOfAll(store),
    collection: (definition) => collectionOf(store.home, definition),
    retain: async (rules, options) => retainAll(inOrder(), rules, options, keys),
    inspect: async (request) => inspectAll(inOrder(), request),
    setbacks: async () => (await inOrder().each((partition) => partition.witness.look(partition))).flat(),

    mark: () => wake.mark(),
    wait: (interest, timeoutMs, signal) => wake.wait(interest, timeoutMs, signal),
    close: () =>
      calls.close(() => {
        wake.close()
        return parts.close()
      }),
  }
}
