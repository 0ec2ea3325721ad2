#!lua flags=allow-oom
-- assign: hands leases of stage dispatch over to workers' inboxes, one after the other.
-- ARGV: time, request id, thresholds (JSON), then per assignment: task id, attempt, token, worker, its JSON, ttlMs, what is known of
--   its health elsewhere in a store with several partitions ('fit' or 'unfit'; '' where it is judged here).
-- Answers per assignment: 'assigned', 'stale' or 'superseded <why>'. A repetition (same request id) gets the same answer.
-- Checks before each assignment's first write: that the attempt runs under the token, in stage dispatch; that the worker is
-- registered, not draining, and not unhealthy.

-- @include base answers lanes tasks wake leases stages endings workers health

local request, limits = ARGV[2], parseThresholds(ARGV[3])
local known = recall(request)
if known then return known end

local function isFit(worker, judged)
  if not worker or judged == 'unfit' then return false end
  return judged == 'fit' or (worker.draining == 0 and assess(worker, limits) ~= 'unhealthy')
end

local function assign(id, attempt, token, workerId, workerJson, ttlMs, judged)
  local shortToken, dispatcher = splitToken(token)
  local lease = dispatcher and parseLease(call('HGET', leasesKey(dispatcher), id))
  local record = call('HGET', taskKey(id), attempt)
  local isHeld = lease and lease.attempt == tonumber(attempt) and lease.token == shortToken
  if not isHeld or lease.kind ~= DISPATCH_STAGE then
    return 'superseded ' .. becauseOf(loadTask(id), tonumber(attempt), record)
  end
  local worker = workerNamed(workerId)
  if not isFit(worker, judged) then return 'stale' end
  local number = draw(1)
  lease.kind = INBOX_STAGE
  lease.token = int(number) .. '-0' .. string.match(lease.token, '%.%d+$')
  lease.untilAt = now + ttlMs
  call('HSET', taskKey(id), attempt, rewritten(record, lease.token, workerJson, nil))
  call('HDEL', leasesKey(dispatcher), id)
  call('HSET', leasesKey(workerId), id, leaseText(lease))
  call('ZADD', key('leases'), 'LT', int(lease.untilAt), workerId)
  enterInbox(worker, id, number)
  wakeInbox(workerId)
  return 'assigned'
end

local answers = {}
for at = 4, #ARGV, 7 do
  answers[#answers + 1] = assign(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], tonumber(ARGV[at + 5]), ARGV[at + 6])
end
flushWorkers()
return remember(request, answers)
