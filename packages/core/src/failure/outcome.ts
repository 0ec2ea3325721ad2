// What a handler can throw to say how its failure should be treated. Its own word wins over every rule (C3).

import { type Duration, durationMs } from '../model/duration.ts'

const OUTCOME = Symbol.for('reprise.outcome')

interface OutcomeRequest {
  readonly says: 'retry' | 'dead'
  readonly retryAfterMs: number | null
}

export interface ThrownOptions extends ErrorOptions {
  /** What went wrong, in one word such as `CARD_DECLINED`: the code of the failure. Rules, policies and groups go by it. */
  readonly code?: string | undefined
}

abstract class ThrownError extends Error {
  abstract readonly [OUTCOME]: OutcomeRequest
  declare readonly code?: string

  constructor(name: string, message: string, { code, ...options }: ThrownOptions) {
    super(message, options)
    this.name = name
    if (code !== undefined) this.code = code
  }
}

/** Retrying can't help: the task is dead-lettered at once. */
export class PermanentError extends ThrownError {
  readonly [OUTCOME]: OutcomeRequest = { says: 'dead', retryAfterMs: null }

  constructor(message: string, options: ThrownOptions = {}) {
    super('PermanentError', message, options)
  }
}

/** A passing fault: retry with the usual backoff, as far as the budget goes. */
export class TransientError extends ThrownError {
  readonly [OUTCOME]: OutcomeRequest = { says: 'retry', retryAfterMs: null }

  constructor(message: string, options: ThrownOptions = {}) {
    super('TransientError', message, options)
  }
}

/** A passing fault, and the time to wait is known: retry then, as far as the budget goes. */
export class RetryAfterError extends ThrownError {
  readonly [OUTCOME]: OutcomeRequest

  constructor(delay: Duration, message = 'The handler asked to be run again later.', options: ThrownOptions = {}) {
    super('RetryAfterError', message, options)
    this[OUTCOME] = { says: 'retry', retryAfterMs: durationMs(delay, 'RetryAfterError delay') }
  }
}

/** What the thrown value asks for; null if it asks for nothing. Works across two copies of this package. */
export function outcomeRequest(thrown: unknown): OutcomeRequest | null {
  if (typeof thrown !== 'object' || thrown === null) return null
  try {
    if (!(OUTCOME in thrown)) return null
    // Another copy may be of another version, and anybody can set the symbol: take only what fits.
    const { says, retryAfterMs } = thrown[OUTCOME] as { readonly [field in keyof OutcomeRequest]?: unknown }
    if (says !== 'retry' && says !== 'dead') return null
    const isDelay = typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs) && retryAfterMs >= 0
    return { says, retryAfterMs: isDelay ? Math.round(retryAfterMs) : null }
  } catch {
    return null
  }
}
