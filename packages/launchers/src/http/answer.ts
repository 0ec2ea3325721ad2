// What an answer means: to the request that starts a worker, and to the question how one is doing. Nothing here sends.

import {
  checkedJson,
  decodeJson,
  encodeJson,
  JSON_DEPTH_MAX,
  type JsonText,
  type LaunchOutcome,
  PAYLOAD_BYTES_MAX,
} from '@reprise/core'
import { describedError, describedFailure } from '../described-failure.ts'
import type { HttpAnswer } from './request.ts'

export type Verdict =
  | { readonly is: 'done'; readonly outcome: LaunchOutcome }
  /** It runs, and will call back. */
  | { readonly is: 'accepted'; readonly statusUrl: string | null; readonly name: string | null }
  /** Nothing was started. `isFull`: the plugin has no room now. */
  | { readonly is: 'refused'; readonly error: Error; readonly isFull?: boolean }

/** For how long a worker may ask to be left alone. */
const RETRY_AFTER_MS_MAX = 86_400_000
/** It becomes part of a handle in the store. */
const URL_LENGTH_MAX = 1_000
const QUOTE_LENGTH_MAX = 500
/** Answers from something in between, which does not know what became of the request. */
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 504])
/** A plugin that has no room for another worker, or wants fewer requests. */
const FULL_STATUSES: ReadonlySet<number> = new Set([429, 503])
/** Client errors that are not about the request itself. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429])

export function verdictOn(answer: HttpAnswer, url: URL, now: number): Verdict {
  const { status } = answer
  if (status === 202 || status === 409) return accepted(answer, url)
  if (status >= 200 && status < 300) return { is: 'done', outcome: outcomeIn(answer, url) }
  if (PASSING_STATUSES.has(status) || (status >= 500 && !GATEWAY_STATUSES.has(status))) {
    const error = describedFailure({
      code: `HTTP_${status}`,
      message: `${url.origin} answered ${status}: the launch was refused.${quoteOf(answer)}`,
      says: 'transient',
      retryAfterMs: retryAfterMs(answer, now, RETRY_AFTER_MS_MAX),
    })
    return { is: 'refused', error, isFull: FULL_STATUSES.has(status) }
  }
  return { is: 'done', outcome: { ok: false, thrown: statusFailure(answer, url) } }
}

function statusFailure(answer: HttpAnswer, url: URL): Error {
  const { status } = answer
  const code = `HTTP_${status}`
  if (GATEWAY_STATUSES.has(status)) {
    const message = `${url.origin} answered ${status}: nobody knows whether the worker ran.${quoteOf(answer)}`
    return describedFailure({ code, message })
  }
  const isRedirect = status >= 300 && status < 400
  const hint = isRedirect ? ' Redirects are not followed: configure the address it leads to.' : ''
  const message = `${url.origin} answered ${status}.${hint}${quoteOf(answer)}`
  return describedFailure({ code, message, says: 'permanent' })
}

/** `{ result }` or `{ error }`; an empty answer is a success without a result. */
function outcomeIn(answer: HttpAnswer, url: URL): LaunchOutcome {
  if (answer.body.trim() === '') return { ok: true, result: null }
  try {
    return outcomeOfContent(contentOf(answer, url), url)
  } catch (thrown) {
    return { ok: false, thrown }
  }
}

function outcomeOfContent(content: Readonly<Record<string, unknown>>, url: URL): LaunchOutcome {
  if (content.error !== undefined && content.error !== null) {
    const thrown = describedError(content.error)
    return {
      ok: false,
      thrown: thrown ?? describedFailure({ message: `${url.origin} reported an error without words.` }),
    }
  }
  return { ok: true, result: content.result === undefined ? null : resultText(content.result) }
}

export const resultText = (result: unknown): JsonText => encodeJson(result, 'result', PAYLOAD_BYTES_MAX)

function contentOf({ body }: HttpAnswer, url: URL): Readonly<Record<string, unknown>> {
  const content = decodeJson(checkedJson(body, `answer of ${url.origin}`, Number.POSITIVE_INFINITY))
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) {
    return content as Readonly<Record<string, unknown>>
  }
  throw describedFailure({
    code: 'REPRISE_INVALID',
    message: `The answer of ${url.origin} must be an object with 'result' or 'error', nested at most ${JSON_DEPTH_MAX} deep.`,
  })
}

function accepted(answer: HttpAnswer, url: URL): Verdict {
  let content: Readonly<Record<string, unknown>> = {}
  try {
    content = contentOf(answer, url)
  } catch {
    // It was accepted all the same; a plugin that says nothing is heard by callback only.
  }
  const place = answer.headers.location ?? content.statusUrl
  const name = content.handle
  return {
    is: 'accepted',
    statusUrl: typeof place === 'string' ? sameOrigin(place, url) : null,
    name: typeof name === 'string' && /^\P{Cc}{1,200}$/u.test(name) ? name.toWellFormed() : null,
  }
}

/** Only where the launch itself went: an answer must not send us to somebody else. */
function sameOrigin(place: string, url: URL): string | null {
  if (!URL.canParse(place, url)) return null
  const resolved = new URL(place, url)
  const isFit = resolved.origin === url.origin && resolved.username === '' && resolved.href.length <= URL_LENGTH_MAX
  return isFit ? resolved.href : null
}

export type StatusReport =
  | { readonly is: 'running' }
  | { readonly is: 'done'; readonly outcome: LaunchOutcome }
  | { readonly is: 'gone'; readonly wasKnown: boolean }
  | { readonly is: 'unclear' }

/** What an answer to the question about a launch says. */
export function reportIn(answer: HttpAnswer, url: URL): StatusReport {
  if (answer.status === 404) return { is: 'gone', wasKnown: false }
  if (answer.status === 410) return { is: 'gone', wasKnown: true }
  if (answer.status !== 200) return { is: 'unclear' }
  try {
    const content = contentOf(answer, url)
    if (content.status === 'running') return { is: 'running' }
    if (content.status === 'succeeded')
      return { is: 'done', outcome: outcomeOfContent({ result: content.result }, url) }
    if (content.status !== 'failed') return { is: 'unclear' }
    return { is: 'done', outcome: outcomeOfContent({ error: content.error ?? {} }, url) }
  } catch {
    return { is: 'unclear' }
  }
}

/** How long the other side wants to be left alone, at most `maxMs`; undefined if it does not say. */
export function retryAfterMs({ headers }: HttpAnswer, now: number, maxMs: number): number | undefined {
  const value = headers['retry-after']?.trim()
  if (value === undefined) return undefined
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), maxMs) : undefined
}

function quoteOf({ body }: HttpAnswer): string {
  const text = body.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  return text === '' ? '' : ` It said: ${text.slice(0, QUOTE_LENGTH_MAX).toWellFormed()}`
}
