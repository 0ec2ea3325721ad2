// Cloud Run jobs as a platform: each worker is an execution of a job with overrides. The service knows no order again, so the mark
// travels in the environment, and a launch is found by it in the list of executions.

import { mapLimited } from '@reprise/core'
import { MARK_VARIABLE, parseMark } from '../platform/mark.ts'
import {
  type Found,
  type MarkedOrder,
  type Platform,
  UnclearStartError,
  type WorkerState,
} from '../platform/platform.ts'
import { launchDenied, launchRefused, notReached, platformFull, wasNotSent } from '../platform/refusals.ts'
import { type CloudRunClient, CloudRunError, type CloudRunExecution, openCloudRun } from './client.ts'
import { completionOf, executionCause, hasSucceeded } from './ends.ts'
import type { CloudRunSettings } from './options.ts'

const LOOKS_AT_ONCE = 8
/** Pages of executions that are searched for one launch: more than Cloud Run keeps of a job as a rule. */
const PAGES_MAX = 20

export class CloudRunPlatform implements Platform {
  readonly recognisesOrders = false
  readonly #settings: CloudRunSettings
  readonly #client: CloudRunClient

  constructor(settings: CloudRunSettings) {
    const { endpoint, accessToken } = settings.options
    this.#settings = settings
    this.#client = openCloudRun({
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(accessToken === undefined ? {} : { accessToken }),
    })
  }

  async start({ order, env }: MarkedOrder, signal: AbortSignal): Promise<string> {
    const { job, container, args } = this.#settings.runOf(order)
    const override = {
      ...(container === null ? {} : { name: container }),
      ...(args === null ? {} : { args }),
      env: Object.entries(env).map(([name, value]) => ({ name, value })),
    }
    const timeout = `${Math.ceil(order.timeoutMs / 1_000)}s`
    try {
      return await this.#client.run(job, { containerOverrides: [override], taskCount: 1, timeout }, signal)
    } catch (error) {
      throw startFailure(error)
    }
  }

  describe(ids: readonly string[], signal: AbortSignal): Promise<readonly WorkerState[]> {
    return mapLimited(ids, LOOKS_AT_ONCE, async (id) => {
      try {
        const execution = await this.#client.execution(id, signal)
        return execution === null ? { is: 'missing' } : await this.#stateOf(execution, signal)
      } catch {
        return { is: 'unknown' }
      }
    })
  }

  async #stateOf(execution: CloudRunExecution, signal: AbortSignal): Promise<WorkerState> {
    const completion = completionOf(execution)
    if (completion === null) return { is: 'running' }
    const tasks = hasSucceeded(completion) ? [] : await this.#client.tasks(execution.name, signal).catch(() => [])
    return { is: 'ended', cause: executionCause(completion, tasks) }
  }

  async find(launchMark: string, signal: AbortSignal, scope: 'latest' | 'all'): Promise<readonly Found[] | null> {
    const perJob = await Promise.all(
      this.#settings.jobs.map((job) => this.#findIn(job, launchMark, scope === 'latest' ? 1 : PAGES_MAX, signal)),
    )
    const found = perJob.flatMap((one) => one ?? [])
    return found.length === 0 && perJob.includes(null) ? null : found
  }

  /** Null if there is more than is searched. */
  async #findIn(
    job: string,
    launchMark: string,
    pagesMax: number,
    signal: AbortSignal,
  ): Promise<readonly Found[] | null> {
    const found: Found[] = []
    let pageToken: string | null = null
    for (let page = 0; page < pagesMax; page += 1) {
      const { executions, nextPageToken } = await this.#client.executions(job, pageToken, signal)
      for (const execution of executions) {
        const mark = markOf(execution)
        if (mark?.launch !== launchMark) continue
        found.push({ id: execution.name, tokenMark: mark.token, state: await this.#stateOf(execution, signal) })
      }
      if (nextPageToken === null || found.length > 0) return found
      pageToken = nextPageToken
    }
    return null
  }

  async stop(id: string, _graceMs: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#client.cancel(id, signal)
    } catch (error) {
      const isOver = error instanceof CloudRunError && (error.status === 404 || error.code === 'FAILED_PRECONDITION')
      if (!isOver) throw error
    }
  }

  close(): void {}
}

function markOf({ template }: CloudRunExecution) {
  const pairs = (template?.containers ?? []).flatMap(({ env = [] }) => env)
  return parseMark(pairs.find(({ name }) => name === MARK_VARIABLE)?.value)
}

function startFailure(error: unknown): Error {
  if (!(error instanceof CloudRunError)) return new UnclearStartError(String(error), { cause: error })
  const { status, code, message, retryAfterMs } = error
  const words = /[.!?]$/.test(message) ? message : `${message}.`
  if (code === 'NO_CREDENTIALS' || status === 401) return notReached('Cloud Run', words)
  if (status === null)
    return wasNotSent(error) ? notReached('Cloud Run', words) : new UnclearStartError(words, { cause: error })
  if (status === 429) return platformFull('Cloud Run', words, retryAfterMs)
  if (status >= 500) return new UnclearStartError(words, { cause: error })
  return status === 403 ? launchDenied('Cloud Run', words) : launchRefused('Cloud Run', words)
}
