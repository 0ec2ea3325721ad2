// How many attempts a task may have. Ordinary failures and crash losses are counted apart; each generation starts anew.

import type { TaskSettings } from '../model/task.ts'

/** MAX_RETRIES of the environment, unless it is set (A9, A14). */
export const DEFAULT_MAX_RETRIES = 1
export const DEFAULT_LOSSES_MAX = 3
/** The most that an action or a policy may ask for, of retries and of losses. */
export const RETRIES_MAX = 1_000
export const LOSSES_MAX = 1_000

/** What was used up in this generation so far. */
export interface Spent {
  readonly failures: number
  readonly losses: number
}

/** Retries that happen by themselves (C2): none unless the action asks for them. */
export function automaticRetries(settings: Pick<TaskSettings, 'maxRetries'>): number {
  return settings.maxRetries ?? 0
}

/** Retries that an operator may ask for (A9): MAX_RETRIES, or what the action allows if that is more. */
export function operatorRetries(
  settings: Pick<TaskSettings, 'maxRetries'>,
  maxRetries: number = DEFAULT_MAX_RETRIES,
): number {
  return Math.max(settings.maxRetries ?? 0, maxRetries)
}

/** `retryable = status === 'failed' && attempt <= maxRetries` (A9), losses and earlier generations not counted. */
export function operatorMayRetry(
  settings: Pick<TaskSettings, 'maxRetries'>,
  spent: Spent,
  maxRetries: number = DEFAULT_MAX_RETRIES,
): boolean {
  return spent.failures <= operatorRetries(settings, maxRetries)
}

/** The highest attempt number an outside message may ask for in a first generation (A6). */
export function attemptCeiling(
  settings: Pick<TaskSettings, 'maxRetries'>,
  maxRetries: number = DEFAULT_MAX_RETRIES,
): number {
  return operatorRetries(settings, maxRetries) + 1
}

/** A message's attempt is a positive integer, or else 1 (A6). */
export function messageAttempt(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 1
}
