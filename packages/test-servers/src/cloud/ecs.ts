// ECS for tests, over real HTTP on a loopback port, in AWS JSON 1.1: RunTask with client tokens, DescribeTasks, ListTasks, StopTask.
// It runs nothing (see workers.ts), checks no signature, and knows one cluster.

import { type CloudAnswer, type CloudCall, CloudServer, type CloudServerOptions } from './server.ts'
import type { FakeEnd, FakeWorker } from './workers.ts'

const TARGET = 'AmazonEC2ContainerServiceV20141113.'
const ACCOUNT = 'arn:aws:ecs:eu-west-1:123456789012'
const DESCRIBE_MAX = 100

export async function startFakeEcs(options: CloudServerOptions & { readonly cluster?: string } = {}): Promise<FakeEcs> {
  const ecs = new FakeEcs(options)
  await ecs.listen()
  return ecs
}

interface RunTask {
  readonly cluster?: string
  readonly taskDefinition?: string
  readonly clientToken?: string
  readonly startedBy?: string
  readonly overrides?: {
    readonly containerOverrides?: readonly {
      readonly name?: string
      readonly environment?: readonly { readonly name: string; readonly value: string }[]
    }[]
  }
}

export class FakeEcs extends CloudServer {
  readonly cluster: string
  readonly #byToken = new Map<string, { readonly worker: FakeWorker; readonly request: string }>()

  constructor({ cluster = 'workers', ...options }: CloudServerOptions & { readonly cluster?: string }) {
    super(options)
    this.cluster = cluster
  }

  protected nameOf({ method, headers }: Omit<CloudCall, 'name'>): string | null {
    const target = headers['x-amz-target']
    const isKnown = method === 'POST' && typeof target === 'string' && target.startsWith(TARGET)
    return isKnown ? target.slice(TARGET.length) : null
  }

  protected perform(call: CloudCall): CloudAnswer {
    const { cluster, tasks, task, startedBy, desiredStatus } = call.body as {
      readonly cluster?: string
      readonly tasks?: readonly string[]
      readonly task?: string
      readonly startedBy?: string
      readonly desiredStatus?: string
    }
    if (cluster !== this.cluster) return problem('ClusterNotFoundException', 'Cluster not found.')
    switch (call.name) {
      case 'RunTask':
        return this.#run(call.body)
      case 'DescribeTasks':
        return this.#describe(tasks ?? [])
      case 'ListTasks':
        return this.#list(startedBy ?? '', desiredStatus ?? 'RUNNING')
      case 'StopTask':
        return this.#stop(task ?? '')
      default:
        return problem('UnknownOperationException', call.name)
    }
  }

  #run(body: Readonly<Record<string, unknown>>): CloudAnswer {
    const { taskDefinition, clientToken, overrides } = body as RunTask
    if (taskDefinition === undefined) return problem('ClientException', 'TaskDefinition not found.')
    const request = JSON.stringify(body)
    const earlier = clientToken === undefined ? undefined : this.#byToken.get(clientToken)
    if (earlier !== undefined && earlier.request !== request) {
      return problem('ConflictException', 'The clientToken was used with other parameters.')
    }
    const pairs = overrides?.containerOverrides?.flatMap(({ environment = [] }) => environment) ?? []
    const env = Object.fromEntries(pairs.map(({ name, value }) => [name, value]))
    const worker =
      earlier?.worker ??
      this.begin((serial) => `${ACCOUNT}:task/${this.cluster}/${String(serial).padStart(32, '0')}`, env, body)
    if (clientToken !== undefined) this.#byToken.set(clientToken, { worker, request })
    return done({ tasks: [taskOf(worker)], failures: [] })
  }

  #describe(arns: readonly string[]): CloudAnswer {
    if (arns.length > DESCRIBE_MAX)
      return problem('InvalidParameterException', 'Tasks cannot have more than 100 items.')
    const known = new Map(this.workers.filter(({ isHidden }) => !isHidden).map((worker) => [worker.id, worker]))
    return done({
      tasks: arns.flatMap((arn) => {
        const worker = known.get(arn)
        return worker === undefined ? [] : [taskOf(worker)]
      }),
      failures: arns.filter((arn) => !known.has(arn)).map((arn) => ({ arn, reason: 'MISSING' })),
    })
  }

  #list(startedBy: string, desiredStatus: string): CloudAnswer {
    const found = this.workers.filter(
      ({ request, isHidden, isRunning }) =>
        !isHidden && request.startedBy === startedBy && isRunning === (desiredStatus === 'RUNNING'),
    )
    return done({ taskArns: found.map(({ id }) => id) })
  }

  #stop(arn: string): CloudAnswer {
    const worker = this.workers.find(({ id }) => id === arn)
    if (worker === undefined) return problem('InvalidParameterException', 'The referenced task was not found.')
    worker.stop()
    return done({ task: taskOf(worker) })
  }

  protected refusal(kind: 'throttled' | 'denied' | 'full' | 'failing' | 'unknown', call: string): CloudAnswer {
    if (kind === 'throttled') return problem('ThrottlingException', 'Rate exceeded.')
    if (kind === 'denied') return problem('AccessDeniedException', deniedWords(call))
    if (kind === 'failing') return problem('ServerException', 'Service Unavailable.', 500)
    if (kind === 'unknown') return problem('UnknownOperationException', call)
    return done({ tasks: [], failures: [{ arn: `${ACCOUNT}:container-instance/1`, reason: 'RESOURCE:MEMORY' }] })
  }

  protected lie({ name }: CloudCall): CloudAnswer {
    return done(name === 'ListTasks' ? { taskArns: [] } : { tasks: [], failures: [] })
  }
}

