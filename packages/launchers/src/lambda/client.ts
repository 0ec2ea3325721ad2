// Lambda as far as we call it: one invocation, and what a function's configuration says about time-outs and retries. What it
// throws is the SDK's own error. It repeats no invocation: the service could run both.

import type { LambdaClient as SdkClient } from '@aws-sdk/client-lambda'
import { awsError } from '../aws/failure.ts'
import { orInstall } from '../platform/optional-peer.ts'

export interface LambdaOptions {
  /** By the usual chain of the SDK if not given. */
  readonly region?: string
  /** For another address than that of AWS. */
  readonly endpoint?: string
  /** Invocations that may wait for their answers at once; 1,000 if not given. */
  readonly connectionsMax?: number
}

export interface LambdaInvocation {
  /** Name, or the whole ARN. */
  readonly functionName: string
  /** A version or an alias. */
  readonly qualifier?: string | undefined
  /** `event` comes back when the service has taken it; `request` when the function has answered. */
  readonly kind: 'event' | 'request'
  /** JSON. */
  readonly payload: string
  readonly signal?: AbortSignal
}

export interface LambdaAnswer {
  readonly requestId: string | null
  /** What the function answered, as JSON; null for an event. */
  readonly payload: string | null
  /** `Unhandled` or `Handled` if the function failed: the payload then describes the error. */
  readonly functionError: string | null
}

export interface LambdaLimits {
  readonly timeoutMs: number
  /** How often the service runs an event again that failed. */
  readonly retries: number
  /** How long the service keeps an event that it could not run yet. */
  readonly eventAgeMs: number
}

export interface LambdaClient {
  invoke(invocation: LambdaInvocation): Promise<LambdaAnswer>
  limits(functionName: string, qualifier?: string, signal?: AbortSignal): Promise<LambdaLimits>
  close(): void
}

const CONNECTIONS_MAX = 1_000
/** Of a function that says nothing about it. */
const USUAL_TIMEOUT_S = 3
const USUAL_RETRIES = 2
const USUAL_EVENT_AGE_S = 21_600

type Sdk = typeof import('@aws-sdk/client-lambda')

export function openLambda(options: LambdaOptions = {}): LambdaClient {
  return new LambdaService(options)
}

class LambdaService implements LambdaClient {
  readonly #options: LambdaOptions
  #opened: Promise<{ readonly sdk: Sdk; readonly client: SdkClient }> | null = null

  constructor(options: LambdaOptions) {
    this.#options = options
  }

  async invoke({ functionName, qualifier, kind, payload, signal }: LambdaInvocation): Promise<LambdaAnswer> {
    const { sdk, client } = await this.#open()
    const answer = await client.send(
      new sdk.InvokeCommand({
        FunctionName: functionName,
        Qualifier: qualifier,
        InvocationType: kind === 'event' ? 'Event' : 'RequestResponse',
        Payload: payload,
      }),
      signal === undefined ? {} : { abortSignal: signal },
    )
    const { Payload, FunctionError, $metadata } = answer
    return {
      requestId: $metadata.requestId ?? null,
      payload: kind === 'event' || Payload === undefined ? null : Buffer.from(Payload).toString('utf8'),
      functionError: FunctionError ?? null,
    }
  }

  async limits(functionName: string, qualifier?: string, signal?: AbortSignal): Promise<LambdaLimits> {
    const { sdk, client } = await this.#open()
    const which = { FunctionName: functionName, Qualifier: qualifier }
    const sending = signal === undefined ? {} : { abortSignal: signal }
    const [{ Timeout = USUAL_TIMEOUT_S }, events] = await Promise.all([
      client.send(new sdk.GetFunctionConfigurationCommand(which), sending),
      client.send(new sdk.GetFunctionEventInvokeConfigCommand(which), sending).catch(nothingConfigured),
    ])
    return {
      timeoutMs: Timeout * 1_000,
      retries: events.MaximumRetryAttempts ?? USUAL_RETRIES,
      eventAgeMs: (events.MaximumEventAgeInSeconds ?? USUAL_EVENT_AGE_S) * 1_000,
    }
  }

  close(): void {
    void this.#opened?.then(
      ({ client }) => client.destroy(),
      () => undefined,
    )
  }

  #open(): Promise<{ readonly sdk: Sdk; readonly client: SdkClient }> {
    this.#opened ??= import('@aws-sdk/client-lambda')
      .catch(orInstall('@aws-sdk/client-lambda', 'Lambda launcher'))
      .then((sdk) => {
        const { region, endpoint, connectionsMax: maxSockets = CONNECTIONS_MAX } = this.#options
        const client = new sdk.LambdaClient({
          maxAttempts: 1,
          // A function may take a quarter of an hour to answer.
          requestHandler: { requestTimeout: 0, httpAgent: { maxSockets }, httpsAgent: { maxSockets } },
          ...(region === undefined ? {} : { region }),
          ...(endpoint === undefined ? {} : { endpoint }),
        })
        return { sdk, client }
      })
    return this.#opened
  }
}

function nothingConfigured(error: unknown): { MaximumRetryAttempts?: number; MaximumEventAgeInSeconds?: number } {
  if (awsError(error).name === 'ResourceNotFoundException') return {}
  throw error
}
