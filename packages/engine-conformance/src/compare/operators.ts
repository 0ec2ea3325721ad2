// The commands that operators, messages and the registry bring into a random run; the life of leases is in run.ts.

import {
  type By,
  type ChangeRequest,
  type ChangeResult,
  type Engine,
  present,
  type Rank,
  type ReserveRequest,
  type TaskId,
  tenantId,
} from '@reprise/core'
import type { BeatDraft, Command } from './command.ts'
import { InvariantError } from './difference.ts'
import { BREAKERS, BY, idOf, POOLS, poolOf, scopeOf, selectorOf, specOf, workerOf } from './draft.ts'
import type { Run, Side } from './pair.ts'

type OperatorCommand = Extract<
  Command,
  {
    readonly do:
      | 'bulk'
      | 'retry'
      | 'reserve'
      | 'pause'
      | 'resume'
      | 'limit'
      | 'resetBreaker'
      | 'register'
      | 'deregister'
      | 'beat'
      | 'vouch'
      | 'probed'
      | 'retain'
  }
>

const ENTRY_OF_KIND = {
  redrive: 'task.redriven',
  discard: 'task.discarded',
  cancel: 'task.cancelled',
  promote: 'task.promoted',
  revert: 'task.reverted',
} as const

export async function runOperatorCommand(run: Run, command: OperatorCommand, doing: string): Promise<void> {
  const { pair, observer } = run
  switch (command.do) {
    case 'bulk': {
      const { verb: kind, limit } = command
      const request = { kind, select: selectorOf(command.select), by: BY, limit }
      const answers = await pair.both(doing, ({ engine }) => wholeChange(engine, request))
      for (const id of answers?.engine ?? []) {
        observer.dueNow(id)
        if (kind === 'revert') observer.broughtBack(id)
      }
      observer.owe(ENTRY_OF_KIND[kind], answers?.engine.length ?? 0)
      return
    }
    case 'retry': {
      const id = idOf(command.id)
      const answers = await pair.both(doing, ({ engine }) =>
        engine.retry(id, { by: BY, maxRetries: command.maxRetries, ...present({ policy: command.named }) }),
      )
      if (answers?.engine.outcome !== 'queued') return
      observer.dueNow(id)
      observer.owe('task.retried')
      return
    }
    case 'reserve':
      return reserve(run, command, doing)
    case 'pause': {
      const scope = scopeOf(command.scope)
      const answers = await pair.both(doing, ({ engine }) => engine.pause(scope, byOf(command)))
      if (answers === null) return
      observer.holds.set(JSON.stringify(scope), scope)
      observer.owe('lanes.paused')
      return
    }
    case 'resume': {
      const scope = scopeOf(command.scope)
      const answers = await pair.both(doing, ({ engine }) => engine.resume(scope, byOf(command)))
      if (answers === null) return
      observer.holds.delete(JSON.stringify(scope))
      return
    }
    case 'limit': {
      const { concurrency } = command
      const scope = scopeOf(command.scope)
      const answers = await pair.both(doing, ({ engine }) => engine.limit(scope, concurrency, byOf(command)))
      if (answers === null) return
      if (concurrency === null) observer.limits.delete(JSON.stringify(scope))
      else observer.limits.set(JSON.stringify(scope), { scope, concurrency })
      return
    }
    case 'resetBreaker': {
      const name = BREAKERS[command.breaker % BREAKERS.length] ?? ''
      const tenants = { everyone: undefined, n0: [tenantId('n0')], 'all tenants': [null] }[command.of]
      await pair.both(doing, ({ engine }) => engine.resetBreaker(name, BY, tenants))
      return
    }
    case 'register': {
      const worker = workerOf(command.worker)
      const pools = command.pool === undefined ? POOLS : [poolOf(command.pool)]
      const registration = {
        worker,
        pools,
        actions: null,
        host: `host${command.host ?? 0}`,
        version: `${command.version ?? 0}`,
        runtimes: ['node'],
        endpoint: null,
      }
      await pair.both(doing, async ({ engine, epochs }) => {
        const { epoch } = await engine.register(registration)
        epochs.set(worker, [...(epochs.get(worker) ?? []), epoch])
        return { epoch }
      })
      return
    }
    case 'deregister': {
      const worker = workerOf(command.worker)
      await pair.both(doing, (side) => side.engine.deregister(worker, epochOf(side, command)))
      return
    }
    case 'beat': {
      const report = reportOf(command)
      await pair.both(doing, (side) => side.engine.beat({ ...report, epoch: epochOf(side, command) }))
      return
    }
    case 'vouch': {
      const { leaseMs, outlook = false } = command
      const request = { worker: workerOf(command.worker), leaseMs, outlook: outlook ? 'blocked' : null }
      await pair.both(doing, (side) => side.engine.vouch({ ...request, epoch: epochOf(side, command) }))
      return
    }
    case 'probed': {
      const { ok } = command
      const worker = workerOf(command.worker)
      await pair.both(doing, (side) => side.engine.probed([{ worker, ok, epoch: epochOf(side, command) }]))
      return
    }
    case 'retain': {
      await observer.readOn()
      const { afterMs } = command
      const rules = {
        succeededMs: afterMs,
        cancelledMs: afterMs,
        discardedMs: afterMs,
        ...(command.journal ? { journalMs: 3_600_000, seriesMs: 3_600_000 } : {}),
      }
      const answers = await pair.both(doing, ({ engine }) => engine.retain(rules))
      observer.removed += answers?.engine.tasksRemoved ?? 0
    }
  }
}

