// Cloud Run jobs as far as we call them, by the Admin API v2 over REST: run a job with overrides, ask about executions, cancel one.
// Google's usual chain gives the credentials (google-auth-library, loaded when it is needed).

import { messageOf } from '@reprise/core'
import { orInstall } from '../platform/optional-peer.ts'

export interface CloudRunOptions {
  /** For another address than https://run.googleapis.com. */
  readonly endpoint?: string
  /** Gives an access token for each call; by Google's usual chain if not given. */
  readonly accessToken?: () => Promise<string>
}

export interface CloudRunOverrides {
  readonly containerOverrides?: readonly {
    readonly name?: string
    readonly args?: readonly string[]
    readonly env?: readonly { readonly name: string; readonly value: string }[]
  }[]
  readonly taskCount?: number
  /** `600s`. */
  readonly timeout?: string
}

export interface CloudRunExecution {
  /** `projects/…/locations/…/jobs/…/executions/…`. */
  readonly name: string
  readonly createTime?: string
  readonly completionTime?: string
  readonly succeededCount?: number
  readonly failedCount?: number
  readonly cancelledCount?: number
  readonly conditions?: readonly CloudRunCondition[]
  readonly template?: {
    readonly containers?: readonly {
      readonly name?: string
      readonly env?: readonly { readonly name: string; readonly value?: string }[]
    }[]
  }
}

export interface CloudRunCondition {
  readonly type?: string
  readonly state?: string
  readonly message?: string
  readonly reason?: string
  readonly executionReason?: string
}

export interface CloudRunTask {
  readonly name: string
  readonly lastAttemptResult?: {
    readonly status?: { readonly code?: number; readonly message?: string }
    readonly exitCode?: number
    readonly termSignal?: number
  }
}

export interface CloudRunClient {
  /** `job` is `projects/…/locations/…/jobs/…`. Comes back with the name of the execution. */
  run(job: string, overrides: CloudRunOverrides, signal?: AbortSignal): Promise<string>
  /** Null if there is none of that name. */
  execution(name: string, signal?: AbortSignal): Promise<CloudRunExecution | null>
  /** The latest come first. */
  executions(job: string, pageToken: string | null, signal?: AbortSignal): Promise<CloudRunPage>
  tasks(execution: string, signal?: AbortSignal): Promise<readonly CloudRunTask[]>
  cancel(execution: string, signal?: AbortSignal): Promise<void>
}

export interface CloudRunPage {
  readonly executions: readonly CloudRunExecution[]
  /** Null after the last page. */
  readonly nextPageToken: string | null
}

/** The service refused, or did not answer. */
export class CloudRunError extends Error {
  /** Null if no answer came. */
  readonly status: number | null
  /** As the service names it: `PERMISSION_DENIED`. */
  readonly code: string
  readonly retryAfterMs: number | null

  constructor(message: string, about: Pick<CloudRunError, 'status' | 'code' | 'retryAfterMs'>, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CloudRunError'
    this.status = about.status
    this.code = about.code
    this.retryAfterMs = about.retryAfterMs
  }
}

const ENDPOINT = 'https://run.googleapis.com'
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const PAGE_SIZE = 100

export function openCloudRun(options: CloudRunOptions = {}): CloudRunClient {
  return new CloudRunService(options)
}

class CloudRunService implements CloudRunClient {
  readonly #endpoint: string
  readonly #accessToken: () => Promise<string>

  constructor({ endpoint = ENDPOINT, accessToken = usualChain() }: CloudRunOptions) {
    this.#endpoint = endpoint.replace(/\/+$/, '')
    this.#accessToken = accessToken
  }

  async run(job: string, overrides: CloudRunOverrides, signal?: AbortSignal): Promise<string> {
    const operation = await this.#call('POST', `${job}:run`, { overrides }, signal)
    const { metadata } = operation as { readonly metadata?: { readonly name?: unknown } }
    if (typeof metadata?.name === 'string' && metadata.name !== '') return metadata.name
    throw new CloudRunError('Cloud Run did not name the execution.', {
      status: null,
      code: 'UNCLEAR',
      retryAfterMs: null,
    })
  }

  async execution(name: string, signal?: AbortSignal): Promise<CloudRunExecution | null> {
    try {
      return (await this.#call('GET', name, null, signal)) as CloudRunExecution
    } catch (error) {
      if (error instanceof CloudRunError && error.status === 404) return null
      throw error
    }
  }

  async executions(job: string, pageToken: string | null, signal?: AbortSignal): Promise<CloudRunPage> {
    const query = new URLSearchParams({ pageSize: String(PAGE_SIZE), ...(pageToken === null ? {} : { pageToken }) })
    const page = (await this.#call(
      'GET',
      `${job}/executions?${query.toString()}`,
      null,
      signal,
    )) as Partial<CloudRunPage>
    const { executions = [], nextPageToken } = page
    return { executions, nextPageToken: nextPageToken === '' || nextPageToken === undefined ? null : nextPageToken }
  }

  async tasks(execution: string, signal?: AbortSignal): Promise<readonly CloudRunTask[]> {
    const page = await this.#call('GET', `${execution}/tasks?pageSize=10`, null, signal)
    return (page as { readonly tasks?: readonly CloudRunTask[] }).tasks ?? []
  }

  async cancel(execution: string, signal?: AbortSignal): Promise<void> {
    await this.#call('POST', `${execution}:cancel`, {}, signal)
  }

  async #call(method: 'GET' | 'POST', path: string, body: unknown, signal?: AbortSignal): Promise<object> {
    const token = await this.#accessToken()
    let response: Response
    let text: string
    try {
      response = await fetch(`${this.#endpoint}/v2/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        redirect: 'error',
        ...(body === null ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      })
      text = await response.text()
    } catch (error) {
      const words = `Cloud Run could not be called: ${messageOf(error)}.`
      throw new CloudRunError(words, { status: null, code: 'NO_ANSWER', retryAfterMs: null }, { cause: error })
    }
    const content = contentOf(text)
    if (response.ok) return content
    const { error } = content as { readonly error?: { readonly status?: string; readonly message?: string } }
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    throw new CloudRunError(`Cloud Run answered ${response.status}: ${error?.message ?? text.slice(0, 200)}`, {
      status: response.status,
      code: error?.status ?? `HTTP_${response.status}`,
      retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : null,
    })
  }
}

function contentOf(text: string): object {
  try {
    const value: unknown = text === '' ? {} : JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** Environment, files, or the metadata of the machine, as Google's libraries look for them. */
function usualChain(): () => Promise<string> {
  let opened: Promise<{ getAccessToken(): Promise<string | null | undefined> }> | null = null
  return async () => {
    opened ??= import('google-auth-library')
      .catch(orInstall('google-auth-library', 'Cloud Run launcher'))
      .then(({ GoogleAuth }) => new GoogleAuth({ scopes: SCOPE }))
    try {
      const token = await (await opened).getAccessToken()
      if (typeof token === 'string' && token !== '') return token
      throw new Error('Google’s credentials gave no access token.')
    } catch (error) {
      const words = `There are no Google credentials: ${messageOf(error)}`
      throw new CloudRunError(words, { status: null, code: 'NO_CREDENTIALS', retryAfterMs: null }, { cause: error })
    }
  }
}
