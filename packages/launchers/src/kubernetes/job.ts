// The job that is created for an order: one pod, started once, ended by Kubernetes itself if nobody else does it, and removed after a
// while if nobody does.

import type { V1Job } from '@kubernetes/client-node'
import type { MarkedOrder } from '../platform/platform.ts'
import type { KubernetesJob } from './options.ts'

export const LAUNCH_LABEL = 'reprise.dev/launch'
export const TOKEN_LABEL = 'reprise.dev/token'
const NAME_PREFIX = 'reprise-'
/** Beyond the task's time-out: the orchestrator comes first. */
const DEADLINE_SLACK_S = 60
/** What an annotation may hold of a task's id. */
const TASK_LENGTH_MAX = 200

/** The same for every try to launch one attempt: the name is what keeps a second job from being created. */
export const jobName = (launchMark: string): string => `${NAME_PREFIX}${launchMark}`
/** Of a job's name. */
export const markOfName = (name: string): string => name.slice(NAME_PREFIX.length)

export function jobFor({ order, mark, env }: MarkedOrder, job: KubernetesJob, keepForMs: number): V1Job {
  const labels = {
    'app.kubernetes.io/managed-by': 'reprise',
    [LAUNCH_LABEL]: mark.launch,
    [TOKEN_LABEL]: mark.token,
  }
  const annotations = {
    'reprise.dev/task': order.taskId.slice(0, TASK_LENGTH_MAX),
    'reprise.dev/attempt': String(order.attempt),
    'reprise.dev/action': order.action,
  }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: jobName(mark.launch), labels, annotations },
    spec: {
      // A second pod of the same attempt would have the same token: whether it is tried again is Reprise's to decide.
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      activeDeadlineSeconds: Math.ceil(order.timeoutMs / 1_000) + DEADLINE_SLACK_S,
      ttlSecondsAfterFinished: Math.ceil(keepForMs / 1_000),
      template: podFor(job, labels, env),
    },
  }
}

/** As far as we look into it. */
interface PodTemplate {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> }
  readonly spec?: { readonly containers?: readonly Container[] }
}

interface Container {
  readonly name: string
  readonly image?: string
  readonly env?: { name: string; value: string }[]
}

function podFor(
  job: KubernetesJob,
  labels: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
): NonNullable<V1Job['spec']>['template'] {
  const { metadata, spec } = (job.podTemplate ?? {}) as PodTemplate
  const [given, ...others] = spec?.containers ?? []
  const limits = {
    ...(job.cpu === undefined ? {} : { cpu: job.cpu }),
    ...(job.memory === undefined ? {} : { memory: job.memory }),
  }
  const worker = {
    ...given,
    name: given?.name ?? 'worker',
    image: job.image ?? given?.image ?? '',
    ...(job.command === undefined ? {} : { command: [...job.command] }),
    ...(job.args === undefined ? {} : { args: [...job.args] }),
    ...(Object.keys(limits).length === 0 ? {} : { resources: { requests: limits, limits } }),
    env: [...(given?.env ?? []), ...Object.entries(env).map(([name, value]) => ({ name, value }))],
  }
  return {
    metadata: { ...metadata, labels: { ...metadata?.labels, ...labels } },
    spec: {
      ...spec,
      ...(job.serviceAccount === undefined ? {} : { serviceAccountName: job.serviceAccount }),
      restartPolicy: 'Never',
      containers: [worker, ...others],
    },
  }
}
