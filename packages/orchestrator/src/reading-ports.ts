// What readers of figures share: what they read from, what they are told of the moment, and how much one rule may find.

import type { Alert, AlertRule, Engine, Reading } from '@reprise/core'

export interface ReadingPorts {
  readonly engine: Pick<
    Engine,
    | 'series'
    | 'counts'
    | 'lanes'
    | 'workers'
    | 'breakers'
    | 'failureGroups'
    | 'tasks'
    | 'statuses'
    | 'collection'
    | 'journal'
    | 'healthThresholds'
  >
  /** Of the retries that ended in the window, the share that failed; null if that is not known here, or none ended. */
  readonly retryFailures?: ((windowMs: number) => Promise<RetryFailures | null>) | undefined
}

export interface RetryFailures {
  readonly share: number
  readonly ended: number
}

export interface Look {
  readonly now: number
  /** Alerts that are not over, by their id. */
  readonly open: ReadonlyMap<string, Alert>
}

export type Read = (ports: ReadingPorts, rule: AlertRule, look: Look) => Promise<readonly Reading[]>

/** New groups of one rule in an hour: more alerts help nobody. */
export const GROUPS_MAX = 500
export const AT_ONCE = 10

export const count = (many: number, one: string, more = `${one}s`): string =>
  `${many.toLocaleString('en-US')} ${many === 1 ? one : more}`
