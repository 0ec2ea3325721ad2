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

/** New groups of one rule in an hour, of one tenant or of what is about none alone: more alerts help nobody. */
export const GROUPS_MAX = 500
/** Of all tenants: causes of one keep nobody from hearing of those of another. */
const GROUPS_OF_ALL_MAX = 2_000
/** For so long, new alerts of a rule are counted. The others are told of later. */
const NEW_GROUPS_MS = 3_600_000

/** The room for new alerts of a rule. */
export class GroupRoom {
  readonly #taken = new Map<string, number>()
  #all = 0

  constructor({ name }: Pick<AlertRule, 'name'>, { open, now }: Look) {
    for (const { rule, firedAt, whose = '' } of open.values()) {
      if (rule === name && Math.abs(now - (firedAt ?? now)) < NEW_GROUPS_MS) this.#take(whose)
    }
  }

  /** How many a tenant has begun. */
  takenBy(whose: string): number {
    return this.#taken.get(whose) ?? 0
  }

  /** Whether there was room for one more. */
  take(whose = ''): boolean {
    if (this.takenBy(whose) >= GROUPS_MAX || this.#all >= GROUPS_OF_ALL_MAX) return false
    this.#take(whose)
    return true
  }

  #take(whose: string): void {
    this.#taken.set(whose, this.takenBy(whose) + 1)
    this.#all++
  }
}
export const AT_ONCE = 10

export const count = (many: number, one: string, more = `${one}s`): string =>
  `${many.toLocaleString('en-US')} ${many === 1 ? one : more}`
