// What handlers work with: made once when the server starts, and the same for every request.

import type { Redaction } from '@reprise/contract'
import type { Clock, Engine, FeatureFlags, Logger, Random } from '@reprise/core'
import type { Policies } from '@reprise/policies'
import type { ActionCatalogue } from './action-catalogue.ts'

export interface Services {
  readonly engine: Engine
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly redaction: Redaction
  readonly policies: Policies
  readonly flags: FeatureFlags
  readonly catalogue: ActionCatalogue
  /** MAX_RETRIES: how many retries an operator may ask for (A9). */
  readonly maxRetries: number
  readonly version: string
}
