// The options of the Cloud Run launcher, checked and completed once; and from an order to the job that runs.

import { actionName, check, InvalidError, type LaunchOrder } from '@reprise/core'
import { describedFailure } from '../described-failure.ts'
import {
  checkedEnv,
  PLATFORM_CHECKS,
  type PlatformOptions,
  type PlatformSettings,
  platformSettings,
} from '../platform/options.ts'

/** What runs for an action. */
export interface CloudRunJob {
  /** `projects/…/locations/…/jobs/…`. */
  readonly job?: string
  /** The container that is the worker, if the job has several. */
  readonly container?: string
  /** In place of the job's own. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface CloudRunLauncherOptions extends PlatformOptions, CloudRunJob {
  /** What differs for single actions. Without a job above, only these are launched. */
  readonly actions?: Readonly<Record<string, CloudRunJob>>
  /** For another address than https://run.googleapis.com. */
  readonly endpoint?: string
  /** Gives an access token for each call; by Google's usual chain if not given. */
  readonly accessToken?: () => Promise<string>
}

const JOB_NAME = /^projects\/[^/\s]+\/locations\/[^/\s]+\/jobs\/[^/\s:?#]+$/

const JOB_CHECKS: check.Table<CloudRunJob> = {
  job: (value) =>
    typeof value === 'string' && JOB_NAME.test(value)
      ? null
      : "the whole name of a job, such as 'projects/acme/locations/europe-west1/jobs/render'",
  container: check.text,
  args: check.texts("['--fast']"),
  env: check.anything,
}

const CHECKS: check.Table<CloudRunLauncherOptions> = {
  ...PLATFORM_CHECKS,
  ...JOB_CHECKS,
  actions: check.anything,
  endpoint: check.text,
  accessToken: check.func,
}

/** Complete. */
interface CloudRunRun {
  readonly job: string
  readonly container: string | null
  readonly args: readonly string[] | null
  readonly env: Readonly<Record<string, string>>
}

export interface CloudRunSettings extends PlatformSettings {
  readonly options: CloudRunLauncherOptions
  /** All that are configured. */
  readonly jobs: readonly string[]
  /** Throws `PermanentError` if nothing is to be run for this action. */
  readonly runOf: (order: LaunchOrder) => CloudRunRun
}

export function cloudRunSettings(options: CloudRunLauncherOptions): CloudRunSettings {
  check.options(options, CHECKS, 'Cloud Run launcher option', [])
  const settings = platformSettings(options, 'cloud-run')
  const runs = new Map(
    Object.entries(options.actions ?? {}).map(([action, job]) => {
      const whose = `action '${action}'`
      if (typeof job !== 'object' || job === null) throw new InvalidError(`The job of ${whose} must be an object.`)
      check.options(job, JOB_CHECKS, `option of ${whose}`, [])
      return [actionName(action), runOfJob(job, options, whose)] as const
    }),
  )
  const usual = options.job === undefined ? undefined : runOfJob({}, options, 'the Cloud Run launcher')
  const runOf = ({ action }: LaunchOrder): CloudRunRun => {
    const run = runs.get(action) ?? usual
    if (run !== undefined) return run
    throw describedFailure({
      code: 'action_not_found',
      says: 'permanent',
      message: `The launcher '${settings.name}' has no job for action '${action}'. Add one to its actions.`,
    })
  }
  const jobs = [...new Set([...runs.values(), ...(usual === undefined ? [] : [usual])].map(({ job }) => job))]
  return { ...settings, options, jobs, runOf }
}

function runOfJob(own: CloudRunJob, options: CloudRunLauncherOptions, whose: string): CloudRunRun {
  const job = own.job ?? options.job
  if (job === undefined) throw new InvalidError(`Cloud Run runs a job: name one for ${whose}.`)
  return {
    job,
    container: own.container ?? options.container ?? null,
    args: own.args ?? options.args ?? null,
    env: { ...checkedEnv(options.env, 'The Cloud Run launcher'), ...checkedEnv(own.env, whose) },
  }
}
