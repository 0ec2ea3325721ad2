// The whole table: every operation by its name.

import { administrationOperations } from './administration.ts'
import { changeOperations } from './changes.ts'
import { eventOperations } from './events.ts'
import { figureOperations } from './figures.ts'
import { laneOperations } from './lanes.ts'
import { noteOperations } from './notes.ts'
import type { Operation } from './operation.ts'
import { policyOperations } from './policies.ts'
import { retryOperations } from './retries.ts'
import { taskOperations } from './tasks.ts'
import { webhookOperations } from './webhooks.ts'
import { workerOperations } from './workers.ts'

export const OPERATIONS = {
  ...taskOperations,
  ...changeOperations,
  ...retryOperations,
  ...noteOperations,
  ...laneOperations,
  ...workerOperations,
  ...figureOperations,
  ...policyOperations,
  ...administrationOperations,
  ...eventOperations,
  ...webhookOperations,
}

export type OperationName = keyof typeof OPERATIONS

/** As `OPERATIONS`, for those who go through all of them. */
export const ALL_OPERATIONS: Readonly<Record<OperationName, Operation>> = OPERATIONS
