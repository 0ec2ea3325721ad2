// The options of the Kubernetes launcher, checked and completed once; and from an order to the job that is created.

import { actionName, check, type Duration, durationMs, InvalidError, type LaunchOrder } from '@reprise/core'
import { describedFailure } from '../described-failure.ts'
import {
  checkedEnv,
  PLATFORM_CHECKS,
  type PlatformOptions,
  type PlatformSettings,
  platformSettings,
} from '../platform/options.ts'

/** What runs for an action. */
export interface KubernetesJob {
  readonly image?: string
  /** In place of the image's own. */
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly serviceAccount?: string
  /** Both requested and the limit: `500m`, `1Gi`. */
  readonly cpu?: string
  readonly memory?: string
  /**
   * The rest of the pod, as a pod template of Kubernetes. The worker is its first container, or is added to it; what is said
   * above counts before it.
   */
  readonly podTemplate?: Readonly<Record<string, unknown>>
}

export interface KubernetesLauncherOptions extends PlatformOptions, KubernetesJob {
  /** That of the context if not given, or `default`. */
  readonly namespace?: string
  /** What differs for single actions. Without an image above, only these are launched. */
  readonly actions?: Readonly<Record<string, KubernetesJob>>
  /** How long Kubernetes keeps a job that ended and that nobody removed; an hour if not given. */
  readonly keepFor?: Duration
  /** A file; by the usual chain (KUBECONFIG, ~/.kube/config, the pod's own account) if not given. */
  readonly kubeconfig?: string
  readonly context?: string
}

const JOB_CHECKS: check.Table<KubernetesJob> = {
  image: check.text,
  command: check.texts("['node', 'worker.js']"),
  args: check.texts("['--fast']"),
  env: check.anything,
  serviceAccount: check.text,
  cpu: check.text,
  memory: check.text,
  podTemplate: (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? null : 'a pod template: { metadata, spec }',
}

const CHECKS: check.Table<KubernetesLauncherOptions> = {
  ...PLATFORM_CHECKS,
  ...JOB_CHECKS,
  namespace: check.text,
  actions: check.anything,
  keepFor: check.anything,
  kubeconfig: check.text,
  context: check.text,
}

const KEEP_FOR_MS = 3_600_000

export interface KubernetesSettings extends PlatformSettings {
  readonly options: KubernetesLauncherOptions
  readonly keepForMs: number
  /** Throws `PermanentError` if nothing is to be run for this action. */
  readonly jobOf: (order: LaunchOrder) => KubernetesJob
}

export function kubernetesSettings(options: KubernetesLauncherOptions): KubernetesSettings {
  check.options(options, CHECKS, 'Kubernetes launcher option', [])
  const settings = platformSettings(options, 'kubernetes')
  const jobs = new Map(
    Object.entries(options.actions ?? {}).map(([action, job]) => {
      const whose = `action '${action}'`
      if (typeof job !== 'object' || job === null) throw new InvalidError(`The job of ${whose} must be an object.`)
      check.options(job, JOB_CHECKS, `option of ${whose}`, [])
      const env = { ...checkedEnv(options.env, 'The Kubernetes launcher'), ...checkedEnv(job.env, whose) }
      return [actionName(action), { ...options, ...job, env }] as const
    }),
  )
  checkedEnv(options.env, 'The Kubernetes launcher')
  const jobOf = ({ action }: LaunchOrder): KubernetesJob => {
    const job = jobs.get(action) ?? options
    if (job.image !== undefined) return job
    throw describedFailure({
      code: 'action_not_found',
      says: 'permanent',
      message: `The launcher '${settings.name}' has no image for action '${action}'. Add one to its actions.`,
    })
  }
  return { ...settings, options, keepForMs: durationMs(options.keepFor ?? KEEP_FOR_MS, 'keepFor'), jobOf }
}
