// All commands, in the order in which help shows them. A new one: write it in the file of its subject, and name it here.

import type { CommandDefinition, FamilyDefinition } from '../command/definition.ts'
import { alerts } from './alerts.ts'
import { audit } from './audit.ts'
import { breakers } from './breakers.ts'
import { channels } from './channels.ts'
import { completion } from './completion.ts'
import { configCheck } from './config-check.ts'
import { configPrint } from './config-print.ts'
import { count } from './count.ts'
import { diff } from './diff.ts'
import { dlq } from './dlq.ts'
import { doctor } from './doctor.ts'
import { events } from './events.ts'
import { explain } from './explain.ts'
import { exportCommand } from './export.ts'
import { flags } from './flags.ts'
import { groups } from './groups.ts'
import { importCommand } from './import.ts'
import { incidentExport, incidentShow } from './incident.ts'
import { inspect, retryInspect } from './inspect.ts'
import { jobRun } from './job-run.ts'
import { jobCancel, jobList, jobResume, jobRetry, jobShow, jobWatch } from './jobs.ts'
import { keyList, keyRotate } from './keys.ts'
import { lanes } from './lanes.ts'
import { ledger } from './ledger.ts'
import { list } from './list.ts'
import { note } from './note.ts'
import { policyCheck } from './policy-check.ts'
import { policySimulate } from './policy-simulate.ts'
import { policyList, policyPublish, policyShow, policyTemplates } from './policy-versions.ts'
import { queueDeadLetters, queueDrop, queueKept, queueRead, queueRedrive, queueResend, queueShow } from './queue.ts'
import { redrive } from './redrive.ts'
import { reportOpen } from './report-open.ts'
import { reportPeriod } from './report-period.ts'
import { retry } from './retry.ts'
import { RUNBOOK_COMMANDS } from './runbook.ts'
import { scaling } from './scaling.ts'
import { series } from './series.ts'
import { core, orchestrator, up, worker } from './services.ts'
import { sessionList, sessionRevoke } from './sessions.ts'
import { status } from './status.ts'
import { submit } from './submit.ts'
import { cancel, discard, promote } from './task-changes.ts'
import { tenants } from './tenants.ts'
import { tokenCreate, tokenList, tokenRevoke } from './tokens.ts'
import { version } from './version.ts'
import { watch } from './watch.ts'
import { webhooks } from './webhooks.ts'
import { workers } from './workers.ts'
import { workorders } from './workorders.ts'

export const FAMILIES: readonly FamilyDefinition[] = [
  { name: 'queue', group: 'Operate', summary: 'Look into the SQS queue, and move its dead letters' },
  { name: 'runbook', group: 'Operate', summary: 'Run recovery procedures, and follow them' },
  { name: 'incident', group: 'Operate', summary: 'Tell what happened in a period' },
  { name: 'report', group: 'Operate', summary: 'Report on a week, or on what waits for a person' },
  { name: 'job', group: 'Tasks', summary: 'Run and follow jobs made of chunks' },
  { name: 'policy', group: 'Policies', summary: 'Check, try and change retry policies' },
  { name: 'token', group: 'Set up', summary: 'Make, list and revoke API tokens' },
  { name: 'session', group: 'Set up', summary: 'List and revoke sessions of browsers' },
  { name: 'key', group: 'Set up', summary: 'List and rotate the keys of the store' },
  { name: 'config', group: 'Set up', summary: 'Check and show the configuration' },
]

export const COMMANDS: readonly CommandDefinition[] = [
  up,
  core,
  orchestrator,
  worker,
  submit,
  status,
  list,
  count,
  explain,
  watch,
  events,
  exportCommand,
  importCommand,
  retry,
  cancel,
  promote,
  note,
  jobRun,
  jobList,
  jobShow,
  jobWatch,
  jobResume,
  jobRetry,
  jobCancel,
  groups,
  diff,
  ledger,
  audit,
  reportPeriod,
  reportOpen,
  redrive,
  discard,
  dlq,
  workorders,
  alerts,
  channels,
  ...RUNBOOK_COMMANDS,
  incidentShow,
  incidentExport,
  workers,
  lanes,
  tenants,
  breakers,
  flags,
  scaling,
  series,
  webhooks,
  queueShow,
  queueDeadLetters,
  queueRedrive,
  queueKept,
  queueRead,
  queueResend,
  queueDrop,
  inspect,
  retryInspect,
  policyCheck,
  policySimulate,
  policyList,
  policyShow,
  policyPublish,
  policyTemplates,
  tokenCreate,
  tokenList,
  tokenRevoke,
  sessionList,
  sessionRevoke,
  keyList,
  keyRotate,
  configCheck,
  configPrint,
  doctor,
  completion,
  version,
]
