// A job as its caller may name it: one who is limited to tenants means the own one, and never learns of others.

import { type Engine, type JobDocument, jobDefinition, meantIds, NotFoundError, type TaskId } from '@reprise/core'
import { type Caller, mayTouch } from '../access/caller.ts'

export async function ownJob(engine: Pick<Engine, 'collection'>, caller: Caller, id: string): Promise<JobDocument> {
  const jobs = engine.collection(jobDefinition)
  const found = await Promise.all(meantIds(caller.tenants, id as TaskId).map((one) => jobs.get(one)))
  const own = found.find((stored) => stored !== null && mayTouch(caller, stored.document.tenant))
  if (own === undefined || own === null) throw new NotFoundError('job', id)
  return own.document
}
