// Settings that operators give by the environment (A14, B8), read and checked in one place. Where an address can say the
// same, the address counts.

import {
  DEFAULT_MAX_RETRIES,
  type HealthThresholds,
  InvalidError,
  isRepriseError,
  readHealthThresholds,
  resolveDefaults,
  type SettingDefaults,
} from '@reprise/core'

const RETRIES_MAX = 1_000

export type Environment = Readonly<Record<string, string | undefined>>

/** REPRISE_MAX_RETRIES, or MAX_RETRIES: how many retries an operator may ask for (A9); 1 if neither is set. */
export function maxRetriesFromEnvironment(environment: Environment = process.env): number {
  const name = (environment.REPRISE_MAX_RETRIES?.trim() ?? '') === '' ? 'MAX_RETRIES' : 'REPRISE_MAX_RETRIES'
  const text = environment[name]?.trim() ?? ''
  if (text === '') return DEFAULT_MAX_RETRIES
  if (!/^\d{1,4}$/.test(text) || Number(text) > RETRIES_MAX) {
    throw new InvalidError(
      `${name} must be a whole number from 0 to ${RETRIES_MAX}, not '${text.slice(0, 40)}'. It says how many retries an operator may ask for; correct it in the environment, or unset it for ${DEFAULT_MAX_RETRIES}.`,
    )
  }
  return Number(text)
}

const BACKLOG_MOST = 1_000_000_000
export const BACKLOG_FORM = `a whole number from 1 to ${BACKLOG_MOST}`

/** Null if it is none. */
export function backlogCount(text: string): number | null {
  const count = /^\d{1,10}$/.test(text) ? Number(text) : 0
  return count >= 1 && count <= BACKLOG_MOST ? count : null
}

/** REPRISE_MAX_BACKLOG: how many queued and waiting tasks a store takes (B8); null if it is not set. */
export function maxBacklogFromEnvironment(environment: Environment = process.env): number | null {
  const text = environment.REPRISE_MAX_BACKLOG?.trim() ?? ''
  if (text === '') return null
  const count = backlogCount(text)
  if (count !== null) return count
  throw new InvalidError(
    `REPRISE_MAX_BACKLOG must be ${BACKLOG_FORM}, not '${text.slice(0, 40)}'. It says how many queued and waiting tasks the store takes; correct it in the environment, or unset it.`,
  )
}

/** Undefined if the variable is not set; `InvalidError` naming it if it can't be used. */
function readVariable<T>(environment: Environment, name: string, make: (text: string) => T): T | undefined {
  const text = environment[name]?.trim() ?? ''
  if (text === '') return undefined
  try {
    return make(text)
  } catch (error) {
    if (!isRepriseError(error) && !(error instanceof SyntaxError)) throw error
    throw new InvalidError(`${name} can't be used: ${error.message} Correct it in the environment, or unset it.`)
  }
}

/** REPRISE_DEFAULT_TIMEOUT, _QUEUE_TTL and _BACKOFF (as JSON): what holds where an action says nothing (C11). */
export function defaultsFromEnvironment(environment: Environment = process.env): SettingDefaults {
  const read = (name: string, make: (text: string) => SettingDefaults) => readVariable(environment, name, make)
  return {
    ...read('REPRISE_DEFAULT_TIMEOUT', (timeout) => resolveDefaults({ timeout })),
    ...read('REPRISE_DEFAULT_QUEUE_TTL', (queueTtl) => resolveDefaults({ queueTtl })),
    ...read('REPRISE_DEFAULT_BACKOFF', (text) => {
      return resolveDefaults({ backoff: { kind: 'exponential', ...(JSON.parse(text) as object) } })
    }),
  }
}

/** REPRISE_HEALTH_THRESHOLDS, as JSON: `{"heartbeat_ttl":"20s"}` (C5, D1); null if it is not set. */
export function healthThresholdsFromEnvironment(environment: Environment = process.env): HealthThresholds | null {
  const read = (text: string) => readHealthThresholds(JSON.parse(text) as Readonly<Record<string, unknown>>)
  return readVariable(environment, 'REPRISE_HEALTH_THRESHOLDS', read) ?? null
}
