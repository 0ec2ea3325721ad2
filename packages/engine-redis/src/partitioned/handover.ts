// Assigning leases and listing what was launched, over several partitions. A lease is assigned in its task's partition; whether
// the worker may have it is judged before, by what all partitions know of it.

import type { Assignment, AssignResult, Launch, LaunchPage, LaunchQuery } from '@reprise/core'
import { pageLimit } from '@reprise/core/engine'
import { assign, checkAssignments, launches } from '../handover.ts'
import type { Evidence } from './evidence.ts'
import { inwardToken, outwardToken, type Partitions } from './partitions.ts'

export async function assignAll(
  store: Partitions,
  assignments: readonly Assignment[],
  evidence: Evidence,
): Promise<readonly AssignResult[]> {
  checkAssignments(assignments)
  if (assignments.length === 0) return []
  const isFit = await evidence.fit(assignments)
  return store.inOrder(
    assignments,
    ({ taskId }) => taskId,
    ({ partition, place, items }) =>
      assign(
        partition,
        items.map((assignment) => ({ ...assignment, token: inwardToken(place, assignment.token) })),
        isFit,
      ),
  )
}

/** By task id: a cursor is the id that a page ended with, in every partition alike. */
export async function launchesIn(store: Partitions, query: LaunchQuery): Promise<LaunchPage> {
  const limit = pageLimit(query)
  const pages = await store.each(async (partition, place) => {
    const { items, next, now } = await launches(partition, query)
    return { items: items.map((launch) => ({ ...launch, token: outwardToken(place, launch.token) })), next, now }
  })
  // Beyond what a partition has shown, more of it may follow.
  const ends = pages.flatMap(({ next }) => next ?? []).toSorted(byText)
  const [end] = ends
  const shown = pages
    .flatMap(({ items }) => items)
    .filter(({ taskId }) => end === undefined || byText(taskId, end) <= 0)
    .toSorted((a: Launch, b: Launch) => byText(a.taskId, b.taskId))
  const items = shown.slice(0, limit)
  const hasMore = shown.length > limit || end !== undefined
  return { items, next: hasMore ? (items.at(-1)?.taskId ?? null) : null, now: Math.max(...pages.map(({ now }) => now)) }
}

/** In the order of the bytes in UTF-8, as a server sorts. */
const byText = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
