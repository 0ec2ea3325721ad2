// The options of the ECS launcher, checked and completed once; and from an order to what is run.

import { actionName, check, InvalidError, type LaunchOrder, refuseUnknownKeys } from '@reprise/core'
import { describedFailure } from '../described-failure.ts'
import {
  checkedEnv,
  PLATFORM_CHECKS,
  type PlatformOptions,
  type PlatformSettings,
  platformSettings,
} from '../platform/options.ts'

/** What runs for an action. */
export interface EcsTask {
  /** Family, `family:revision`, or the whole ARN. */
  readonly taskDefinition?: string
  /** The container that is the worker. */
  readonly container?: string
  /** In place of the image's own. */
  readonly command?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** In place of the task definition's: CPU units, and MiB. */
  readonly cpu?: number
  readonly memory?: number
}

export interface EcsLauncherOptions extends PlatformOptions, EcsTask {
  readonly cluster: string
  /** What differs for single actions. Without a task definition above, only these are launched. */
  readonly actions?: Readonly<Record<string, EcsTask>>
  readonly launchType?: 'FARGATE' | 'EC2' | 'EXTERNAL'
  /** In place of a launch type: `[{ name: 'FARGATE_SPOT', weight: 1 }]`. */
  readonly capacityProviders?: readonly EcsCapacityProvider[]
  readonly platformVersion?: string
  /** For the network mode `awsvpc`, which Fargate needs. */
  readonly subnets?: readonly string[]
  readonly securityGroups?: readonly string[]
  readonly assignPublicIp?: boolean
  readonly tags?: Readonly<Record<string, string>>
  /** By the usual chain of the SDK if not given. */
  readonly region?: string
  /** For another address than that of AWS. */
  readonly endpoint?: string
}

export interface EcsCapacityProvider {
  readonly name: string
  readonly weight?: number
  readonly base?: number
}

const TASK_CHECKS: check.Table<EcsTask> = {
  taskDefinition: check.text,
  container: check.text,
  command: check.texts("['node', 'worker.js']"),
  env: check.anything,
  cpu: check.whole(1),
  memory: check.whole(1),
}

const CHECKS: check.Table<EcsLauncherOptions> = {
  ...PLATFORM_CHECKS,
  ...TASK_CHECKS,
  cluster: check.text,
  actions: check.anything,
  launchType: check.oneOf('FARGATE', 'EC2', 'EXTERNAL'),
  capacityProviders: check.list,
  platformVersion: check.text,
  subnets: check.texts("['subnet-1']"),
  securityGroups: check.texts("['sg-1']"),
  assignPublicIp: check.flag,
  tags: check.anything,
  region: check.text,
  endpoint: check.text,
}

/** Complete. */
interface EcsRun {
  readonly taskDefinition: string
  readonly container: string
  readonly command: readonly string[] | null
  readonly env: Readonly<Record<string, string>>
  readonly cpu: number | null
  readonly memory: number | null
}

export interface EcsSettings extends PlatformSettings {
  readonly options: EcsLauncherOptions
  /** Throws `PermanentError` if nothing is to be run for this action. */
  readonly runOf: (order: LaunchOrder) => EcsRun
}

export function ecsSettings(options: EcsLauncherOptions): EcsSettings {
  check.options(options, CHECKS, 'ECS launcher option', ['cluster'])
  if (options.launchType !== undefined && options.capacityProviders !== undefined) {
    throw new InvalidError('An ECS launcher has either a launchType or capacityProviders, not both.')
  }
  for (const provider of options.capacityProviders ?? []) {
    refuseUnknownKeys(provider, ['name', 'weight', 'base'], 'option of a capacity provider')
  }
  const settings = platformSettings(options, 'ecs')
  const runs = new Map(Object.entries(options.actions ?? {}).map(([action, task]) => checkedRun(action, task, options)))
  const usual = options.taskDefinition === undefined ? undefined : runOfTask(options, options, 'the ECS launcher')
  const runOf = ({ action }: LaunchOrder): EcsRun => {
    const run = runs.get(action) ?? usual
    if (run !== undefined) return run
    throw describedFailure({
      code: 'action_not_found',
      says: 'permanent',
      message: `The launcher '${settings.name}' has no task definition for action '${action}'. Add one to its actions.`,
    })
  }
  return { ...settings, options, runOf }
}

function checkedRun(action: string, task: EcsTask, options: EcsLauncherOptions): [string, EcsRun] {
  const whose = `action '${action}'`
  if (typeof task !== 'object' || task === null) throw new InvalidError(`The ECS task of ${whose} must be an object.`)
  check.options(task, TASK_CHECKS, `option of ${whose}`, [])
  return [actionName(action), runOfTask(task, options, whose)]
}

function runOfTask(task: EcsTask, options: EcsLauncherOptions, whose: string): EcsRun {
  const taskDefinition = task.taskDefinition ?? options.taskDefinition
  const container = task.container ?? options.container
  if (taskDefinition === undefined || container === undefined) {
    throw new InvalidError(
      `ECS runs a taskDefinition, and the worker is one container of it: name both for ${whose}, such as { taskDefinition: 'render:7', container: 'worker' }.`,
    )
  }
  return {
    taskDefinition,
    container,
    command: task.command ?? options.command ?? null,
    env: { ...checkedEnv(options.env, 'The ECS launcher'), ...checkedEnv(task.env, whose) },
    cpu: task.cpu ?? options.cpu ?? null,
    memory: task.memory ?? options.memory ?? null,
  }
}
