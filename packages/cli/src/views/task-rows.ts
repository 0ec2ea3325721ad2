// Tasks as lines of a table, for people. The id is never cut: it is what people copy. On a narrow terminal it therefore takes
// the room of what is said about the task, which then stands on a second line.

import type { OperationOutput } from '@reprise/client'
import { statusStyle } from '../output/colours.ts'
import type { Column } from '../output/table.ts'
import { shortSpan } from '../output/times.ts'

export type Task = OperationOutput<'getTask'>

const USUAL_TENANT = 'default'

export const taskColumns = (now: number): readonly Column<Task>[] => [
  { title: 'TASK', value: ({ id }) => id },
  { title: 'STATUS', value: ({ state }) => state.status, style: statusStyle },
  // A column of their own for tenants would take the room that notes need.
  {
    title: 'ACTION',
    value: ({ action, tenant }) => (tenant === USUAL_TENANT ? action : `${action} (${tenant})`),
    flexible: true,
    below: true,
  },
  { title: 'TRY', value: ({ attempt }) => attempt, right: true },
  { title: 'AGE', value: ({ acceptedAt }) => shortSpan(now - acceptedAt), right: true },
  {
    title: 'WORKER',
    // The one that ran it last says most about a failure; it may be gone.
    value: ({ state, lastWorker }) => (state.status === 'running' ? state.worker : lastWorker?.worker),
    flexible: true,
    wide: true,
  },
  { title: 'VERSION', value: ({ lastWorker }) => lastWorker?.version, flexible: true, wide: true },
  { title: 'LABELS', value: ({ labels }) => labelsText(labels), flexible: true, wide: true },
  { title: 'NOTE', value: (task) => noteOn(task, now), flexible: true, below: true },
]

export const labelsText = (labels: Task['labels']): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')

/** The one thing that is worth saying about a task where it stands. */
export function noteOn({ state }: Task, now: number): string | null {
  switch (state.status) {
    case 'queued':
      return state.expiresAt === null ? null : `expires in ${shortSpan(state.expiresAt - now)}`
    case 'waiting':
      return `${state.dueAt > now ? `in ${shortSpan(state.dueAt - now)}` : 'due'}: ${state.reason}`
    case 'running':
      return `${state.worker}${progressText(state.progress)}`
    case 'dead':
      return `${state.reason}: ${state.failure.message}`
    case 'succeeded':
    case 'discarded':
    case 'cancelled':
      return null
  }
}

function progressText(progress: { readonly fraction: number | null; readonly note: string | null } | null): string {
  if (progress === null) return ''
  const share = progress.fraction === null ? '' : ` ${Math.floor(progress.fraction * 100)}%`
  return `${share}${progress.note === null ? '' : ` ${progress.note}`}`
}
