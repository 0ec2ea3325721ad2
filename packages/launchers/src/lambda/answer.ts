// What the answer of a function means: a result, a failure that the function described, or an end before it could say anything.

import { decodeJson, type LaunchOutcome, type LossCause, messageOf, timeoutMessage } from '@reprise/core'
import { describedError, describedFailure } from '../described-failure.ts'
import { resultText } from '../http/answer.ts'
import { causeOf } from '../platform/causes.ts'
import type { LambdaAnswer } from './client.ts'

export type LambdaEnd =
  | { readonly is: 'done'; readonly outcome: LaunchOutcome }
  | { readonly is: 'lost'; readonly cause: LossCause }

export function lambdaEnd(
  { payload, functionError }: LambdaAnswer,
  functionName: string,
  timeoutMs: number,
): LambdaEnd {
  try {
    const content = payload === null || payload === '' ? null : decodeJson(payload as never)
    return functionError === null ? done(content) : failed(content, functionName, timeoutMs)
  } catch (error) {
    const message = `The function '${functionName}' answered something that is no JSON: ${messageOf(error)}`
    return {
      is: 'done',
      outcome: { ok: false, thrown: describedFailure({ code: 'REPRISE_INVALID', says: 'permanent', message }) },
    }
  }
}

/** `{ result }` or `{ error }`, as for a plugin; anything else is the result itself. */
function done(content: unknown): LambdaEnd {
  if (!isRecord(content) || !('result' in content || 'error' in content)) {
    return { is: 'done', outcome: { ok: true, result: content === null ? null : resultText(content) } }
  }
  const { result, error } = content
  const thrown = error === undefined || error === null ? null : describedError(error)
  if (thrown !== null) return { is: 'done', outcome: { ok: false, thrown } }
  return { is: 'done', outcome: { ok: true, result: result === undefined ? null : resultText(result) } }
}

function failed(content: unknown, functionName: string, timeoutMs: number): LambdaEnd {
  const { errorType, errorMessage } = isRecord(content) ? content : {}
  const type = typeof errorType === 'string' ? errorType : ''
  const words = typeof errorMessage === 'string' ? errorMessage : ''
  if (/OutOfMemory/i.test(type) || /signal: killed/i.test(words)) {
    const message = `The function '${functionName}' needed more memory than it has.`
    return { is: 'lost', cause: causeOf('WORKER_OUT_OF_MEMORY', message, words) }
  }
  if (/timed ?out/i.test(type) || /Task timed out/i.test(words)) {
    // Told as everywhere: one hang is one group of failures.
    const thrown = describedFailure({ code: 'timeout', message: timeoutMessage(timeoutMs), details: { said: words } })
    return { is: 'done', outcome: { ok: false, thrown: Object.assign(thrown, { name: 'ObservedFailure' }) } }
  }
  if (/^Runtime\.(?:ExitError|Unknown)/.test(type) || /Runtime exited/i.test(words)) {
    return {
      is: 'lost',
      cause: causeOf('WORKER_ENDED', `The function '${functionName}' ended and did not answer.`, words),
    }
  }
  const says = /^Runtime\.(?:ImportModuleError|HandlerNotFound|UserCodeSyntaxError|InvalidEntrypoint)/.test(type)
    ? ('permanent' as const)
    : undefined
  const thrown = describedFailure({
    ...(type === '' ? {} : { code: type }),
    message: words === '' ? `The function '${functionName}' failed and did not say why.` : words,
    says,
  })
  return { is: 'done', outcome: { ok: false, thrown } }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
