// Ids are unique in the whole store, and tenants must not learn of each other's tasks: a submission whose id another tenant
// has is refused, and is told nothing about the task that has it.

import { ConflictError, type Engine, type SubmitResult, type TaskSpec } from '@reprise/core'

export async function isTakenElsewhere(
  engine: Pick<Engine, 'task'>,
  spec: TaskSpec,
  { outcome, id }: SubmitResult,
): Promise<boolean> {
  // A dedupe key belongs to its tenant: what it finds is theirs.
  if (outcome !== 'duplicate' || id !== spec.id) return false
  const task = await engine.task(id)
  return task !== null && task.tenant !== spec.tenant
}

export const idTaken = (): ConflictError =>
  new ConflictError('This id can not be used: it is taken. Nothing was submitted. Use another id, or leave it out.')
