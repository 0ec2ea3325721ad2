// What a caller hears of a task that was asked for otherwise and has the id, or the dedupe key, of a submission. Ids that callers for
// the whole store choose are unique in the store, so the task can be another tenant's; a caller limited to tenants hears nothing of
// that one, though their ids never meet those of another tenant (see core's own-id.ts).

import { ConflictError, type RepriseError, type SubmitResult, TaskConflictError } from '@reprise/core'
import type { Caller } from '@reprise/operations'

export type Conflict = Extract<SubmitResult, { readonly outcome: 'conflict' }>

export const isOfAnotherTenant = ({ differs }: Conflict, { tenants }: Pick<Caller, 'tenants'>): boolean =>
  tenants !== null && differs.includes('tenant')

export const conflictError = (conflict: Conflict, caller: Pick<Caller, 'tenants'>): RepriseError =>
  isOfAnotherTenant(conflict, caller) ? idTaken() : new TaskConflictError(conflict.id, conflict.differs)

const idTaken = (): ConflictError =>
  new ConflictError('This id can not be used: it is taken. Nothing was submitted. Use another id, or leave it out.')
