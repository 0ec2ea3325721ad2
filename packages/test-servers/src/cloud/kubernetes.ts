// The part of a Kubernetes API server that jobs need, for tests, over real HTTP on a loopback port: jobs of batch/v1 and the pods that
// come of them. It checks a bearer token, and schedules nothing (see workers.ts).

import { type CloudAnswer, type CloudCall, CloudServer, type CloudServerOptions } from './server.ts'
import type { FakeEnd, FakeWorker } from './workers.ts'

export async function startFakeKubernetes(options: CloudServerOptions = {}): Promise<FakeKubernetes> {
  const kubernetes = new FakeKubernetes(options)
  await kubernetes.listen()
  return kubernetes
}

interface Job {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: {
        readonly containers: readonly {
          readonly name: string
          readonly image: string
          readonly env: readonly { readonly name: string; readonly value: string }[]
        }[]
      }
    }
  }
}

const PATHS: readonly (readonly [method: string, path: RegExp, name: string])[] = [
  ['POST', /^\/apis\/batch\/v1\/namespaces\/[^/]+\/jobs$/, 'createJob'],
  ['GET', /^\/apis\/batch\/v1\/namespaces\/[^/]+\/jobs$/, 'listJobs'],
  ['DELETE', /^\/apis\/batch\/v1\/namespaces\/[^/]+\/jobs\/([^/]+)$/, 'deleteJob'],
  ['GET', /^\/api\/v1\/namespaces\/[^/]+\/pods$/, 'listPods'],
]

export class FakeKubernetes extends CloudServer {
  readonly token = 'kube-token'
  readonly #jobs = new Map<string, FakeWorker>()

  /** What a client needs to find and use it. */
  get kubeconfig(): string {
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'fake', cluster: { server: this.url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'orchestrator', user: { token: this.token } }],
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'orchestrator', namespace: 'workers' } }],
      'current-context': 'fake',
    })
  }

  protected nameOf({ method, url: { pathname } }: Omit<CloudCall, 'name'>): string | null {
    return PATHS.find(([its, path]) => its === method && path.test(pathname))?.[2] ?? null
  }

  protected perform(call: CloudCall): CloudAnswer {
    const { name, url, headers, body } = call
    if (headers.authorization !== `Bearer ${this.token}`) return problem(401, 'Unauthorized', 'Unauthorized')
    switch (name) {
      case 'createJob':
        return this.#create(body)
      case 'deleteJob':
        return this.#delete(PATHS[2]?.[1].exec(url.pathname)?.[1] ?? '', body)
      default:
        return this.#list(name === 'listPods', url.searchParams.get('labelSelector') ?? '')
    }
  }

  #create(body: Readonly<Record<string, unknown>>): CloudAnswer {
    const job = body as unknown as Job
    const { name } = job.metadata
    if (this.#jobs.has(name)) return problem(409, 'AlreadyExists', `jobs.batch "${name}" already exists`)
    const pairs = job.spec.template.spec.containers.flatMap(({ env }) => env)
    const env = Object.fromEntries(pairs.map((one) => [one.name, one.value]))
    const worker = this.begin((serial) => `${name}/uid-${serial}`, env, body)
    this.#jobs.set(name, worker)
    return { status: 201, body: jobOf(worker) }
  }

  #delete(name: string, body: Readonly<Record<string, unknown>>): CloudAnswer {
    const worker = this.#jobs.get(name)
    if (worker === undefined) return problem(404, 'NotFound', `jobs.batch "${name}" not found`)
    const { preconditions } = body as { readonly preconditions?: { readonly uid?: string } }
    if (preconditions?.uid !== undefined && preconditions.uid !== uidOf(worker)) {
      return problem(409, 'Conflict', 'Precondition failed: UID in precondition does not match.')
    }
    worker.stop()
    if (!worker.isRunning) this.#jobs.delete(name)
    return { status: 200, body: { kind: 'Status', apiVersion: 'v1', status: 'Success' } }
  }

  #list(arePods: boolean, labelSelector: string): CloudAnswer {
    const [, label = '', values = ''] = /^(\S+) in \(([^)]*)\)$/.exec(labelSelector) ?? []
    const wanted = new Set(values.split(','))
    const found = [...this.#jobs.values()].filter(
      ({ request, isHidden }) => !isHidden && wanted.has((request as unknown as Job).metadata.labels[label] ?? ''),
    )
    const items = arePods ? found.map(podOf) : found.map(jobOf)
    return { status: 200, body: { kind: arePods ? 'PodList' : 'JobList', apiVersion: 'v1', metadata: {}, items } }
  }

  protected refusal(kind: 'throttled' | 'denied' | 'full' | 'failing' | 'unknown', call: string): CloudAnswer {
    switch (kind) {
      case 'throttled':
        return problem(429, 'TooManyRequests', 'too many requests, please try again later', { 'retry-after': '1' })
      case 'full':
        return problem(
          403,
          'Forbidden',
          'jobs.batch "x" is forbidden: exceeded quota: workers, used: count/jobs.batch=10',
        )
      case 'denied':
        return problem(403, 'Forbidden', `User "orchestrator" cannot ${call} resource "jobs" in API group "batch"`)
      case 'failing':
        return problem(500, 'InternalError', 'etcdserver: request timed out')
      case 'unknown':
        return problem(404, 'NotFound', call)
    }
  }

  protected lie({ name }: CloudCall): CloudAnswer {
    const status = name === 'createJob' ? 500 : 200
    return status === 500
      ? problem(500, 'InternalError', 'It was created all the same.')
      : { status, body: { items: [] } }
  }
}

