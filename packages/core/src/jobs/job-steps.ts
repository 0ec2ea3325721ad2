// The steps of a job's state machine (job.ts says it in prose): pure functions from a document to the next one. The service takes
// `advanced`; operators take the others. A step that does not fit the status gives null.

import { countIn } from './chunk-ranges.ts'
import { ENDED_JOB, JOB_CHANGES_MAX, type JobChange, type JobDocument, type Tolerance } from './job.ts'

/** Chunks that ended per second lately count half after this long. */
const SPEED_HALF_LIFE_MS = 10_000
/** A share is a percentage with up to six digits behind the point. */
const SHARE_UNITS = 100_000_000

export interface JobProgress {
  readonly total: number | null
  readonly received: number
  readonly open: number
  readonly succeeded: number
  readonly failed: number
  /** From 0 to 1; null while nobody knows how many chunks there are. */
  readonly fraction: number | null
  readonly perSecond: number
  /** Milliseconds until all chunks have ended, at the present speed; null if that can't be told. */
  readonly leftMs: number | null
}

export function progressOf(job: JobDocument): JobProgress {
  const { total, received, succeeded, failed, speed } = job
  const left = total === null ? null : total - succeeded - failed
  const isMoving = job.status === 'running' || job.status === 'stopping'
  return {
    total,
    received,
    open: countIn(job.open),
    succeeded,
    failed,
    fraction: total === null ? null : total === 0 ? 1 : (succeeded + failed) / total,
    perSecond: isMoving ? speed.perSecond : 0,
    leftMs: left === null || !isMoving || speed.perSecond <= 0 ? null : Math.round((left / speed.perSecond) * 1_000),
  }
}

/** What the tolerance comes to for this many chunks. While the number is not known, a share counts of those that came so far. */
function toleratedOf(tolerance: Tolerance, { total, received }: Pick<JobDocument, 'total' | 'received'>): number {
  if (tolerance.kind === 'count') return tolerance.count
  // In whole units: 0.29 of 100 is a little less than 29 for a computer.
  return Math.floor((Math.round(tolerance.share * SHARE_UNITS) * (total ?? received)) / SHARE_UNITS)
}

const isOverTolerance = (job: JobDocument): boolean => job.failed - job.forgiven > toleratedOf(job.tolerance, job)

/** The speed with what ended until now. */
export function measured(job: JobDocument, now: number): JobDocument['speed'] {
  const { perSecond, at, ended } = job.speed
  const endedNow = job.succeeded + job.failed
  const ms = now - at
  if (ms <= 0) return { perSecond, at: now, ended: endedNow }
  const lately = (Math.max(endedNow - ended, 0) / ms) * 1_000
  const kept = perSecond === 0 ? 0 : 0.5 ** (ms / SPEED_HALF_LIFE_MS)
  return { perSecond: perSecond * kept + lately * (1 - kept), at: now, ended: endedNow }
}

const withChange = (job: JobDocument, change: JobChange): readonly JobChange[] => [
  ...job.changes.slice(1 - JOB_CHANGES_MAX),
  change,
]

const SERVICE = 'jobs'

/** The job when its chunks were counted: where it goes on by itself. `final` is how the final step ended, if it has. */
export function advanced(job: JobDocument, now: number, final: 'succeeded' | 'failed' | null): JobDocument {
  const isDrained = job.open === '' && job.retry === null
  const allEnded = isDrained && job.total !== null && job.fed === job.total
  switch (job.status) {
    case 'running':
      if (job.onFailure === 'stop' && isOverTolerance(job)) {
        return advanced(turned(job, 'stopping', now, tooMany(job)), now, final)
      }
      if (!allEnded) return job
      if (isOverTolerance(job)) return turned(job, 'failed', now, tooMany(job))
      return turned(job, job.final === null ? 'succeeded' : 'finishing', now, null)
    case 'stopping':
      return isDrained ? turned(job, 'stopped', now, job.because) : job
    case 'finishing':
      if (final === null) return job
      return turned(job, final, now, final === 'failed' ? 'The final step failed.' : null)
    case 'cancelling':
      return isDrained ? turned(job, 'cancelled', now, job.because) : job
    default:
      return job
  }
}

function tooMany(job: JobDocument): string {
  const tolerated = toleratedOf(job.tolerance, job)
  const forgiven = job.forgiven === 0 ? '' : ` since the last resume`
  const failed = job.failed - job.forgiven
  return `${failed} ${failed === 1 ? 'chunk' : 'chunks'} failed${forgiven}; the job tolerates ${tolerated}.`
}

function turned(job: JobDocument, status: JobDocument['status'], now: number, because: string | null): JobDocument {
  const change = { at: now, actor: SERVICE, what: status, reason: because ?? 'All chunks have ended.' }
  return {
    ...job,
    status,
    because,
    endedAt: ENDED_JOB.has(status) ? now : null,
    changes: withChange(job, change),
  }
}

export type Operator = Pick<JobChange, 'at' | 'actor' | 'reason'>

/** Goes on with the chunks that are left, and with the final step. The failures so far are accepted: they stop it no more. */
export function resumed(job: JobDocument, by: Operator): JobDocument | null {
  if (job.status !== 'stopped' && job.status !== 'stopping' && job.status !== 'failed') return null
  return {
    ...job,
    ...goingOn(job, by.at),
    forgiven: job.failed,
    changes: withChange(job, { ...by, what: 'resumed' }),
  }
}

/** Runs the failed chunks again, and goes on. */
export function retried(job: JobDocument, by: Operator): JobDocument | null {
  if (!['running', 'stopping', 'stopped', 'failed', 'succeeded'].includes(job.status) || job.failed === 0) return null
  if (job.retry !== null) return job
  return {
    ...job,
    ...goingOn(job, by.at),
    retry: { next: 0, redriving: '', by: by.actor },
    // Failures that it has not come to yet must not stop it again: each chunk that runs again takes one of them back.
    forgiven: job.failed,
    changes: withChange(job, { ...by, what: 'retried' }),
  }
}

export function cancelled(job: JobDocument, by: Operator): JobDocument | null {
  if (ENDED_JOB.has(job.status)) return null
  return {
    ...job,
    status: 'cancelling',
    because: by.reason,
    retry: null,
    changes: withChange(job, { ...by, what: 'cancelled' }),
  }
}

const goingOn = (job: JobDocument, now: number) =>
  ({
    status: 'running',
    because: null,
    endedAt: null,
    round: job.endedAt === null ? job.round : job.round + 1,
    speed: { perSecond: 0, at: now, ended: job.succeeded + job.failed },
  }) as const
