// From how ECS says that a task stopped to why its worker ended. ECS tells it in three places: a stop code, a reason in words, and
// the containers' own reasons and exit codes.

import type { LossCause } from '@reprise/core'
import { type CauseCode, causeOf, causeOfExit } from '../platform/causes.ts'
import type { WorkerState } from '../platform/platform.ts'

export interface StoppedTask {
  readonly lastStatus?: string | undefined
  readonly desiredStatus?: string | undefined
  readonly stopCode?: string | undefined
  readonly stoppedReason?: string | undefined
  readonly containers?:
    | readonly {
        readonly name?: string | undefined
        readonly exitCode?: number | undefined
        readonly reason?: string | undefined
      }[]
    | undefined
}

/** By words, wherever ECS put them; the first that fits counts. */
const BY_WORDS: readonly (readonly [RegExp, CauseCode, string])[] = [
  [/OutOfMemory|memory usage|OOM/i, 'WORKER_OUT_OF_MEMORY', 'The worker needed more memory than its task has.'],
  [
    /CannotPull|pull (?:image|access)|manifest unknown|ImagePull/i,
    'WORKER_IMAGE_UNAVAILABLE',
    'The image of the worker can’t be pulled.',
  ],
  [
    /Spot|Host EC2 .*terminated|instance .*(?:terminated|drain)/i,
    'WORKER_INTERRUPTED',
    'The machine of the worker was taken away.',
  ],
  [
    /ResourceInitialization|CannotStart|CannotCreate|CannotInspect|network interface|InternalError|TaskFailedToStart/i,
    'WORKER_NOT_STARTED',
    'The worker could not be started.',
  ],
]

const BY_STOP_CODE: Readonly<Record<string, readonly [CauseCode, string]>> = {
  SpotInterruption: ['WORKER_INTERRUPTED', 'The machine of the worker was taken away.'],
  TerminationNotice: ['WORKER_INTERRUPTED', 'The machine of the worker was taken away.'],
  TaskFailedToStart: ['WORKER_NOT_STARTED', 'The worker could not be started.'],
  UserInitiated: ['WORKER_STOPPED', 'A person or a program stopped the worker.'],
  ServiceSchedulerInitiated: ['WORKER_STOPPED', 'The scheduler stopped the worker.'],
}

/** `container` is the one that is the worker. */
export function ecsState(task: StoppedTask, container: string | null): WorkerState {
  return task.lastStatus === 'STOPPED' || task.lastStatus === 'DELETED'
    ? { is: 'ended', cause: stopCause(task, container) }
    : { is: 'running' }
}

function stopCause(
  { stopCode = '', stoppedReason = '', containers = [] }: StoppedTask,
  container: string | null,
): LossCause {
  const worker = containers.find(({ name }) => name === container) ?? containers[0]
  const words = [worker?.reason, stoppedReason].filter((one) => one !== undefined && one !== '').join('; ')
  const exitCode = worker?.exitCode
  const known = BY_STOP_CODE[stopCode]
  // A worker that is asked to end may end well: what counts is why it was asked.
  if (exitCode === 0 && known === undefined) return causeOfExit(0, words)
  for (const [pattern, code, message] of BY_WORDS) if (pattern.test(words)) return causeOf(code, message, words)
  if (known !== undefined && (exitCode === undefined || stopCode !== 'TaskFailedToStart'))
    return causeOf(...known, words)
  return causeOfExit(exitCode, words)
}
