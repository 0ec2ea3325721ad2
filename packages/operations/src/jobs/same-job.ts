// A start that comes again under its id, because its answer was lost or two submitters began together: the same job, not another one.

import { type Collection, InvalidError, type JobDocument } from '@reprise/core'

/** The job that has this id; null if none has. Refuses one of another action or tenant. */
export async function sameJob(
  jobs: Collection<JobDocument>,
  id: string,
  asked: { readonly action: string; readonly tenant?: string | undefined; readonly id?: string | undefined },
): Promise<JobDocument | null> {
  const known = (await jobs.get(id))?.document ?? null
  if (known === null) return null
  if (known.action === asked.action && (asked.tenant === undefined || known.tenant === asked.tenant)) return known
  throw new InvalidError(`Another job has the id '${asked.id}': of the action '${known.action}'. Use another id.`)
}
