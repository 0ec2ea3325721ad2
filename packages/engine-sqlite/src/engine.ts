// The SQLite engine: the port's verbs, each handed to its module inside a grouped transaction (writes) or run directly
// (reads). This file only wires; what the verbs do stands in the files named after them.

import { resolve } from 'node:path'
import {
  type Clock,
  DEFAULT_HEALTH_THRESHOLDS,
  type Engine,
  type HealthThresholds,
  isRepriseError,
  type Random,
  StoreClosedError,
  systemClock,
  systemRandom,
  type TaskSpec,
} from '@reprise/core'
import { holdPage } from '@reprise/core/engine'
import { listBreakers, resetBreaker } from './breakers.ts'
import { change, retry } from './change.ts'
import { Checkpoints } from './checkpoints.ts'
import { checkClaim, claim } from './claim.ts'
import { collectionOf } from './collection.ts'
import { Database, type Durability, isBusy, storeError } from './database.ts'
import { assign, listLaunches } from './dispatch.ts'
import { allGates, limit, pause, resume } from './gates.ts'
import { GroupCommit } from './group-commit.ts'
import { checkInspection, inspectPage } from './inspect.ts'
import { journalOf } from './journal.ts'
import { expired, renew } from './leases.ts'
import { logsOf } from './logs.ts'
import { migrate } from './migrate.ts'
import { refuseEmpty, refuseMissingFile } from './missing.ts'
import {
  counts,
  explain,
  findExecution,
  findWorker,
  listDeparted,
  listExecutions,
  listFailureGroups,
  listLanes,
  listWorkers,
  series,
  tenants,
} from './queries.ts'
import { recount } from './recount.ts'
import { beat, deregister, probed, register } from './registry.ts'
import { reserve } from './reserve.ts'
import { retain } from './retention.ts'
import { settle } from './settle.ts'
import { submit } from './submit.ts'
import { findStandings, findStatuses, findTask, listTasks } from './tasks.ts'
import { fileVoucher, vouch } from './vouch.ts'
import { Wake } from './wake.ts'
import { Witness } from './witness.ts'

export interface SqliteEngineOptions {
  /** A file, created if it is missing; or ':memory:' for one that ends with the process. */
  readonly path: string
  /** `false` refuses a file that is missing or holds no store, with `REPRISE_STORE_MISSING`; true if not given. */
  readonly create?: boolean
  /** `durable` (the default) syncs every commit to disk; `fast` may lose the last moments if the machine loses power, never if a process dies. */
  readonly durability?: Durability
  readonly clock?: Clock
  readonly random?: Random
  /** Queued and waiting tasks together; more are refused. */
  readonly maxBacklog?: number
  readonly healthThresholds?: HealthThresholds
}

/** What the SQLite engine can do beyond the port. */
export interface SqliteEngine extends Engine {
  /** Copies the store to a new file while it is in use. */
  backup(path: string): Promise<void>
}

const DEFAULT_BACKLOG_MAX = 10_000_000
const OPEN_PATIENCE_MS = 10_000
const OPEN_RETRY_MS = 20

