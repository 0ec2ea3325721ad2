// Kubernetes as a platform: each worker is a job of batch/v1, named after its launch, so that a second one can't be created; labels
// bring jobs and pods of many launches in one list.

import type {
  BatchV1Api,
  ConfigurationOptions,
  CoreV1Api,
  ObservableMiddleware,
  V1Job,
  V1Pod,
} from '@kubernetes/client-node'
import { DuplicateExecutionError, mapLimited, messageOf } from '@reprise/core'
import { describedFailure } from '../described-failure.ts'
import { orInstall } from '../platform/optional-peer.ts'
import {
  type Found,
  type MarkedOrder,
  type Platform,
  UnclearStartError,
  type WorkerState,
} from '../platform/platform.ts'
import { launchDenied, launchRefused, notReached, platformFull, wasNotSent } from '../platform/refusals.ts'
import { jobState } from './ends.ts'
import { jobFor, jobName, LAUNCH_LABEL, markOfName, TOKEN_LABEL } from './job.ts'
import type { KubernetesSettings } from './options.ts'

/** Launches in one list: their marks stand in the address. */
const MARKS_MAX = 50
const LISTS_AT_ONCE = 4

interface Api {
  readonly batch: BatchV1Api
  readonly core: CoreV1Api
  /** The option of a call that ends with this signal. */
  readonly until: (signal: AbortSignal) => ConfigurationOptions<ObservableMiddleware>
  readonly namespace: string
}

export class KubernetesPlatform implements Platform {
  readonly recognisesOrders = true
  readonly #settings: KubernetesSettings
  #opened: Promise<Api> | null = null

  constructor(settings: KubernetesSettings) {
    this.#settings = settings
    // It takes a while to load, and the first look has little time. What goes wrong is told at the first call.
    void this.#open().catch(() => undefined)
  }

  async start(marked: MarkedOrder, signal: AbortSignal): Promise<string> {
    const { batch, until, namespace } = await this.#open()
    const { jobOf, keepForMs } = this.#settings
    const body = jobFor(marked, jobOf(marked.order), keepForMs)
    try {
      return idOf(await batch.createNamespacedJob({ namespace, body }, until(signal)))
    } catch (error) {
      if (problemOf(error).status === 409) return this.#taken(marked, signal)
      throw startFailure(error)
    }
  }

