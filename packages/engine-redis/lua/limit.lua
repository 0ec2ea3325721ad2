#!lua flags=allow-oom
-- limit: sets how many tasks may run at once in all lanes of a scope, or lifts that.
-- ARGV: time, request id, pool, action, tenant (each '' if not given), concurrency ('' lifts the limit), actor, reason, rank of
--   the caller, data of the journal entry.
-- Answers 1 if every lane was told, 0 if lift must go on, -2 if the limit is the platform's and the caller a tenant's. A repetition (same request id) changes nothing.

-- @once
-- @include base answers lanes limits wake journal lifting ranks

local concurrency = tonumber(ARGV[6])
local scopeName = ARGV[3] .. '\n' .. ARGV[4] .. '\n' .. ARGV[5]

if isOutranked('limits', scopeName, ARGV[9]) then return OUTRANKED, false end
keepRank('limits', scopeName, concurrency and ARGV[9])
note('lanes.limited', nil, nil, ARGV[7], ARGV[8], ARGV[10])
local isDone = true
local room
if concurrency then
  local running = countRunning(scopeName)
  room = concurrency - running
  call('HSET', key('limits'), scopeName, int(concurrency))
  nowExists('limits')
  call('HSET', key('slots'), scopeName, int(running))
  local limit = limitNamed(scopeName, concurrency)
  if room > 0 then limit.freed = room end
else
  call('HDEL', key('limits'), scopeName)
  call('HDEL', key('slots'), scopeName)
  isDone = endLimit(scopeName)
end
if not room or room > 0 then stirStocked(scopeName) end
flushLimits()
flushLanes()
flushWake()
return isDone and 1 or 0