const byOf = ({ rank }: { readonly rank?: Rank | undefined }): By => (rank === undefined ? BY : { ...BY, rank })

const reportOf = (draft: BeatDraft) => ({
  worker: workerOf(draft.worker),
  inFlight: draft.inFlight ?? 1,
  queueDepth: draft.queueDepth,
  loopLagMs: draft.loopLagMs ?? 2,
  memoryBytes: 3,
  draining: draft.draining ?? false,
  maxQuietMs: draft.maxQuietMs ?? 0,
  outlook: draft.outlook === true ? 'it gets worse' : null,
  ...present({ policyVersion: draft.policyVersion }),
})

/** The current epoch of a worker, or the one before. */
function epochOf(
  { epochs }: Side,
  draft: { readonly worker: number; readonly outdated?: boolean | undefined },
): number {
  const known = epochs.get(workerOf(draft.worker)) ?? []
  return known.at(draft.outdated === true && known.length > 1 ? -2 : -1) ?? 0
}

/** Goes on until nothing is left: how far one call gets may differ, the whole may not. */
async function wholeChange(engine: Engine, request: ChangeRequest & { readonly limit: number }): Promise<TaskId[]> {
  const changed: TaskId[] = []
  let cursor: string | null = null
  do {
    const result: ChangeResult = await engine.change(cursor === null ? request : { ...request, cursor })
    if (result.changed.length > request.limit)
      throw new InvariantError(6, `one call changed ${result.changed.length} of at most ${request.limit} tasks.`)
    changed.push(...result.changed)
    cursor = result.next
  } while (cursor !== null)
  return changed
}

async function reserve(
  { pair, observer }: Run,
  command: Extract<Command, { readonly do: 'reserve' }>,
  doing: string,
): Promise<void> {
  const { attempt, maxRetries, stage = 'run' } = command
  const task = specOf(command.task, pair.now)
  const isKnown = (await pair.engine.engine.task(task.id)) !== null
  const worker = workerOf(command.worker)
  const request: ReserveRequest = { task, attempt, maxRetries, worker, leaseMs: 5_000, stage }
  const answers = await pair.both(doing, ({ engine }) => engine.reserve(request))
  if (answers === null) return
  if (!isKnown) {
    observer.acceptedOne(task, 0, pair.now)
    pair.forget(task.id)
  }
  observer.dueNow(task.id)
  observer.reserved.add(task.id)
  pair.keepLeases({ model: [answers.model], engine: [answers.engine] }, stage)
  await observer.claimed([answers.engine], stage)
}
