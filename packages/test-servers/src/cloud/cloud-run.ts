// Cloud Run's Admin API v2 for tests, as far as jobs go, over real HTTP on a loopback port: run, executions, tasks, cancel. It also
// plays the metadata server of a machine, which hands out access tokens. It runs nothing (see workers.ts).

import { type CloudAnswer, type CloudCall, CloudServer, type CloudServerOptions } from './server.ts'
import type { FakeEnd, FakeWorker } from './workers.ts'

const TOKEN_PATH = '/computeMetadata/v1/instance/service-accounts/default/token'

export async function startFakeCloudRun(options: CloudServerOptions = {}): Promise<FakeCloudRun> {
  const cloudRun = new FakeCloudRun(options)
  await cloudRun.listen()
  return cloudRun
}

interface Overrides {
  readonly containerOverrides?: readonly {
    readonly name?: string
    readonly env?: readonly { readonly name: string; readonly value: string }[]
  }[]
}

const PATHS: readonly (readonly [method: string, path: RegExp, name: string])[] = [
  ['GET', /^\/computeMetadata\/v1\/instance(?:\/.*)?$/, 'metadata'],
  ['POST', /^\/v2\/(projects\/[^/]+\/locations\/[^/]+\/jobs\/[^/:]+):run$/, 'run'],
  ['GET', /^\/v2\/(projects\/[^/]+\/locations\/[^/]+\/jobs\/[^/]+)\/executions$/, 'listExecutions'],
  ['GET', /^\/v2\/(projects\/.+\/executions\/[^/]+)\/tasks$/, 'listTasks'],
  ['GET', /^\/v2\/(projects\/.+\/executions\/[^/:]+)$/, 'getExecution'],
  ['POST', /^\/v2\/(projects\/.+\/executions\/[^/:]+):cancel$/, 'cancel'],
]

export class FakeCloudRun extends CloudServer {
  readonly accessToken = 'ya29.test'

  protected nameOf({ method, url: { pathname } }: Omit<CloudCall, 'name'>): string | null {
    return PATHS.find(([its, path]) => its === method && path.test(pathname))?.[2] ?? null
  }

  protected perform(call: CloudCall): CloudAnswer {
    const { name, url, headers } = call
    if (name === 'metadata') return this.#metadata(url.pathname)
    if (headers.authorization !== `Bearer ${this.accessToken}`) {
      return problem(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')
    }
    const subject = PATHS.find(([, , its]) => its === name)?.[1].exec(url.pathname)?.[1] ?? ''
    switch (name) {
      case 'run':
        return this.#run(subject, call.body)
      case 'listExecutions':
        return this.#list(subject, url.searchParams)
      default:
        return this.#ofExecution(name, subject)
    }
  }

  #metadata(pathname: string): CloudAnswer {
    const headers = { 'metadata-flavor': 'Google' }
    if (pathname !== TOKEN_PATH) return { status: 200, body: {}, headers }
    return { status: 200, body: { access_token: this.accessToken, expires_in: 3_600, token_type: 'Bearer' }, headers }
  }

