// How a job is, in shape, word and sentence, and how far it has come as a bar.

import type { OperationOutput } from '../../api/client.ts'
import { count, many, share, span } from '../../format.ts'

export type Job = OperationOutput<'getJob'>

export const JOB_LOOKS: Readonly<Record<Job['status'], readonly [look: string, word: string]>> = {
  running: ['running', 'running'],
  stopping: ['waiting', 'stopping'],
  stopped: ['held', 'stopped'],
  finishing: ['running', 'finishing'],
  cancelling: ['waiting', 'cancelling'],
  succeeded: ['succeeded', 'succeeded'],
  failed: ['dead', 'failed'],
  cancelled: ['cancelled', 'cancelled'],
}

export const isMoving = ({ status }: Job): boolean =>
  ['running', 'stopping', 'finishing', 'cancelling'].includes(status)

/** 1,204 of 4,000 chunks ended, 3 of them failed; 12.5 a second, 4 m left. */
export function jobSentence(job: Job): string {
  const { total, succeeded, failed, perSecond, leftMs, received } = job
  const ended = succeeded + failed
  const of = total === null ? `${count(received)} chunks so far` : many(total, 'chunk')
  const wrong = failed === 0 ? '' : `, ${count(failed)} of them failed`
  const speed =
    isMoving(job) && perSecond > 0
      ? `; ${perSecond < 10 ? perSecond.toFixed(1) : count(Math.round(perSecond))} a second`
      : ''
  const left = isMoving(job) && leftMs !== null && leftMs > 0 ? `, about ${span(leftMs)} left` : ''
  return `${count(ended)} of ${of} ended${wrong}${speed}${left}.`
}

/** Ended well, ended badly, under way, and the rest. */
export function ProgressBar({ job }: { readonly job: Job }) {
  const { succeeded, failed, open, total, received } = job
  const all = Math.max(total ?? received, succeeded + failed + open, 1)
  const part = (some: number): string => `${(100 * some) / all}%`
  return (
    <div
      role="img"
      aria-label={`${share(succeeded, all)} succeeded, ${share(failed, all)} failed, ${share(open, all)} under way`}
      className="flex h-2 w-full overflow-hidden rounded-sm bg-sunken"
    >
      <span className="bg-succeeded" style={{ width: part(succeeded) }} />
      <span className="bg-dead" style={{ width: part(failed) }} />
      <span className="bg-running opacity-50" style={{ width: part(open) }} />
    </div>
  )
}