export async function openSqliteEngine(options: SqliteEngineOptions): Promise<SqliteEngine> {
  const { durability = 'durable', clock = systemClock, random = systemRandom } = options
  const inMemory = options.path === ':memory:'
  const db = await openMigrated(options.path, durability, inMemory || options.create !== false)
  const wake = new Wake(inMemory ? null : options.path, clock, () => db.changedElsewhere())
  const witness = new Witness(db, inMemory ? null : options.path, clock)
  const checkpoints = inMemory ? null : new Checkpoints(db, systemClock, options.path)
  const commits = new GroupCommit(db, clock, random, wake, checkpoints)
  const thresholds = options.healthThresholds ?? DEFAULT_HEALTH_THRESHOLDS
  const maxBacklog = options.maxBacklog ?? DEFAULT_BACKLOG_MAX
  let closed = false

  const read = async <T>(look: () => T): Promise<T> => {
    if (closed) throw new StoreClosedError()
    try {
      return db.snapshot(look)
    } catch (error) {
      throw storeError(error)
    }
  }

  return {
    info: { kind: 'sqlite', durability: durabilityText(inMemory, durability), callsAtOnce: 1, lacks: [] },
    healthThresholds: thresholds,

    submit: async (tasks) => commits.write((transaction) => submit(transaction, tasks, maxBacklog), sizeOf(tasks)),
    claim: (request) =>
      commits.write((transaction) => {
        checkClaim(request)
        return claim(transaction, request, thresholds)
      }),
    assign: (assignments) => commits.write((transaction) => assign(transaction, assignments, thresholds)),
    launches: (query) => read(() => listLaunches(db, query, clock.now())),
    async reserve(request) {
      const answer = await commits.write((transaction) => reserve(transaction, request))
      if (isRepriseError(answer)) throw answer
      return answer
    },
    renew: (leases, leaseMs) => commits.write((transaction) => renew(transaction, leases, leaseMs)),
    vouch: (request) => commits.write((transaction) => vouch(transaction, request)),
    voucher: () => (inMemory || clock !== systemClock ? null : fileVoucher(resolve(options.path))),
    settle: (settlements) => commits.write((transaction) => settle(transaction, settlements)),
    settleAndClaim: (settlements, request) =>
      commits.write((transaction) => {
        checkClaim(request)
        const settled = settle(transaction, settlements)
        try {
          return { settled, ...claim(transaction, request, thresholds) }
        } catch (error) {
          // The settlements stand; a worker that may not claim hears of it at its next claim.
          if (!isRepriseError(error)) throw error
          return { settled, claimed: [], nextDueAt: null, heldBack: null, now: transaction.now }
        }
      }),
    standings: (ids) => read(() => findStandings(db, ids, clock.now())),
    // In line with the writes: if a renewal has to wait for the lock, so has the sweep that would call its lease lost.
    expired: (max) => commits.write((transaction) => expired(transaction, max, thresholds.heartbeatStaleMs)),

    change: (request) => commits.write((transaction) => change(transaction, request)),
    retry: (id, request) => commits.write((transaction) => retry(transaction, id, request)),

    pause: (scope, by) => commits.write((transaction) => pause(transaction, scope, by)),
    resume: (scope, by) => commits.write((transaction) => resume(transaction, scope, by)),
    limit: (scope, concurrency, by) => commits.write((transaction) => limit(transaction, scope, concurrency, by)),

    breakers: (query) => read(() => listBreakers(db, query, clock.now())),
    resetBreaker: (name, by, tenants) => commits.write((transaction) => resetBreaker(transaction, name, by, tenants)),

    register: (registration) => commits.write((transaction) => register(transaction, registration)),
    beat: (report) => commits.write((transaction) => beat(transaction, report)),
    probed: (reports) => commits.write((transaction) => probed(transaction, reports)),
    deregister: (worker, epoch) => commits.write((transaction) => deregister(transaction, worker, epoch)),
    worker: (id) => read(() => findWorker(db, id, clock.now(), thresholds)),
    workers: (page) => read(() => listWorkers(db, page, clock.now(), thresholds)),
    departed: (page) => read(() => listDeparted(db, page, clock.now())),

    now: () => read(() => clock.now()),
    durability: () => read(() => ({ durability: durabilityText(inMemory, durability) })),
    task: (id, look) => read(() => findTask(db, id, clock.now(), look)),
    statuses: (ids) => read(() => findStatuses(db, ids)),
    tasks: (query) => read(() => listTasks(db, query, clock.now())),
    execution: (id, attempt) => read(() => findExecution(db, id, attempt)),
    executions: (id, page) => read(() => listExecutions(db, id, page)),
    logs: (id) => read(() => logsOf(db, id)),
    explain: (id, look = {}) => read(() => explain(db, id, clock.now(), thresholds, look)),
    lanes: (query) => read(() => listLanes(db, query, clock.now())),
    holds: (query) => read(() => holdPage(allGates(db, []), query)),
    failureGroups: (query) => read(() => listFailureGroups(db, query)),
    tenants: (page) => read(() => tenants(db, page)),
    counts: (query) => read(() => counts(db, query)),
    series: (query) => read(() => series(db, query)),

    journal: journalOf(db, commits, read, clock),
    collection: (definition) => collectionOf(db, commits, read, definition),
    retain: (rules, settings) => commits.write((transaction) => retain(transaction, rules, settings ?? {})),
    async inspect(request) {
      if (closed) throw new StoreClosedError()
      const { stage, position } = checkInspection(request)
      if (stage === 'counts') return recount(db, clock, commits, request)
      const place = { stage, position }
      return request.repair
        ? commits.write((transaction) => inspectPage(transaction, transaction, place, request))
        : read(() => inspectPage({ db, now: clock.now() }, null, place, request))
    },
    setbacks: () => read(() => witness.look()),

    mark: () => wake.mark(),
    wait: (interest, timeoutMs, signal) => wake.wait(interest, timeoutMs, signal),
    backup: async (path) => {
      if (closed) throw new StoreClosedError()
      await db.backupTo(path)
    },
    async close() {
      if (closed) return
      commits.close()
      closed = true
      witness.close()
      wake.close()
      await checkpoints?.close()
      db.close()
    },
  }
}

async function openMigrated(path: string, durability: Durability, creates: boolean): Promise<Database> {
  // Another process may be creating or migrating the same file: its lock is waited for, in real time.
  const startedAt = systemClock.monotonic()
  for (;;) {
    let db: Database | null = null
    try {
      if (!creates) refuseMissingFile(path)
      db = new Database(path, durability)
      if (!creates) refuseEmpty(db, path)
      migrate(db)
      return db
    } catch (error) {
      db?.close()
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
      if (!isBusy(cause) || systemClock.monotonic() - startedAt > OPEN_PATIENCE_MS) throw storeError(error)
      await new Promise<void>((resolve) => systemClock.after(OPEN_RETRY_MS, resolve, { hold: true }))
    }
  }
}

function sizeOf(tasks: readonly TaskSpec[]): number {
  let size = 0
  for (const { payload } of tasks) size += payload.length
  return size
}

function durabilityText(inMemory: boolean, durability: Durability): string {
  if (inMemory) return 'in memory: ends with the process'
  return durability === 'durable'
    ? 'durable: every commit is synced to disk'
    : 'fast: survives a crash of the process, not a loss of power'
}