  #run(job: string, body: Readonly<Record<string, unknown>>): CloudAnswer {
    if (job.endsWith('/missing')) return problem(404, 'NOT_FOUND', `Resource '${job}' was not found.`)
    const { containerOverrides = [] } = (body.overrides ?? {}) as Overrides
    const env = Object.fromEntries(
      containerOverrides.flatMap(({ env: pairs = [] }) => pairs).map((one) => [one.name, one.value]),
    )
    const worker = this.begin((serial) => `${job}/executions/execution-${serial}`, env, { ...body, job })
    const project = job.split('/').slice(0, 4).join('/')
    const metadata = { '@type': 'type.googleapis.com/google.cloud.run.v2.Execution', ...executionOf(worker) }
    return { status: 200, body: { name: `${project}/operations/run-${worker.id.split('/').at(-1)}`, metadata } }
  }

  #list(job: string, query: URLSearchParams): CloudAnswer {
    const all = this.workers.filter(({ request, isHidden }) => request.job === job && !isHidden).toReversed()
    const from = Number(query.get('pageToken') ?? '0')
    const size = Number(query.get('pageSize') ?? '100')
    const more = from + size < all.length ? { nextPageToken: String(from + size) } : {}
    return { status: 200, body: { executions: all.slice(from, from + size).map(executionOf), ...more } }
  }

  #ofExecution(name: string, id: string): CloudAnswer {
    const worker = this.workers.find((one) => one.id === id)
    if (worker === undefined || worker.isHidden) return problem(404, 'NOT_FOUND', `Resource '${id}' was not found.`)
    if (name === 'listTasks') return { status: 200, body: { tasks: [taskOf(worker)] } }
    if (name === 'cancel') {
      if (!worker.isRunning) return problem(400, 'FAILED_PRECONDITION', 'The execution has completed.')
      worker.stop()
    }
    return { status: 200, body: executionOf(worker) }
  }

  protected refusal(kind: 'throttled' | 'denied' | 'full' | 'failing' | 'unknown', call: string): CloudAnswer {
    switch (kind) {
      case 'throttled':
        return problem(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded for quota metric Job run requests.', {
          'retry-after': '2',
        })
      case 'full':
        return problem(429, 'RESOURCE_EXHAUSTED', 'Too many running executions.')
      case 'denied':
        return problem(403, 'PERMISSION_DENIED', `Permission 'run.jobs.${call}' denied.`)
      case 'failing':
        return problem(503, 'UNAVAILABLE', 'The service is currently unavailable.')
      case 'unknown':
        return problem(404, 'NOT_FOUND', call)
    }
  }

  protected lie({ name }: CloudCall): CloudAnswer {
    return { status: 200, body: name === 'listExecutions' ? { executions: [] } : {} }
  }
}

const problem = (
  code: number,
  status: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): CloudAnswer => ({ status: code, body: { error: { code, message, status } }, headers })

function executionOf(worker: FakeWorker) {
  const { containerOverrides = [] } = (worker.request.overrides ?? {}) as Overrides
  const end = worker.end === null ? null : ENDS[worker.end.by](worker.end)
  return {
    name: worker.id,
    createTime: new Date(worker.startedAt).toISOString(),
    template: { containers: containerOverrides.map(({ name = 'worker', env = [] }) => ({ name, env })) },
    ...(end === null
      ? { runningCount: 1, conditions: [{ type: 'Completed', state: 'CONDITION_RECONCILING' }] }
      : {
          completionTime: new Date(worker.endedAt ?? 0).toISOString(),
          [end.count]: 1,
          conditions: [{ type: 'Completed', ...end.condition }],
        }),
  }
}

function taskOf(worker: FakeWorker) {
  const { end } = worker
  const exitCode = end?.by === 'exit' ? end.exitCode : end?.by === 'out of memory' ? 137 : undefined
  return { name: `${worker.id}/tasks/task-0`, lastAttemptResult: exitCode === undefined ? {} : { exitCode } }
}

interface CloudRunEnd {
  readonly count: 'succeededCount' | 'failedCount' | 'cancelledCount'
  readonly condition: Readonly<Record<string, string>>
}

const failed = (condition: Readonly<Record<string, string>>): CloudRunEnd => ({
  count: 'failedCount',
  condition: { state: 'CONDITION_FAILED', ...condition },
})

const ENDS: Readonly<Record<FakeEnd['by'], (end: FakeEnd) => CloudRunEnd>> = {
  exit: (end) =>
    end.by === 'exit' && end.exitCode === 0
      ? { count: 'succeededCount', condition: { state: 'CONDITION_SUCCEEDED' } }
      : failed({
          executionReason: 'NON_ZERO_EXIT_CODE',
          message: 'Task task-0 failed with message: The container exited with an error.',
        }),
  'out of memory': () =>
    failed({
      executionReason: 'NON_ZERO_EXIT_CODE',
      message: 'Task task-0 failed with message: Memory limit of 512 MiB exceeded with 520 MiB used.',
    }),
  image: () =>
    failed({ reason: 'CONTAINER_MISSING', message: "Image 'europe-docker.pkg.dev/p/r/worker:1' not found." }),
  interruption: () =>
    failed({
      executionReason: 'JOB_STATUS_SERVICE_POLLING_ERROR',
      message: 'The instance was preempted by maintenance.',
    }),
  start: () => failed({ reason: 'SECRETS_ACCESS_CHECK_FAILED', message: 'Permission denied on secret.' }),
  deadline: () => failed({ message: 'Task task-0 failed with message: The configured timeout was reached.' }),
  stop: () => ({
    count: 'cancelledCount',
    condition: { state: 'CONDITION_FAILED', executionReason: 'CANCELLED', message: 'Execution was cancelled.' },
  }),
}
