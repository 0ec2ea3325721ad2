// The audit at the end: the same facts from three records that are written apart. The store keeps counters; the list of
// tasks says where each one stands; the journal tells of every attempt that did not go well. They must agree.

import { type Client, type OperationOutput, pages } from '@reprise/client'
import {
  type Counts,
  type Engine,
  type FailureGroup,
  type JournalEntry,
  TASK_STATUSES,
  type TaskStatus,
} from '@reprise/core'

type Task = OperationOutput<'getTask'>

interface AttemptCounts {
  readonly made: number
  readonly failed: number
  readonly lost: number
  /** Attempts after the first of a task. */
  readonly again: number
}

export interface DeadGroup {
  readonly group: FailureGroup
  /** Why the newest of them was not tried again. */
  readonly why: string
}

export interface Audit {
  /** What the client was told at submission. */
  readonly acknowledged: number
  readonly kept: Counts
  /** Counted one by one from the task list. */
  readonly recounted: Readonly<Record<TaskStatus, number>> & { readonly accepted: number }
  readonly attempts: AttemptCounts
  readonly journal: Omit<AttemptCounts, 'made'>
  readonly deadGroups: readonly DeadGroup[]
}

const PAGE_MAX = 500

export async function audit(client: Client, engine: Engine, acknowledged: number): Promise<Audit> {
  const tasks = await allTasks(client)
  const ran = tasks.filter(({ attempt }) => attempt > 0)
  const entries = await allEntries(engine)
  const failed = entries.filter(({ type }) => type === 'execution.failed' || type === 'execution.expired')
  const lost = entries.filter(({ type }) => type === 'execution.lost')
  const made = sum(tasks, ({ attempt }) => attempt)
  return {
    acknowledged,
    kept: await client.counts(),
    recounted: { accepted: tasks.length, ...byStatus(tasks) },
    attempts: {
      made,
      failed: sum(tasks, ({ failures }) => failures),
      lost: sum(tasks, ({ losses }) => losses),
      again: made - ran.length,
    },
    journal: {
      failed: failed.length,
      lost: lost.length,
      again: [...failed, ...lost].filter(({ data }) => data.decision === 'retry').length,
    },
    deadGroups: await deadGroups(client, engine),
  }
}

/** Everything that does not agree, in words. Empty if nothing is lost. */
export function discrepancies({ acknowledged, kept, recounted, attempts, journal, deadGroups }: Audit): string[] {
  const claims: readonly (readonly [what: string, one: number, other: number])[] = [
    ['Tasks acknowledged to the client, and accepted by the store', acknowledged, kept.accepted],
    ['Tasks accepted, and found in the task list', kept.accepted, recounted.accepted],
    ['Tasks accepted, and the sum of all states', kept.accepted, sumOfStates(kept)],
    ...TASK_STATUSES.map((status) => [`Tasks ${status}, kept and recounted`, kept[status], recounted[status]] as const),
    ['Tasks that have not ended, and none', unfinished(kept), 0],
    ['Attempts made, and succeeded + failed + lost', attempts.made, kept.succeeded + attempts.failed + attempts.lost],
    ['Failed attempts in the task list, and in the journal', attempts.failed, journal.failed],
    ['Lost attempts in the task list, and in the journal', attempts.lost, journal.lost],
    ['Second and later attempts, and retries in the journal', attempts.again, journal.again],
    ['Dead letters, and those in failure groups', kept.dead, sum(deadGroups, ({ group }) => group.count)],
  ]
  return claims.filter(([, one, other]) => one !== other).map(([what, one, other]) => `${what}: ${one} ≠ ${other}`)
}

export const unfinished = ({ queued, waiting, running }: Counts): number => queued + waiting + running

const sumOfStates = (counts: Counts): number => counts.removed + sum(TASK_STATUSES, (status) => counts[status])

async function allTasks(client: Client): Promise<Task[]> {
  const tasks: Task[] = []
  for await (const { items } of pages(client.listTasks, { limit: PAGE_MAX })) tasks.push(...items)
  return tasks
}

async function allEntries(engine: Engine): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = []
  let page = await engine.journal.read({ limit: PAGE_MAX })
  while (page.entries.length > 0) {
    entries.push(...page.entries)
    page = await engine.journal.read({ limit: PAGE_MAX, cursor: page.cursor })
  }
  return entries
}

async function deadGroups(client: Client, engine: Engine): Promise<DeadGroup[]> {
  const { items } = await engine.failureGroups({ limit: PAGE_MAX })
  return Promise.all(
    items.map(async (group) => {
      const newest = await client.getTask({ id: group.lastTask })
      return { group, why: newest.state.status === 'dead' ? newest.state.reason : 'redriven since' }
    }),
  )
}

function byStatus(tasks: readonly Task[]): Record<TaskStatus, number> {
  const counts = { queued: 0, waiting: 0, running: 0, succeeded: 0, dead: 0, discarded: 0, cancelled: 0 }
  for (const { state } of tasks) counts[state.status]++
  return counts
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0)
}