const problem = (
  code: number,
  reason: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): CloudAnswer => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, message, code },
  headers,
})

const uidOf = ({ id }: FakeWorker): string => id.split('/')[1] ?? ''

function jobOf(worker: FakeWorker) {
  const job = worker.request as unknown as Job
  return {
    ...job,
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...job.metadata, namespace: 'workers', uid: uidOf(worker), creationTimestamp: dated(worker.startedAt) },
    status:
      worker.end === null || worker.end.by === 'image' ? { active: 1 } : { conditions: [conditionOf(worker.end)] },
  }
}

function conditionOf(end: FakeEnd) {
  if (end.by === 'exit' && end.exitCode === 0) return { type: 'Complete', status: 'True' }
  if (end.by === 'deadline') {
    return {
      type: 'Failed',
      status: 'True',
      reason: 'DeadlineExceeded',
      message: 'Job was active longer than specified deadline',
    }
  }
  const message = 'Job has reached the specified backoff limit'
  return { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message }
}

function podOf(worker: FakeWorker) {
  const { template, ...job } = (worker.request as unknown as Job).spec
  const [container] = template.spec.containers
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${worker.id.replace('/', '-')}`, labels: template.metadata.labels },
    spec: { ...template.spec, ...job },
    status: { ...podStatus(worker.end, container?.name ?? 'worker', container?.image ?? '') },
  }
}

function podStatus(end: FakeEnd | null, name: string, image: string) {
  const container = (state: unknown) => ({
    containerStatuses: [{ name, image, imageID: '', ready: false, restartCount: 0, state }],
  })
  const terminated = (exitCode: number, reason: string) => ({
    phase: 'Failed',
    ...container({ terminated: { exitCode, reason } }),
  })
  switch (end?.by) {
    case undefined:
      return { phase: 'Running', ...container({ running: {} }) }
    case 'exit':
      return terminated(end?.by === 'exit' ? end.exitCode : 0, 'Error')
    case 'out of memory':
      return terminated(137, 'OOMKilled')
    case 'image':
      return {
        phase: 'Pending',
        ...container({ waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` } }),
      }
    case 'start':
      return terminated(128, 'StartError')
    case 'interruption':
      return {
        ...terminated(143, 'Error'),
        conditions: [
          {
            type: 'DisruptionTarget',
            status: 'True',
            reason: 'DeletionByTaintManager',
            message: 'Taint manager: deleting due to NoExecute taint',
          },
        ],
      }
    default:
      return terminated(143, 'Error')
  }
}

const dated = (at: number): string => new Date(at).toISOString()
