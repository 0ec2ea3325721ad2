#!lua flags=allow-oom
-- retry: an operator runs a failed task once more in the same generation, within its budget.
-- ARGV: time, request id, task id, maxRetries, actor, reason, the policy for its further attempts ('' for the one it has).
-- Answers { 'queued', attempt }, { 'not_found', '' }, { 'wrong_status', status } or { 'exhausted', budget }.
-- Checks before the first write: that the latest attempt failed, that the task is dead or waiting, and the budget.

-- @once
-- @include base answers lanes tasks queue wake journal endings operators

local id, maxRetries, actor, reason, policy = ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7]

local task = loadTask(id)
local latest = task and call('HGET', taskKey(id), int(task.state.attempt))
if not latest then return { 'not_found', '' } end
local latestStatus = statusOf(latest)
if latestStatus ~= 'failed' then return { 'wrong_status', latestStatus } end
local state = task.state
if state.status ~= 'dead' and state.status ~= 'waiting' then return { 'wrong_status', state.status } end
local budget = operatorRetries(task.profile, maxRetries)
if state.failures > budget then return { 'exhausted', int(budget) } end

local attempt = int(state.attempt + 1)
local policyNote = ''
state.retryReason = 'manual'
if policy ~= '' then
  state.policy = policy
  policyNote = ',"policy":' .. cjson.encode(policy)
end
requeue(task)
noteTask('task.retried', task, actor, reason, '{"attempt":' .. attempt .. policyNote .. keyNote(task) .. '}')
flushOperators()
flushLanes()
flushWake()
return { 'queued', attempt }
