// A start that comes again under its id, because its answer was lost or two submitters began together: the same job, not another one.

import { type Collection, InvalidError, type JobDocument } from '@reprise/core'
import { chunksOf, type RangeRequest } from './new-job.ts'

/** The job that has this id; null if none has. Refuses one of another action or tenant, and one over other numbers. */
export async function sameJob(
  jobs: Collection<JobDocument>,
  id: string,
  asked: {
    readonly action: string
    readonly tenant?: string | undefined
    readonly id?: string | undefined
    readonly range?: RangeRequest | undefined
  },
): Promise<JobDocument | null> {
  const known = (await jobs.get(id))?.document ?? null
  if (known === null) return null
  if (known.action !== asked.action || (asked.tenant !== undefined && known.tenant !== asked.tenant)) {
    throw new InvalidError(`Another job has the id '${asked.id}': of the action '${known.action}'. Use another id.`)
  }
  // Chunks that are handed over are compared by nobody: their submitter passes over as many as there are.
  if (isOver(known, asked.range)) return known
  throw new InvalidError(`Another job has the id '${asked.id}': ${chunksText(known)}. Use another id.`)
}

function isOver({ source, total }: JobDocument, range: RangeRequest | undefined): boolean {
  if (source.kind === 'given' || range === undefined) return source.kind === 'given' && range === undefined
  const { from = 0, step = 1 } = range
  return source.from === from && source.step === step && total === chunksOf(range)
}

function chunksText({ source, total }: JobDocument): string {
  if (source.kind === 'given') return 'its chunks are handed over, and are no range'
  const steps = source.step === 1 ? '' : ` in steps of ${source.step}`
  return `its chunks are ${total} numbers from ${source.from} on${steps}`
}