/** As AWS says it: with the names of the role and of what it wanted, which may be anything. */
const deniedWords = (call: string): string =>
  `User: arn:aws:sts::123456789012:assumed-role/capacity-planner/i-1 is not authorized to perform: ecs:${call} on resource: ${ACCOUNT}:task-definition/render:7 because no identity-based policy allows the ecs:${call} action`

const done = (body: unknown): CloudAnswer => ({
  status: 200,
  body,
  headers: { 'content-type': 'application/x-amz-json-1.1' },
})

const problem = (type: string, message: string, status = 400): CloudAnswer => ({
  status,
  body: { __type: type, message },
  headers: { 'content-type': 'application/x-amz-json-1.1' },
})

function taskOf(worker: FakeWorker) {
  const { overrides, taskDefinition, startedBy } = worker.request as RunTask
  const name = overrides?.containerOverrides?.[0]?.name ?? 'worker'
  const end = worker.end === null ? null : ECS_ENDS[worker.end.by](worker.end)
  return {
    taskArn: worker.id,
    taskDefinitionArn: `${ACCOUNT}:task-definition/${taskDefinition}`,
    startedBy,
    overrides,
    createdAt: worker.startedAt / 1_000,
    lastStatus: worker.isRunning ? 'RUNNING' : 'STOPPED',
    desiredStatus: worker.isRunning ? 'RUNNING' : 'STOPPED',
    containers: [
      {
        name,
        lastStatus: worker.isRunning ? 'RUNNING' : 'STOPPED',
        ...(end?.exitCode === undefined ? {} : { exitCode: end.exitCode }),
        ...(end?.reason === undefined ? {} : { reason: end.reason }),
      },
    ],
    ...(end === null
      ? {}
      : { stopCode: end.stopCode, stoppedReason: end.stoppedReason, stoppedAt: (worker.endedAt ?? 0) / 1_000 }),
  }
}

interface EcsEnd {
  readonly stopCode: string
  readonly stoppedReason: string
  readonly exitCode?: number
  readonly reason?: string
}

const EXITED = { stopCode: 'EssentialContainerExited', stoppedReason: 'Essential container in task exited' }

const ECS_ENDS: Readonly<Record<FakeEnd['by'], (end: FakeEnd) => EcsEnd>> = {
  exit: (end) => ({ ...EXITED, exitCode: end.by === 'exit' ? end.exitCode : 0 }),
  'out of memory': () => ({
    ...EXITED,
    exitCode: 137,
    reason: 'OutOfMemoryError: Container killed due to memory usage',
  }),
  image: () => ({
    stopCode: 'TaskFailedToStart',
    stoppedReason: 'CannotPullContainerError: pull image manifest has been retried 1 time(s): manifest unknown',
  }),
  interruption: () => ({
    stopCode: 'SpotInterruption',
    stoppedReason: 'Your Spot Task was interrupted.',
    exitCode: 143,
  }),
  start: () => ({
    stopCode: 'TaskFailedToStart',
    stoppedReason: 'ResourceInitializationError: unable to pull secrets or registry auth',
  }),
  deadline: () => ({ ...EXITED, exitCode: 1 }),
  stop: () => ({ stopCode: 'UserInitiated', stoppedReason: 'Reprise needs it no more.', exitCode: 143 }),
}
