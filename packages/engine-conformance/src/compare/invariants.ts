// What must hold in a store at any moment, checked directly on what the store shows of itself. The numbers are those of
// the guarantees in docs/architecture.md; 8 belongs to work orders, 12 is the comparison with the model, 13 has its own module.

import { type Counts, type Execution, TASK_STATUSES, type Task } from '@reprise/core'
import { InvariantError } from './difference.ts'
import type { Observer } from './observer.ts'
import type { StoreSnapshot } from './snapshot.ts'

export function checkInvariants(store: StoreSnapshot, observer: Observer, now: number): void {
  checkNothingLost(store, observer)
  for (const task of store.tasks) {
    const executions = store.executions.filter(({ taskId }) => taskId === task.id)
    checkLease(task, executions)
    checkAttempts(task, executions)
    checkCharges(task, executions)
    if (!observer.reserved.has(task.id)) checkBudget(task)
  }
  checkTokens(store)
  checkCounts(store)
  checkKeys(store, observer, now)
  observer.checkEnded(store.tasks, store.executions)
  observer.checkJournal()
}

function checkNothingLost({ counts, tasks }: StoreSnapshot, observer: Observer): void {
  if (counts.accepted !== observer.accepted)
    throw new InvariantError(1, `${observer.accepted} were accepted, ${counts.accepted} are counted.`)
  if (counts.removed !== observer.removed)
    throw new InvariantError(1, `${observer.removed} were removed, ${counts.removed} are counted.`)
  const kept = observer.accepted - observer.removed
  if (tasks.length !== kept) throw new InvariantError(1, `${kept} tasks should be there, ${tasks.length} are.`)
}

function checkLease({ id, state }: Task, executions: readonly Execution[]): void {
  const running = executions.filter(({ status }) => status === 'running')
  if (state.status !== 'running') {
    if (running.length > 0) throw new InvariantError(2, `${id} is ${state.status} and has a running execution.`)
    return
  }
  const [lease, second] = running
  if (lease === undefined || second !== undefined)
    throw new InvariantError(2, `${id} runs with ${running.length} leases.`)
  if (lease.token !== state.token || lease.attempt !== state.attempt)
    throw new InvariantError(2, `${id} runs under another lease than its execution.`)
}

function checkAttempts({ id, attempt }: Task, executions: readonly Execution[]): void {
  const numbers = executions.map((execution) => execution.attempt)
  const first = numbers[0]
  // A message may open a task with a later attempt; from there on there is no gap.
  const isGapless = numbers.every((number, index) => number === (first ?? 0) + index)
  if (!isGapless || (first !== undefined && numbers.at(-1) !== attempt)) {
    throw new InvariantError(3, `${id} is at attempt ${attempt} and has executions ${numbers.join(', ')}.`)
  }
}

function checkTokens({ executions }: StoreSnapshot): void {
  if (new Set(executions.map(({ token }) => token)).size !== executions.length)
    throw new InvariantError(3, 'two executions share a token.')
}

/** Every attempt that went wrong in this generation was charged in exactly one way. */
function checkCharges({ id, generation, failures, losses, parks }: Task, executions: readonly Execution[]): void {
  const own = executions.filter((execution) => execution.generation === generation)
  const failed = own.filter(({ status }) => status === 'failed').length
  const parked = own.filter(({ decision }) => decision?.kind === 'park').length
  const lost = own.filter(({ status }) => status === 'lost').length
  if (parks !== parked || failures + parks !== failed || losses !== lost) {
    const charged = `${failures} failures, ${parks} parks and ${losses} losses`
    throw new InvariantError(
      6,
      `${id} has ${charged} for ${failed} failed (${parked} parked) and ${lost} lost attempts.`,
    )
  }
}

function checkBudget({ id, losses, settings }: Task): void {
  // Losses beyond the last allowed one end the task; there is no way to more of them within a generation.
  if (losses > settings.maxLosses + 1)
    throw new InvariantError(6, `${id} was lost ${losses} times, ${settings.maxLosses} are allowed.`)
}

function checkCounts({ counts, lanes, tasks, groups }: StoreSnapshot): void {
  const sum = (parts: Counts): number => TASK_STATUSES.reduce((total, status) => total + parts[status], parts.removed)
  if (counts.accepted !== sum(counts))
    throw new InvariantError(10, `${counts.accepted} accepted is not the sum of ${JSON.stringify(counts)}.`)
  for (const status of TASK_STATUSES) {
    const recount = tasks.filter((task) => task.state.status === status).length
    if (counts[status] !== recount)
      throw new InvariantError(10, `${counts[status]} are counted as ${status}, ${recount} are.`)
  }
  for (const lane of lanes) {
    const own = tasks.filter(
      ({ pool, action, tenant }) => pool === lane.pool && action === lane.action && tenant === lane.tenant,
    )
    const isRight = TASK_STATUSES.every(
      (status) => lane.counts[status] === own.filter((task) => task.state.status === status).length,
    )
    if (!isRight || lane.counts.accepted !== sum(lane.counts))
      throw new InvariantError(10, `the counters of lane ${lane.pool}/${lane.action}/${lane.tenant} are not a recount.`)
  }
  for (const { fingerprint, count } of groups) {
    const recount = tasks.filter(
      ({ state }) => state.status === 'dead' && state.failure.fingerprint === fingerprint,
    ).length
    if (count !== recount)
      throw new InvariantError(10, `group ${fingerprint} counts ${count} dead letters, ${recount} are in it.`)
  }
}

function checkKeys({ tasks }: StoreSnapshot, observer: Observer, now: number): void {
  const keys = tasks.flatMap((task) => {
    const { tenant, action, dedupeKey } = task
    return observer.mustHoldKey(task, now) ? [JSON.stringify([tenant, action, dedupeKey])] : []
  })
  if (new Set(keys).size !== keys.length) throw new InvariantError(11, 'two tasks hold one dedupe key.')
}
