#!lua flags=allow-oom
-- beat: what a worker reports about itself, and a sign of life.
-- ARGV: time, BEAT: draining is '1' or '0', outlook '' for none, else '=' and the words; policyVersion '' if
--   it does not say.
-- Answers 'current', 'replaced' or 'unknown'; nothing is written unless it is current.

-- @include base workers

local first = 2
local report = { BEAT.args(first) }
local worker = workerNamed(report.worker)
if not worker then return 'unknown' end
if worker.epoch ~= report.epoch then return 'replaced' end
-- See core's takesBackLosses.
local failedAt = worker.lastFailureAt
if failedAt and now - worker.lastBeatAt >= SILENCE_MS and failedAt > worker.lastBeatAt and failedAt > worker.lastProgressAt then
  worker.consecutiveFailures, worker.recentOutcomes, worker.recentFailures = 0, 0, 0
  worker.lastFailureAt, worker.failuresBy = false, {}
end
worker.lastBeatAt = now
for _, name in ipairs({ 'inFlight', 'queueDepth', 'loopLagMs', 'memoryBytes', 'maxQuietMs', 'draining' }) do
  worker[name] = tonumber(report[name]) or 0
end
worker.outlook = report.outlook ~= '' and string.sub(report.outlook, 2)
worker.policyVersion = tonumber(report.policyVersion) or false
if worker.inFlight == 0 then worker.lastProgressAt = now end
worker.changed = true
flushWorkers()
return 'current'
