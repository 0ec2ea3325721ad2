// Lambda for tests, over real HTTP on a loopback port, as its REST interface documents it: Invoke as an event and as a request with
// an answer, GetFunctionConfiguration, GetFunctionEventInvokeConfig. It runs nothing: a test answers for the function.

import { type CloudAnswer, type CloudCall, CloudServer, type CloudServerOptions } from './server.ts'
import type { FakeEnd, FakeWorker } from './workers.ts'

export interface FakeLambdaOptions extends CloudServerOptions {
  readonly timeoutS?: number
  /** Of events; as if nothing were configured if missing. */
  readonly eventConfig?: { readonly MaximumRetryAttempts?: number; readonly MaximumEventAgeInSeconds?: number }
}

export async function startFakeLambda(options: FakeLambdaOptions = {}): Promise<FakeLambda> {
  const lambda = new FakeLambda(options)
  await lambda.listen()
  return lambda
}

export class FakeLambda extends CloudServer {
  readonly #options: FakeLambdaOptions
  #serial = 1

  constructor(options: FakeLambdaOptions) {
    super(options)
    this.#options = options
  }

  protected nameOf({ method, url: { pathname } }: Omit<CloudCall, 'name'>): string | null {
    if (method === 'POST' && /^\/2015-03-31\/functions\/[^/]+\/invocations$/.test(pathname)) return 'Invoke'
    if (method !== 'GET') return null
    if (/^\/2015-03-31\/functions\/[^/]+\/configuration$/.test(pathname)) return 'GetFunctionConfiguration'
    return /^\/2019-09-25\/functions\/[^/]+\/event-invoke-config$/.test(pathname)
      ? 'GetFunctionEventInvokeConfig'
      : null
  }

  protected perform(call: CloudCall): CloudAnswer | Promise<CloudAnswer> {
    const functionName = decodeURIComponent(call.url.pathname.split('/')[3] ?? '')
    if (functionName === 'missing') return problem(404, 'ResourceNotFoundException', 'Function not found.')
    const { timeoutS = 3, eventConfig } = this.#options
    switch (call.name) {
      case 'GetFunctionConfiguration':
        return { status: 200, body: { FunctionName: functionName, Timeout: timeoutS, MemorySize: 128 } }
      case 'GetFunctionEventInvokeConfig':
        if (eventConfig === undefined)
          return problem(404, 'ResourceNotFoundException', 'There is no such configuration.')
        return { status: 200, body: eventConfig }
      default:
        return this.#invoke(call, functionName)
    }
  }

  #invoke({ headers, body }: CloudCall, functionName: string): CloudAnswer | Promise<CloudAnswer> {
    const requestId = `request-${this.#serial}`
    this.#serial += 1
    const env = Object.fromEntries(
      Object.entries(body).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
    )
    const worker = this.begin(() => requestId, env, { ...body, functionName })
    const answered = { 'x-amzn-requestid': requestId, 'x-amz-executed-version': '$LATEST' }
    if (headers['x-amz-invocation-type'] === 'Event') return { status: 202, body: '', headers: answered }
    return worker.ended.then((end) => answerOf(end, worker, answered))
  }

  protected refusal(kind: 'throttled' | 'denied' | 'full' | 'failing' | 'unknown'): CloudAnswer {
    switch (kind) {
      case 'throttled':
        return problem(429, 'TooManyRequestsException', 'Rate Exceeded.', { 'retry-after': '2' })
      case 'full':
        return problem(429, 'TooManyRequestsException', 'ReservedFunctionConcurrentInvocationLimitExceeded')
      case 'denied':
        return problem(403, 'AccessDeniedException', 'User is not authorized to perform lambda:InvokeFunction.')
      case 'failing':
        return problem(500, 'ServiceException', 'An error occurred.')
      case 'unknown':
        return problem(404, 'ResourceNotFoundException', 'No such operation.')
    }
  }

  protected lie(): CloudAnswer {
    return { status: 200, body: 'no JSON at all' }
  }
}

const problem = (
  status: number,
  type: string,
  Message: string,
  headers: Readonly<Record<string, string>> = {},
): CloudAnswer => ({ status, body: { Type: 'User', Message }, headers: { 'x-amzn-errortype': type, ...headers } })

function answerOf(end: FakeEnd, worker: FakeWorker, headers: Readonly<Record<string, string>>): CloudAnswer {
  const failed = (errorType: string, errorMessage: string): CloudAnswer => ({
    status: 200,
    body: { errorType, errorMessage },
    headers: { ...headers, 'x-amz-function-error': 'Unhandled' },
  })
  switch (end.by) {
    case 'exit':
      if (end.exitCode === 0) return { status: 200, body: JSON.stringify(worker.answer ?? null), headers }
      return failed(
        'Runtime.ExitError',
        `RequestId: ${worker.id} Error: Runtime exited with error: exit status ${end.exitCode}`,
      )
    case 'out of memory':
      return failed('Runtime.OutOfMemory', `RequestId: ${worker.id} Error: Runtime exited with error: signal: killed`)
    case 'deadline':
      return failed('Sandbox.Timedout', `RequestId: ${worker.id} Error: Task timed out after 3.00 seconds`)
    case 'image':
    case 'start':
      return failed('Runtime.ImportModuleError', 'Error: Cannot find module index')
    default:
      return failed('Runtime.ExitError', `RequestId: ${worker.id} Error: Runtime exited without providing a reason`)
  }
}
