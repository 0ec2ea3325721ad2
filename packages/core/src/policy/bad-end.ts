// An attempt that ended badly, as one line for a log: the action and the cause first, then what happens next. It decides
// nothing; workers and observers of an engine say the same in the same words.

import type { Failure } from '../failure/failure.ts'
import { cut } from '../failure/normalise.ts'
import type { TaskStatus } from '../model/task.ts'
import type { Decision } from './decide.ts'

const CAUSE_LENGTH_MAX = 300

interface BadEndWords {
  /** The action, or another name of the task where the action is not known. */
  readonly subject: string
  readonly kind: 'failed' | 'lost' | 'expired'
  readonly attempt: number
  readonly failure: Failure
  readonly decision: Decision
  /** Where the task went. */
  readonly status: TaskStatus
}

export function badEndLine({ subject, kind, attempt, failure, decision, status }: BadEndWords): string {
  const cause = cut(failure.message, CAUSE_LENGTH_MAX).replace(/[.\s]+$/, '')
  const details = `(${failure.reason}, attempt ${attempt})`
  if (status === 'queued') return `${subject} failed in an outage: ${cause} ${details}. It waits; no retry is used up.`
  const what = kind === 'lost' ? 'was lost with its worker' : status === 'dead' ? 'failed for good' : 'failed'
  return `${subject} ${what}: ${cause} ${details}. ${decision.sentence}`
}
