// Why a task is not running now, put together from facts an engine looked up. Pure, so that every engine explains alike.

import { formatDuration } from '../model/duration.ts'
import type { Task } from '../model/task.ts'
import type { Breaker } from '../policy/breaker.ts'
import type { HealthThresholds } from '../workers/health.ts'
import { isAlive } from '../workers/liveness.ts'
import type { By, Rank, Scope } from './changes.ts'
import type { Explanation, Gate, WorkerVerdict, WorkerView } from './queries.ts'

export interface ExplainFacts {
  readonly task: Task
  readonly now: number
  /** Holds and limits that match the task's lane. */
  readonly holds: readonly { readonly scope: Scope; readonly by: By; readonly since: number; readonly rank: Rank }[]
  readonly limits: readonly {
    readonly scope: Scope
    readonly running: number
    readonly concurrency: number
    readonly rank: Rank
  }[]
  /** The breakers that cover the task's lane: by name, those of all tenants before the tenant's own. */
  readonly breakers: readonly Breaker[]
  /** By id. */
  readonly workers: readonly WorkerView[]
  readonly thresholds: HealthThresholds
  /** Whether the task is kept from workers that are not well, unless health matters to nobody; as its settings say if missing. */
  readonly healthAware?: boolean | undefined
}

export const EXPLAIN_WORKERS_MAX = 100

export function explain(facts: ExplainFacts): Explanation {
  const { task, now } = facts
  const workers = considered(facts)
  if (task.state.status !== 'queued' && task.state.status !== 'waiting') {
    const nextAt = task.state.status === 'running' ? task.state.leaseUntil : null
    return { task, summary: endedOrRunning(task, now), gates: [], workers, nextAt }
  }
  const gates: Gate[] = []
  if (task.state.status === 'waiting' && task.state.dueAt > now) {
    const { dueAt, reason, quota } = task.state
    gates.push(quota === null ? { kind: 'not_due', dueAt, reason } : { kind: 'retry_quota', name: quota, dueAt })
  }
  gates.push(...laneGates(facts))
  if (!workers.some(({ verdict }) => verdict === 'eligible' || verdict === 'degraded'))
    gates.push({ kind: 'no_worker' })
  return {
    task,
    summary: held(task, gates, workers, now),
    gates,
    workers,
    nextAt: task.state.status === 'waiting' ? task.state.dueAt : nextChange(task, task.state.expiresAt, gates),
  }
}

/** What holds a lane now: its pauses, its breakers, then its full limits. */
export function laneGates({ holds, limits, breakers }: Pick<ExplainFacts, 'holds' | 'limits' | 'breakers'>): Gate[] {
  return [
    ...holds.map((hold) => ({ kind: 'paused', ...hold }) as const),
    ...breakerGates(breakers),
    ...limits
      .filter(({ running, concurrency }) => running >= concurrency)
      .map((full) => ({ kind: 'concurrency', ...full }) as const),
  ]
}

/** What breakers that are not closed mean for the lanes they cover. */
function breakerGates(breakers: readonly Breaker[]): Gate[] {
  return breakers.flatMap(({ name, tenant, state }): Gate[] => {
    if (state.status === 'closed') return []
    const until = state.status === 'open' ? state.until : null
    return [{ kind: 'breaker', name, tenant, status: state.status, since: state.since, until }]
  })
}

/**
 * When its queue TTL or its deadline ends it, or an open breaker lets probes through, whichever comes first. The deadline
 * binds the first generation only.
 */
function nextChange(task: Task, expiresAt: number | null, gates: readonly Gate[]): number | null {
  const opening = gates.map((gate) => (gate.kind === 'breaker' ? gate.until : null))
  const times = [expiresAt, task.generation === 1 ? task.deadlineAt : null, ...opening].filter((at) => at !== null)
  return times.length === 0 ? null : Math.min(...times)
}

/** Every worker with its verdict; of too many, those that serve the task's pool first. */
function considered(facts: ExplainFacts): Explanation['workers'] {
  const all = facts.workers.map((worker) => ({ worker: worker.worker, ...verdictOn(worker, facts) }))
  if (all.length <= EXPLAIN_WORKERS_MAX) return all
  const elsewhere = ({ verdict }: { readonly verdict: WorkerVerdict }): number => (verdict === 'other_pool' ? 1 : 0)
  return all.toSorted((a, b) => elsewhere(a) - elsewhere(b)).slice(0, EXPLAIN_WORKERS_MAX)
}

/** Whether a scope covers a lane. */
export function scopeMatches(scope: Scope, lane: Required<Scope>): boolean {
  return (
    (scope.pool === undefined || scope.pool === lane.pool) &&
    (scope.action === undefined || scope.action === lane.action) &&
    (scope.tenant === undefined || scope.tenant === lane.tenant)
  )
}