  /** There is a job of this name: from this very order, or from one that was released. */
  async #taken({ order, mark }: MarkedOrder, signal: AbortSignal): Promise<string> {
    const [found] = await this.#found([mark.launch], signal)
    if (found?.tokenMark === mark.token) return found.id
    if (found === undefined || found.state.is === 'running')
      throw new DuplicateExecutionError(order.taskId, order.attempt)
    await this.remove(found.id, signal)
    throw describedFailure({
      code: 'LAUNCH_BUSY',
      says: 'transient',
      message: `An ended job of an earlier launch still had the name ${jobName(mark.launch)}; it is being removed.`,
    })
  }

  async describe(ids: readonly string[], signal: AbortSignal): Promise<readonly WorkerState[]> {
    const found = await this.#found(
      ids.map((id) => markOfName(nameOf(id))),
      signal,
    )
    const states = new Map(found.map(({ id, state }) => [id, state]))
    return ids.map((id) => states.get(id) ?? { is: 'missing' })
  }

  find(launchMark: string, signal: AbortSignal): Promise<readonly Found[]> {
    return this.#found([launchMark], signal)
  }

  async #found(marks: readonly string[], signal: AbortSignal): Promise<readonly Found[]> {
    const batches = Array.from({ length: Math.ceil(marks.length / MARKS_MAX) }, (_, index) =>
      marks.slice(index * MARKS_MAX, (index + 1) * MARKS_MAX),
    )
    return (await mapLimited(batches, LISTS_AT_ONCE, (one) => this.#foundOnce(one, signal))).flat()
  }

  async #foundOnce(marks: readonly string[], signal: AbortSignal): Promise<readonly Found[]> {
    const { batch, core, until, namespace } = await this.#open()
    const labelSelector = `${LAUNCH_LABEL} in (${marks.join(',')})`
    const [jobs, pods] = await Promise.all([
      batch.listNamespacedJob({ namespace, labelSelector }, until(signal)),
      core.listNamespacedPod({ namespace, labelSelector }, until(signal)),
    ])
    return jobs.items.map((job) => ({
      id: idOf(job),
      tokenMark: job.metadata?.labels?.[TOKEN_LABEL] ?? null,
      state: jobState(job, podsOf(job, pods.items)),
    }))
  }

  async stop(id: string, graceMs: number, signal: AbortSignal): Promise<void> {
    // In the foreground: the job is gone when its pods are.
    const gracePeriodSeconds = Math.max(Math.ceil(graceMs / 1_000), 1)
    await this.#delete(id, { propagationPolicy: 'Foreground', gracePeriodSeconds }, signal)
  }

  async remove(id: string, signal: AbortSignal): Promise<void> {
    await this.#delete(id, { propagationPolicy: 'Background' }, signal)
  }

  async #delete(
    id: string,
    how: { readonly propagationPolicy: string; readonly gracePeriodSeconds?: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { batch, until, namespace } = await this.#open()
    const [name = '', uid = ''] = id.split('/')
    const body = { ...how, preconditions: { uid } }
    try {
      await batch.deleteNamespacedJob({ namespace, name, body }, until(signal))
    } catch (error) {
      // Gone, or another job has the name now.
      const { status } = problemOf(error)
      if (status !== 404 && status !== 409) throw error
    }
  }

  close(): void {}

  #open(): Promise<Api> {
    this.#opened ??= import('@kubernetes/client-node')
      .catch(orInstall('@kubernetes/client-node', 'Kubernetes launcher'))
      .then((sdk) => {
        const { kubeconfig, context, namespace } = this.#settings.options
        const config = new sdk.KubeConfig()
        if (kubeconfig === undefined) config.loadFromDefault()
        else config.loadFromFile(kubeconfig)
        if (context !== undefined) config.setCurrentContext(context)
        const own = config.getContextObject(config.getCurrentContext())?.namespace
        return {
          batch: config.makeApiClient(sdk.BatchV1Api),
          core: config.makeApiClient(sdk.CoreV1Api),
          until: (signal) => ({
            middleware: [
              {
                pre: (request) => {
                  request.setSignal(signal)
                  return new sdk.Observable(Promise.resolve(request))
                },
                post: (response) => new sdk.Observable(Promise.resolve(response)),
              },
            ],
            middlewareMergeStrategy: 'append',
          }),
          namespace: namespace ?? own ?? 'default',
        }
      })
    return this.#opened
  }
}

/** Name and uid: a later job of the same name is another one. */
const idOf = ({ metadata }: V1Job): string => `${metadata?.name ?? ''}/${metadata?.uid ?? ''}`
const nameOf = (id: string): string => id.split('/')[0] ?? ''

const podsOf = (job: V1Job, pods: readonly V1Pod[]): readonly V1Pod[] =>
  pods.filter(({ metadata }) => metadata?.labels?.[TOKEN_LABEL] === job.metadata?.labels?.[TOKEN_LABEL])

interface Problem {
  /** Null if no answer came. */
  readonly status: number | null
  readonly words: string
  readonly retryAfterMs: number | null
}

function problemOf(error: unknown): Problem {
  const { code, body, headers } = (typeof error === 'object' && error !== null ? error : {}) as {
    readonly code?: unknown
    readonly body?: unknown
    readonly headers?: Readonly<Record<string, string>>
  }
  if (typeof code !== 'number') return { status: null, words: `${messageOf(error)}.`, retryAfterMs: null }
  const { message } = (typeof body === 'string' ? parsed(body) : (body ?? {})) as { readonly message?: string }
  const seconds = Number(headers?.['retry-after'] ?? Number.NaN)
  return {
    status: code,
    words: `${code} ${message ?? 'without words'}.`,
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : null,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function startFailure(error: unknown): Error {
  const { status, words, retryAfterMs } = problemOf(error)
  if (status === null) {
    if (wasNotSent(error)) return notReached('Kubernetes', words)
    // What fails before anything is sent, such as a configuration that makes no sense, is an error of another kind.
    const isOfTheWay = error instanceof TypeError || (error instanceof Error && error.name === 'AbortError')
    return isOfTheWay ? new UnclearStartError(words, { cause: error }) : launchRefused('Kubernetes', words)
  }
  if (status === 401) return notReached('Kubernetes', words)
  if (status === 429 || (status === 403 && /exceeded quota/i.test(words)))
    return platformFull('Kubernetes', words, retryAfterMs)
  if (status >= 500) return new UnclearStartError(words, { cause: error })
  return status === 403 ? launchDenied('Kubernetes', words) : launchRefused('Kubernetes', words)
}
