// The oracle: docs/engine-port.md as plain code, in memory, written to be read rather than to be fast. Every engine is
// held against it. Not an engine to run anything on: it forgets everything and looks at all tasks for every question.

import { type Engine, StoreClosedError } from '@reprise/core'
import type { EngineOptions } from '../factory.ts'
import { breakers, resetBreaker } from './breakers.ts'
import { change, retry } from './change.ts'
import { claim, reserve } from './claim.ts'
import { openCollection } from './collections.ts'
import { assign, launches } from './dispatch.ts'
import { limit, listHolds, pause, resume } from './gates.ts'
import { inspect } from './inspect.ts'
import { append, from, read } from './journal.ts'
import { renew, vouch } from './leases.ts'
import { expired } from './overdue.ts'
import * as queries from './queries.ts'
import { beat, departed, deregister, probed, register, workers, workerViews } from './registry.ts'
import { retain } from './retention.ts'
import { settle } from './settle.ts'
import { settleAndClaim } from './settle-and-claim.ts'
import { createState, type State } from './state.ts'
import { submit } from './submit.ts'
import { createWaiters } from './waiters.ts'

const DURABILITY = 'none: everything is gone when the process ends'

export function createModel(options: EngineOptions): Engine {
  const state = createState(options)
  const waiters = createWaiters(options.clock, () => state.changes)
  let isClosed = false

  // A body runs without a pause in between, so each verb is one atomic step.
  const reading = async <T>(body: (state: State) => T): Promise<T> => {
    if (isClosed) throw new StoreClosedError()
    state.now = options.clock.now()
    return body(state)
  }
  const writing = async <T>(body: (state: State) => T): Promise<T> => {
    const before = state.changes
    try {
      return await reading(body)
    } finally {
      if (state.changes > before) waiters.wake()
    }
  }

  return {
    info: { kind: 'model', durability: DURABILITY, callsAtOnce: 1, lacks: [] },
    healthThresholds: state.healthThresholds,
    submit: (tasks) => writing(() => submit(state, tasks)),
    claim: (request) => writing(() => claim(state, request)),
    assign: (assignments) => writing(() => assign(state, assignments)),
    launches: (query) => reading(() => launches(state, query)),
    reserve: (request) => writing(() => reserve(state, request)),
    renew: (leases, leaseMs) => writing(() => renew(state, leases, leaseMs)),
    vouch: (request) => writing(() => vouch(state, request)),
    voucher: () => null,
    settle: (settlements) => writing(() => settle(state, settlements)),
    settleAndClaim: (settlements, request) => writing(() => settleAndClaim(state, settlements, request)),
    statuses: (ids) => reading(() => queries.statuses(state, ids)),
    standings: (ids) => reading(() => queries.standings(state, ids)),
    expired: (limit) => reading(() => expired(state, limit)),
    change: (request) => writing(() => change(state, request)),
    retry: (id, retryOptions) => writing(() => retry(state, id, retryOptions)),
    pause: (scope, by) => writing(() => pause(state, scope, by)),
    resume: (scope, by) => writing(() => resume(state, scope, by)),
    limit: (scope, concurrency, by) => writing(() => limit(state, scope, concurrency, by)),
    breakers: (query) => reading(() => breakers(state, query)),
    resetBreaker: (name, by, tenants) => writing(() => resetBreaker(state, name, by, tenants)),
    register: (registration) => writing(() => register(state, registration)),
    beat: (report) => writing(() => beat(state, report)),
    probed: (reports) => writing(() => probed(state, reports)),
    deregister: (worker, epoch) => writing(() => deregister(state, worker, epoch)),
    worker: (id) => reading(() => workerViews(state).find(({ worker }) => worker === id) ?? null),
    workers: (page) => reading(() => workers(state, page)),
    departed: (page) => reading(() => departed(state, page)),
    now: () => reading(() => state.now),
    durability: () => reading(() => ({ durability: DURABILITY })),
    task: (id, look) => reading(() => queries.task(state, id, look)),
    tasks: (query) => reading(() => queries.tasks(state, query)),
    execution: (id, attempt) => reading(() => queries.execution(state, id, attempt)),
    logs: (id) => reading(() => queries.logs(state, id)),
    executions: (id, page) => reading(() => queries.executions(state, id, page)),
    explain: (id, look) => reading(() => queries.explain(state, id, look)),
    lanes: (query) => reading(() => queries.lanes(state, query)),
    holds: (query) => reading(() => listHolds(state, query)),
    failureGroups: (query) => reading(() => queries.failureGroups(state, query)),
    tenants: (page) => reading(() => queries.tenants(state, page)),
    counts: (query) => reading(() => queries.counts(state, query)),
    series: (query) => reading(() => queries.series(state, query)),
    journal: {
      append: (entries) => writing(() => append(state, entries)),
      read: (query) => reading(() => read(state, query)),
      from: (at) => reading(() => from(state, at)),
    },
    collection: (definition) => openCollection(definition, reading, writing),
    retain: (rules, retainOptions) => writing(() => retain(state, rules, retainOptions)),
    inspect: (request) => reading(() => inspect(state, request)),
    setbacks: () => reading(() => []),
    mark: waiters.mark,
    async wait(interest, timeoutMs, signal) {
      if (isClosed) throw new StoreClosedError()
      await waiters.wait(interest.since, timeoutMs, signal)
    },
    async close() {
      isClosed = true
      waiters.wake()
    },
  }
}
