// From what Kubernetes says of a job and its pods to the state of the worker, and why it ended. A pod whose image can't be pulled is
// tried for ever: that counts as stuck.

import type { V1Job, V1Pod } from '@kubernetes/client-node'
import type { LossCause } from '@reprise/core'
import { causeOf, causeOfExit } from '../platform/causes.ts'
import type { WorkerState } from '../platform/platform.ts'

const IMAGE_REASONS: ReadonlySet<string> = new Set(['ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'])
const START_REASONS: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
])
const EVICTED = /^(?:Evicted|Preempting|NodeLost|Shutdown|NodeShutdown|Terminated|NodeAffinity)$/

export function jobState(job: V1Job, pods: readonly V1Pod[]): WorkerState {
  const conditions = job.status?.conditions ?? []
  const ended = conditions.find(({ type, status }) => status === 'True' && (type === 'Complete' || type === 'Failed'))
  if (ended !== undefined) {
    const words = [ended.reason, ended.message].filter((one) => one !== undefined).join(': ')
    return { is: 'ended', cause: endCause(ended.type === 'Complete', ended.reason ?? '', words, pods) }
  }
  const waiting = pods.map(waitingCause).find((cause) => cause !== null)
  return waiting === undefined ? { is: 'running' } : { is: 'stuck', cause: waiting }
}

function endCause(isComplete: boolean, reason: string, words: string, pods: readonly V1Pod[]): LossCause {
  if (isComplete) return causeOfExit(0)
  if (reason === 'DeadlineExceeded') {
    return causeOf('WORKER_PAST_DEADLINE', 'The worker ran past the deadline of its job.', words)
  }
  const [pod] = pods
  const disruption = pod?.status?.conditions?.find(
    ({ type, status }) => type === 'DisruptionTarget' && status === 'True',
  )
  if (disruption !== undefined || EVICTED.test(pod?.status?.reason ?? '')) {
    const said = disruption?.message ?? pod?.status?.message ?? words
    return causeOf('WORKER_INTERRUPTED', 'The machine of the worker was taken away.', said)
  }
  const statuses = [...(pod?.status?.containerStatuses ?? []), ...(pod?.status?.initContainerStatuses ?? [])]
  const terminated = statuses
    .map(({ state }) => state?.terminated)
    .find((one) => one !== undefined && one.exitCode !== 0)
  if (terminated?.reason === 'OOMKilled') {
    return causeOf(
      'WORKER_OUT_OF_MEMORY',
      'The worker needed more memory than its container has.',
      terminated.message ?? words,
    )
  }
  if (terminated?.reason === 'StartError' || terminated?.reason === 'ContainerCannotRun') {
    return causeOf('WORKER_NOT_STARTED', 'The worker could not be started.', terminated.message ?? words)
  }
  return causeOfExit(terminated?.exitCode, terminated?.message ?? words)
}

function waitingCause({ status }: V1Pod): LossCause | null {
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
  for (const { state, image } of statuses) {
    const { reason = '', message } = state?.waiting ?? {}
    if (IMAGE_REASONS.has(reason)) {
      return causeOf(
        'WORKER_IMAGE_UNAVAILABLE',
        'The image of the worker can’t be pulled.',
        `${reason}: ${message ?? image}`,
      )
    }
    if (START_REASONS.has(reason)) {
      return causeOf('WORKER_NOT_STARTED', 'The worker could not be started.', `${reason}: ${message ?? ''}`)
    }
  }
  return null
}
