// The whole table: every operation by its name.

import { administrationOperations } from './administration.ts'
import { alertRuleOperations } from './alert-rules.ts'
import { alertOperations } from './alerts.ts'
import { auditOperations } from './audit.ts'
import { changeOperations } from './changes.ts'
import { channelOperations } from './channels.ts'
import { countingOperations } from './counting.ts'
import { eventOperations } from './events.ts'
import { failureGroupOperations } from './failure-groups.ts'
import { figureOperations } from './figures.ts'
import { groupCaseOperations } from './group-cases.ts'
import { groupCauseOperations } from './group-cause.ts'
import { groupFigureOperations } from './group-figures.ts'
import { groupNoticeOperations } from './group-notices.ts'
import { importOperations } from './imports.ts'
import { incidentOperations } from './incidents.ts'
import { jobOperations } from './jobs.ts'
import { keyOperations } from './keys.ts'
import { laneOperations } from './lanes.ts'
import { ledgerOperations } from './ledger.ts'
import { logOperations } from './logs.ts'
import { noteOperations } from './notes.ts'
import { openGroupOperations } from './open-groups.ts'
import type { Operation } from './operation.ts'
import { policyOperations } from './policies.ts'
import { policyReplayOperations } from './policy-replay.ts'
import { queueOperations } from './queues.ts'
import { redriveOperations } from './redrives.ts'
import { reportOperations } from './reports.ts'
import { restoreOperations } from './restore.ts'
import { retryOperations } from './retries.ts'
import { runbookOperationsOn } from './runbooks.ts'
import { sessionOperations } from './sessions.ts'
import { taskOperations } from './tasks.ts'
import { tenantOperations } from './tenants.ts'
import { webhookOperations } from './webhooks.ts'
import { workOrderContextOperationsOn } from './work-order-context.ts'
import { workOrderTicketOperations } from './work-order-tickets.ts'
import { workOrderOperations } from './work-orders.ts'
import { workerOperations } from './workers.ts'

export const OPERATIONS = {
  ...taskOperations,
  ...importOperations,
  ...logOperations,
  ...countingOperations,
  ...changeOperations,
  ...retryOperations,
  ...redriveOperations,
  ...restoreOperations,
  ...noteOperations,
  ...jobOperations,
  ...laneOperations,
  ...failureGroupOperations,
  ...groupFigureOperations,
  ...groupCaseOperations,
  ...groupCauseOperations,
  ...groupNoticeOperations,
  ...openGroupOperations,
  ...ledgerOperations,
  ...auditOperations,
  ...workOrderOperations,
  ...workOrderContextOperationsOn((): Readonly<Record<string, Operation>> => ALL_OPERATIONS),
  ...workOrderTicketOperations,
  ...alertOperations,
  ...alertRuleOperations,
  ...channelOperations,
  ...runbookOperationsOn((): Readonly<Record<string, Operation>> => ALL_OPERATIONS),
  ...incidentOperations,
  ...reportOperations,
  ...workerOperations,
  ...figureOperations,
  ...tenantOperations,
  ...policyOperations,
  ...policyReplayOperations,
  ...queueOperations,
  ...administrationOperations,
  ...sessionOperations,
  ...keyOperations,
  ...eventOperations,
  ...webhookOperations,
}

export type OperationName = keyof typeof OPERATIONS

/** As `OPERATIONS`, for those who go through all of them. */
export const ALL_OPERATIONS: Readonly<Record<OperationName, Operation>> = OPERATIONS
