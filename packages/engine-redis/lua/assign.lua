#!lua flags=allow-oom
-- assign: hands leases of stage dispatch over to workers' inboxes, one after the other.
-- ARGV: time, request id, thresholds (JSON), then per assignment an ASSIGNMENT: judged is what is known of the
--   worker's health elsewhere in a store with several partitions ('fit' or 'unfit'; '' where it is judged here, 'any' if it
--   is to be alive and no more).
-- Answers per assignment: 'assigned', 'stale' or 'superseded <why>'. A repetition (same request id) gets the same answer.
-- Checks before each assignment's first write: that the attempt runs under the token, in stage dispatch; that the worker is
-- registered, not draining, and not unhealthy.

-- @once
-- @include base answers lanes tasks wake leases stages endings workers health

local limits = parseThresholds(ARGV[3])
local function isFit(worker, judged)
  if not worker or judged == 'unfit' then return false end
  if judged == 'fit' then return true end
  if worker.draining ~= 0 then return false end
  if judged == 'any' or not limits.enabled then return now - worker.lastBeatAt < limits.heartbeatStaleMs end
  return assess(worker, limits, inboxDepth(worker)) ~= 'unhealthy'
end

local function assign(given)
  local id, attempt, workerId = given.id, given.attempt, given.worker
  local shortToken, dispatcher = splitToken(given.token)
  local lease = dispatcher and parseLease(call('HGET', leasesKey(dispatcher), id))
  local record = call('HGET', taskKey(id), attempt)
  local isHeld = lease and lease.attempt == tonumber(attempt) and lease.token == shortToken
  if not isHeld or lease.kind ~= STAGE_LETTERS.dispatch then
    return 'superseded ' .. becauseOf(loadTask(id), tonumber(attempt), record)
  end
  local worker = workerNamed(workerId)
  if not isFit(worker, given.judged) then return 'stale' end
  local number = draw(1)
  lease.kind = STAGE_LETTERS.inbox
  lease.token = int(number) .. '-0' .. string.match(lease.token, '%.%d+$')
  lease.untilAt = now + tonumber(given.ttlMs)
  call('HSET', taskKey(id), attempt, rewritten(record, lease.token, given.workerJson, nil, worker.build))
  call('HDEL', leasesKey(dispatcher), id)
  call('HSET', leasesKey(workerId), id, leaseText(lease))
  call('ZADD', key('leases'), 'LT', int(lease.untilAt), workerId)
  enterInbox(worker, id, number)
  wakeInbox(workerId)
  return 'assigned'
end

local answers = {}
for at = 4, #ARGV, #ASSIGNMENT do answers[#answers + 1] = assign({ ASSIGNMENT.args(at) }) end
flushWorkers()
return answers
