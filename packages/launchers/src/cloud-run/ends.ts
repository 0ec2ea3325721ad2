// From how Cloud Run says that an execution ended to why its worker did. It tells it in the condition `Completed`, by reason and in
// words, and the exit code stands with the task.

import type { LossCause } from '@reprise/core'
import { type CauseCode, causeOf, causeOfExit } from '../platform/causes.ts'
import type { CloudRunCondition, CloudRunExecution, CloudRunTask } from './client.ts'

/** By the reasons and words of the condition; the first that fits counts. */
const BY_WORDS: readonly (readonly [RegExp, CauseCode, string])[] = [
  [/memory limit|out of memory/i, 'WORKER_OUT_OF_MEMORY', 'The worker needed more memory than its job has.'],
  [/CONTAINER_|image .*not found|pull/i, 'WORKER_IMAGE_UNAVAILABLE', 'The image of the worker can’t be pulled.'],
  [/SECRETS?_|VPC|CLOUD_SQL|permission denied/i, 'WORKER_NOT_STARTED', 'The worker could not be started.'],
  [/timeout was reached|deadline/i, 'WORKER_PAST_DEADLINE', 'The worker ran past the time-out of its job.'],
  [/preempt|maintenance|POLLING_ERROR/i, 'WORKER_INTERRUPTED', 'The machine of the worker was taken away.'],
  [/CANCELL|DELETED/i, 'WORKER_STOPPED', 'A person or a program stopped the worker.'],
]

/** Null while it runs. */
export function completionOf({ conditions = [], completionTime }: CloudRunExecution): CloudRunCondition | null {
  const completed = conditions.find(({ type }) => type === 'Completed')
  const isOver = completed?.state === 'CONDITION_SUCCEEDED' || completed?.state === 'CONDITION_FAILED'
  return isOver || completionTime !== undefined ? (completed ?? {}) : null
}

export const hasSucceeded = ({ state }: CloudRunCondition): boolean => state === 'CONDITION_SUCCEEDED'

export function executionCause(completion: CloudRunCondition, tasks: readonly CloudRunTask[]): LossCause {
  const { message, reason, executionReason } = completion
  if (hasSucceeded(completion)) return causeOfExit(0, message)
  const words = [reason, executionReason, message].filter((one) => one !== undefined).join(': ')
  for (const [pattern, code, said] of BY_WORDS) if (pattern.test(words)) return causeOf(code, said, words)
  const exitCode = tasks.map(({ lastAttemptResult }) => lastAttemptResult?.exitCode).find((code) => code !== undefined)
  return causeOfExit(exitCode, words)
}
