// The two queues of retries, for somebody who looks into them (B11): what waits for its time, by reason, and what has ended as a
// dead letter, by cause. The counts are exact; reasons and causes are those of the tasks that a bounded look found.

import type { Invocation } from '../command/invocation.ts'
import { listed, unlessRefused } from '../command/rows.ts'
import type { FailureGroup } from '../views/overview.ts'

const LOOKED_AT_MAX = 2_000
const GROUPS_MAX = 20

interface DelayedReason {
  readonly reason: string
  readonly tasks: number
  readonly nextDueAt: number
}

export interface RetryQueues {
  readonly delayQueue: {
    readonly tasks: number
    readonly nextDueAt: number | null
    /** The most frequent first. */
    readonly reasons: readonly DelayedReason[]
    /** Whether there are more tasks than were looked at. */
    readonly isPartial: boolean
  }
  readonly deadLetters: {
    readonly tasks: number
    readonly groups: readonly FailureGroup[]
    readonly isPartial: boolean
  }
}

export async function retryQueues({ api }: Invocation): Promise<RetryQueues> {
  const { waiting, dead } = await api.counts({})
  const delayed = await listed((page) => api.listTasks({ q: 'status:waiting', ...page }), { limit: LOOKED_AT_MAX })
  const read = (page: object) => api.listFailureGroups({ order: 'count', ...page })
  // A caller who may not see causes, or for whom they are switched off, sees the count.
  const causes = await unlessRefused(listed(read, { limit: GROUPS_MAX }))
  const reasons = reasonsOf(
    delayed.items.flatMap(({ state }) => (state.status === 'waiting' ? [[state.reason, state.dueAt] as const] : [])),
  )
  return {
    delayQueue: {
      tasks: waiting,
      nextDueAt: reasons.length === 0 ? null : Math.min(...reasons.map(({ nextDueAt }) => nextDueAt)),
      reasons,
      isPartial: delayed.next !== null,
    },
    deadLetters: { tasks: dead, groups: causes?.items ?? [], isPartial: causes === null || causes.next !== null },
  }
}

function reasonsOf(delayed: readonly (readonly [reason: string, dueAt: number])[]): readonly DelayedReason[] {
  const found = new Map<string, DelayedReason>()
  for (const [reason, dueAt] of delayed) {
    const before = found.get(reason)
    const nextDueAt = Math.min(dueAt, before?.nextDueAt ?? dueAt)
    found.set(reason, { reason, tasks: (before?.tasks ?? 0) + 1, nextDueAt })
  }
  return [...found.values()].toSorted((a, b) => b.tasks - a.tasks)
}
