#!lua flags=allow-oom
-- limit: sets how many tasks may run at once in all lanes of a scope, or lifts that.
-- ARGV: time, request id, pool, action, tenant (each '' if not given), concurrency ('' lifts the limit), actor, reason, data of
--   the journal entry.
-- Answers 1 if every lane was told, 0 if lift must go on. A repetition (same request id) changes nothing.

-- @include base answers lanes limits wake journal lifting

local request = ARGV[2]
local known = recall(request)
if known then return known end

local pool, action, tenant, concurrency = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local scopeName = pool .. '\n' .. action .. '\n' .. tenant

-- What runs in the scope now. Counted whenever a limit is set: lanes with running tasks are no more than those tasks.
local function countRunning()
  local running = 0
  for _, member in ipairs(call('SMEMBERS', key('busy'))) do
    local values = call('HMGET', key('lane:' .. int(tonumber(member))), 'pool', 'action', 'tenant', 'running')
    if (pool == '' or pool == values[1]) and (action == '' or action == values[2]) and (tenant == '' or tenant == values[3]) then
      running = running + tonumber(values[4])
    end
  end
  return running
end

note('lanes.limited', nil, nil, ARGV[7], ARGV[8], ARGV[9])
local isDone = true
local room
if concurrency then
  local running = countRunning()
  room = concurrency - running
  call('HSET', key('limits'), scopeName, int(concurrency))
  call('HSET', key('slots'), scopeName, int(running))
  local limit = limitNamed(scopeName, concurrency)
  if room > 0 then limit.freed = room end
else
  call('HDEL', key('limits'), scopeName)
  call('HDEL', key('slots'), scopeName)
  isDone = endLimit(scopeName)
end
-- Lanes that no claim has found at the limit yet are not parked there; they too may have something now.
if not room or room > 0 then
  eachStocked(scopeName, 0, function(lane)
    if lane.ready > 0 and not lane.heldSince then stir(lane) end
  end)
end
flushLimits()
flushLanes()
flushWake()
return remember(request, isDone and 1 or 0)
