// What holds work back, for a caller who is limited to tenants. What is put on their tenant is told as it is. Of what
// is put on all tenants they are told that it holds their work, and neither who did it, nor why, nor how much others run.

import { breakerName, type Explanation, type Gate, type Task } from '@reprise/core'
import type { z } from 'zod'
import type { GateView } from './schemas/task.ts'

type ShownGate = z.output<typeof GateView>

const NOBODY = { actor: 'an operator', reason: 'This concerns all tenants.' } as const

/** The breakers that a task's own settings name, and the one of its action. */
export const knownBreakers = ({ action, settings }: Pick<Task, 'action' | 'settings'>): readonly string[] => [
  breakerName('action', action),
  ...(settings.breakers ?? []).map(({ name }) => name),
]

/** Whether it concerns the caller's tenant alone, or tells nothing of others. */
export function isOwnGate(gate: Gate, breakers: readonly string[]): boolean {
  switch (gate.kind) {
    case 'paused':
    case 'concurrency':
      return gate.scope.tenant !== undefined
    case 'breaker':
      return gate.tenant !== null || breakers.includes(gate.name)
    case 'not_due':
    case 'retry_quota':
    case 'no_worker':
      return true
  }
}

export function neutralGate(gate: Gate): ShownGate {
  switch (gate.kind) {
    case 'paused':
      return { ...gate, by: NOBODY }
    case 'concurrency':
      return { kind: 'concurrency', scope: gate.scope, rank: gate.rank }
    case 'breaker':
      return { ...gate, name: 'dependency' }
    case 'not_due':
    case 'retry_quota':
    case 'no_worker':
      return { ...gate }
  }
}

/** Its one sentence, without names of workers and of those who hold everything. */
export function neutralSummary({ task, gates, summary }: Explanation): string {
  const { state } = task
  if (state.status === 'running') return `Attempt ${state.attempt} ${RUNNING[state.stage]}`
  const [first] = gates
  if (first === undefined || isOwnGate(first, knownBreakers(task))) return summary
  return SENTENCES[first.kind]
}

const RUNNING = {
  run: 'is running.',
  dispatch: 'is about to be given to a worker.',
  inbox: 'was given to a worker, which has not begun yet.',
  launch: 'is being launched, or was.',
} as const satisfies Record<(Task['state'] & { readonly status: 'running' })['stage'], string>

const SENTENCES: Readonly<Record<Gate['kind'], string>> = {
  paused: 'It is paused, as other tenants may be.',
  concurrency: 'As many tasks run as may, of all tenants together.',
  breaker: 'A breaker holds it: something that it needs fails.',
  not_due: 'It is not due yet.',
  retry_quota: 'Its retry is over the quota.',
  no_worker: 'No worker takes it now.',
}