/** The scope in words: "pool 'gpu', tenant 'acme'", or 'all lanes'. */
export function scopeText(scope: Scope): string {
  const parts = (['pool', 'action', 'tenant'] as const).flatMap((part) =>
    scope[part] === undefined ? [] : [`${part} '${scope[part]}'`],
  )
  return parts.length === 0 ? 'all lanes' : parts.join(', ')
}

function verdictOn(
  worker: WorkerView,
  { task, now, thresholds, healthAware = task.settings.healthAware ?? true }: ExplainFacts,
): { readonly verdict: WorkerVerdict; readonly reasons: readonly string[] } {
  if (!worker.pools.includes(task.pool)) return { verdict: 'other_pool', reasons: [] }
  if (worker.actions !== null && !worker.actions.includes(task.action)) return { verdict: 'other_actions', reasons: [] }
  if (worker.draining) return { verdict: 'draining', reasons: [] }
  if (worker.health.status === 'healthy') return { verdict: 'eligible', reasons: [] }
  const { status, reasons } = worker.health
  const isAny = !(thresholds.enabled && healthAware) && isAlive(worker, now, thresholds.heartbeatStaleMs)
  return { verdict: isAny ? 'eligible' : status, reasons }
}

function held(task: Task, gates: readonly Gate[], workers: Explanation['workers'], now: number): string {
  const first = gates[0]
  if (first === undefined)
    return task.state.status === 'waiting'
      ? 'It is due and will be queued by the next claim.'
      : 'It is queued and can be claimed.'
  switch (first.kind) {
    case 'not_due':
      return `It waits (${first.reason}) and is due in ${formatDuration(first.dueAt - now)}.`
    case 'paused':
      return `${capital(scopeText(first.scope))} ${isAll(first.scope) ? 'are' : 'is'} paused by ${first.by.actor}: ${first.by.reason}`
    case 'concurrency':
      return isAll(first.scope)
        ? `All lanes run ${first.running} tasks, their limit is ${first.concurrency}.`
        : `${capital(scopeText(first.scope))} runs ${first.running} tasks, its limit is ${first.concurrency}.`
    case 'retry_quota':
      return `Its retry is over the quota '${first.name}' and was moved: it is due in ${formatDuration(first.dueAt - now)}.`
    case 'breaker':
      return breakerSentence(first, now)
    case 'no_worker':
      return noWorker(task, workers)
  }
}

function breakerSentence(gate: Gate & { readonly kind: 'breaker' }, now: number): string {
  const breaker = `Breaker '${gate.name}'${gate.tenant === null ? '' : ` of tenant '${gate.tenant}'`}`
  switch (gate.status) {
    case 'open': {
      const wait = formatDuration(Math.max((gate.until ?? now) - now, 0))
      return `${breaker} is open: too much failed. It lets a few tasks through in ${wait}.`
    }
    case 'half_open':
      return `${breaker} lets a few tasks through to see whether they succeed.`
    case 'ramping':
      return `${breaker} lets more and more tasks through again.`
  }
}

function noWorker({ action, pool }: Task, workers: Explanation['workers']): string {
  const inPool = workers.filter(({ verdict }) => verdict !== 'other_pool')
  if (inPool.length === 0) return `No worker is registered in pool '${pool}'.`
  if (inPool.every(({ verdict }) => verdict === 'other_actions')) {
    return `No worker in pool '${pool}' runs action '${action}': add it to the actions of one.`
  }
  return `No worker that runs action '${action}' in pool '${pool}' takes work now.`
}

function endedOrRunning({ state }: Task, now: number): string {
  if (state.status === 'running') return runningSentence(state, now)
  if (state.status === 'dead') return `It is dead (${state.reason}): ${state.failure.message}`
  return `It has ended as ${state.status}.`
}

function runningSentence(state: Task['state'] & { readonly status: 'running' }, now: number): string {
  const age = formatDuration(now - state.startedAt)
  switch (state.stage) {
    case 'run':
      return `Attempt ${state.attempt} has been running on '${state.worker}' for ${age}.`
    case 'dispatch':
      return `Attempt ${state.attempt} is with dispatcher '${state.worker}', which looks for a worker.`
    case 'inbox':
      return `Attempt ${state.attempt} lies in the inbox of worker '${state.worker}'.`
    case 'launch':
      return state.handle === null
        ? `Attempt ${state.attempt} is being launched by '${state.worker}'.`
        : `Attempt ${state.attempt} was launched ${age} ago as '${state.handle}'.`
  }
}

function isAll(scope: Scope): boolean {
  return scope.pool === undefined && scope.action === undefined && scope.tenant === undefined
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
