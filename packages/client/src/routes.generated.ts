// Where each operation is found over HTTP. Made from the table of operations by npm run generate.

import type { OperationName } from '@reprise/operations'

// A line for each operation: its name; its method if it is not GET, with > for POST; its path, below /api/v1/ unless it begins with a
// slash, with # for /{id}. A plus says that a call may be sent again without an answer, as a GET may always; and a last word, that
// the answer is a stream.
const LINES = `listTasks tasks
exportTasks tasks/export stream
getTask tasks#
listExecutions tasks#/executions
getExecution tasks#/executions/{attempt}
explainTask tasks#/explain
importTasks > tasks/import +
taskLogs tasks#/logs
countTasks tasks/count
cancelTasks > tasks/cancel +
redriveTasks > tasks/redrive
discardTasks > tasks/discard +
promoteTasks > tasks/promote +
cancelTask > tasks#/cancel +
retryExecution > executions#/retry
createRedrive > redrives
collectRedrive > redrives#/collect +
listRedrives redrives
getRedrive redrives#
listRedriveItems redrives#/items
startRedrive > redrives#/start
pauseRedrive > redrives#/pause
resumeRedrive > redrives#/resume
abortRedrive > redrives#/abort
undoRedrive > redrives#/undo
restoreTasks > tasks/restore +
addNote > notes
removeNote DELETE notes#
startJob > jobs
handOverChunks > jobs#/chunks +
listJobs jobs
getJob jobs#
listJobChunks jobs#/chunks
resumeJob > jobs#/resume
retryJob > jobs#/retry
cancelJob > jobs#/cancel
listLanes lanes
listHolds holds
pauseLanes > lanes/pause +
resumeLanes > lanes/resume +
limitLanes > lanes/limit +
listBreakers breakers
resetBreaker > breakers/{name}/reset +
listFailureGroups failure-groups
getFailureGroup failure-groups/{fingerprint}
acknowledgeFailureGroup > failure-groups/{fingerprint}/acknowledge +
resolveFailureGroup > failure-groups/{fingerprint}/resolve +
ignoreFailureGroup > failure-groups/{fingerprint}/ignore +
reopenFailureGroup > failure-groups/{fingerprint}/reopen +
mergeFailureGroups > failure-groups/{fingerprint}/merge +
splitFailureGroup > failure-groups/{fingerprint}/split +
explainFailureGroup failure-groups/{fingerprint}/cause
diffAttempt tasks#/diff
notifyTenants > tenants/notify +
reportOpenGroups reports/open-groups
getLedger ledger
listAudit audit
verifyAudit audit/verify
exportAudit audit/export stream
listWorkOrders work-orders
getWorkOrder work-orders#
takeWorkOrder > work-orders#/take +
commentWorkOrder > work-orders#/comments
closeWorkOrder > work-orders#/close +
reopenWorkOrder > work-orders#/reopen +
getWorkOrderContext work-orders#/context
measureWorkOrders work-order-figures
reportWorkOrder > work-orders#/report +
listAlerts alerts
getAlert alerts#
acknowledgeAlert > alerts#/acknowledge +
listSilences silences
createSilence > silences
endSilence > silences#/end +
listAlertRules alert-rules
putAlertRule PUT alert-rules/{name} +
removeAlertRule DELETE alert-rules/{name}
exportAlertRules alert-rules/prometheus
listChannels channels
createChannel > channels
updateChannel PATCH channels#
removeChannel DELETE channels#
testChannel > channels#/test
listChannelDeliveries channels#/deliveries
listRunbooks runbooks
getRunbook runbooks/{name}
publishRunbook PUT runbooks/{name}
startRunbook > runbooks/{name}/runs
listRunbookRuns runbook-runs
getRunbookRun runbook-runs#
answerRunbookRun > runbook-runs#/answer
resumeRunbookRun > runbook-runs#/resume
abortRunbookRun > runbook-runs#/abort +
getIncident incident
getReport reports/period
listWorkers workers
listDepartedWorkers departed-workers
getWorker workers#
drainWorker > workers#/drain +
counts counts
series series
monitoring monitoring
scaling scaling
info info
listTenants tenants
policies policies
publishPolicies PUT policies
listPolicyVersions policies/versions
getPolicyVersion policies/versions/{number}
policyTemplates policies/templates
simulatePolicies > policies/simulate +
replayPolicies > policies/replay +
showQueue queue
listQueueDeadLetters queue/dead-letters
redriveQueue > queue/redrive +
listKeptMessages queue/kept
getKeptMessage queue/kept#
resendKeptMessage > queue/kept#/resend
discardKeptMessage DELETE queue/kept#
listFlags flags
setFlag PUT flags/{name} +
inspect > inspect
me me
listTokens tokens
createToken > tokens
revokeToken DELETE tokens#
listSessions sessions
revokeSession DELETE sessions#
listKeys keys
rotateKeys > keys/{ring}/rotate
listEvents events
listWebhooks webhooks
createWebhook > webhooks
getWebhook webhooks#
updateWebhook PATCH webhooks#
removeWebhook DELETE webhooks#
listDeliveries webhooks#/deliveries
redeliver > webhooks#/deliveries/{delivery}/redeliver
testWebhook > webhooks#/test`

/** By name, without it. */
export const ROUTES = Object.fromEntries(LINES.split('\n').map((line) => line.split(/ (.*)/))) as Readonly<
  Record<OperationName, string>
>
