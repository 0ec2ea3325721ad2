// ECS as a platform: RunTask with a client token, so that a repeated call starts nothing new; `startedBy` is the mark, by which
// ListTasks finds what was started; DescribeTasks tells of a hundred at a time; StopTask ends one.

import type { ECSClient, RunTaskCommandInput, Task } from '@aws-sdk/client-ecs'
import { awsError, awsStartFailure } from '../aws/failure.ts'
import { MARK_VARIABLE, parseMark } from '../platform/mark.ts'
import { orInstall } from '../platform/optional-peer.ts'
import {
  type Found,
  type MarkedOrder,
  type Platform,
  UnclearStartError,
  type WorkerState,
} from '../platform/platform.ts'
import { launchRefused, platformFull } from '../platform/refusals.ts'
import type { EcsSettings } from './options.ts'
import { ecsState } from './stops.ts'

const DESCRIBE_MAX = 100
const STARTED_BY = 'reprise/'
const CALL_ATTEMPTS_MAX = 3
/** Of RunTask's `failures`: what may be otherwise in a moment. */
const NO_CAPACITY = /^(?:RESOURCE|AGENT|EMPTY CAPACITY PROVIDER)|capacity/i

type Sdk = typeof import('@aws-sdk/client-ecs')

export class EcsPlatform implements Platform {
  readonly recognisesOrders = true
  readonly #settings: EcsSettings
  #opened: Promise<{ readonly sdk: Sdk; readonly client: ECSClient }> | null = null

  constructor(settings: EcsSettings) {
    this.#settings = settings
    // It takes a while to load, and the first look has little time. What goes wrong is told at the first call.
    void this.#open().catch(() => undefined)
  }

  async start(order: MarkedOrder, abortSignal: AbortSignal): Promise<string> {
    const { sdk, client } = await this.#open()
    const { tasks = [], failures = [] } = await client
      .send(new sdk.RunTaskCommand(this.#request(order)), { abortSignal })
      .catch((error: unknown) => Promise.reject(awsStartFailure('ECS', error)))
    const arn = tasks[0]?.taskArn
    if (arn !== undefined) return arn
    const [failure] = failures
    if (failure === undefined) throw new UnclearStartError('RunTask answered neither a task nor a failure.')
    const words = [failure.reason, failure.detail, failure.arn].filter((one) => one !== undefined).join(', ')
    throw NO_CAPACITY.test(failure.reason ?? '') ? platformFull('ECS', `${words}.`) : launchRefused('ECS', `${words}.`)
  }

  #request({ order, mark, env }: MarkedOrder): RunTaskCommandInput {
    const { options, runOf } = this.#settings
    const { taskDefinition, container, command, cpu, memory } = runOf(order)
    const { subnets, securityGroups, assignPublicIp, capacityProviders, launchType, platformVersion, tags } = options
    return {
      cluster: options.cluster,
      taskDefinition,
      count: 1,
      clientToken: `${mark.launch}-${mark.token}`,
      startedBy: `${STARTED_BY}${mark.launch}`,
      launchType,
      platformVersion,
      capacityProviderStrategy: capacityProviders?.map(({ name, weight, base }) => ({
        capacityProvider: name,
        weight,
        base,
      })),
      networkConfiguration:
        subnets === undefined
          ? undefined
          : {
              awsvpcConfiguration: {
                subnets: [...subnets],
                securityGroups: securityGroups === undefined ? undefined : [...securityGroups],
                assignPublicIp: assignPublicIp === true ? 'ENABLED' : 'DISABLED',
              },
            },
      tags: tags === undefined ? undefined : Object.entries(tags).map(([key, value]) => ({ key, value })),
      overrides: {
        containerOverrides: [
          {
            name: container,
            command: command === null ? undefined : [...command],
            cpu: cpu ?? undefined,
            memory: memory ?? undefined,
            environment: Object.entries(env).map(([name, value]) => ({ name, value })),
          },
        ],
      },
    }
  }

  async describe(ids: readonly string[], signal: AbortSignal): Promise<readonly WorkerState[]> {
    const known = new Map((await this.#tasks(ids, signal)).map((task) => [task.taskArn, task]))
    return ids.map((id) => {
      const task = known.get(id)
      return task === undefined ? { is: 'missing' } : stateOf(task)
    })
  }

  async #tasks(arns: readonly string[], abortSignal: AbortSignal): Promise<readonly Task[]> {
    const { sdk, client } = await this.#open()
    const batches = Array.from({ length: Math.ceil(arns.length / DESCRIBE_MAX) }, (_, index) =>
      arns.slice(index * DESCRIBE_MAX, (index + 1) * DESCRIBE_MAX),
    )
    const { cluster } = this.#settings.options
    const answers = await Promise.all(
      batches.map((tasks) => client.send(new sdk.DescribeTasksCommand({ cluster, tasks }), { abortSignal })),
    )
    return answers.flatMap(({ tasks = [] }) => tasks)
  }

  async find(launchMark: string, abortSignal: AbortSignal): Promise<readonly Found[]> {
    const { sdk, client } = await this.#open()
    const { cluster } = this.#settings.options
    const startedBy = `${STARTED_BY}${launchMark}`
    const lists = await Promise.all(
      (['RUNNING', 'STOPPED'] as const).map((desiredStatus) =>
        client.send(new sdk.ListTasksCommand({ cluster, startedBy, desiredStatus }), { abortSignal }),
      ),
    )
    const arns = [...new Set(lists.flatMap(({ taskArns = [] }) => taskArns))]
    if (arns.length === 0) return []
    return (await this.#tasks(arns, abortSignal)).map((task) => {
      const mark = parseMark(environmentOf(task)[MARK_VARIABLE])
      return { id: task.taskArn ?? '', tokenMark: mark?.token ?? null, state: stateOf(task) }
    })
  }

  async stop(id: string, _graceMs: number, abortSignal: AbortSignal): Promise<void> {
    const { sdk, client } = await this.#open()
    const { cluster } = this.#settings.options
    try {
      await client.send(new sdk.StopTaskCommand({ cluster, task: id, reason: 'Reprise needs it no more.' }), {
        abortSignal,
      })
    } catch (error) {
      const { name, words } = awsError(error)
      const isGone = name === 'InvalidParameterException' && /not found/i.test(words)
      if (!isGone) throw error
    }
  }

  close(): void {
    void this.#opened?.then(
      ({ client }) => client.destroy(),
      () => undefined,
    )
  }

  #open(): Promise<{ readonly sdk: Sdk; readonly client: ECSClient }> {
    this.#opened ??= import('@aws-sdk/client-ecs')
      .catch(orInstall('@aws-sdk/client-ecs', 'ECS launcher'))
      .then((sdk) => {
        const { region, endpoint } = this.#settings.options
        const client = new sdk.ECSClient({
          maxAttempts: CALL_ATTEMPTS_MAX,
          ...(region === undefined ? {} : { region }),
          ...(endpoint === undefined ? {} : { endpoint }),
        })
        return { sdk, client }
      })
    return this.#opened
  }
}

const stateOf = (task: Task): WorkerState => ecsState(task, task.overrides?.containerOverrides?.[0]?.name ?? null)

function environmentOf({ overrides }: Task): Readonly<Record<string, string>> {
  const pairs = (overrides?.containerOverrides ?? []).flatMap(({ environment = [] }) => environment)
  return Object.fromEntries(pairs.map(({ name = '', value = '' }) => [name, value]))
}
