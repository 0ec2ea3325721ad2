#!lua flags=allow-oom
-- pause: puts a hold on a scope. A hold that is there keeps its time and takes the new actor and reason.
-- ARGV: time, request id, pool, action, tenant (each '' if not given), actor and reason (JSON), actor, reason, rank of the
--   caller, data of the journal entry ('' for none).
-- Answers 1 if every lane was told, 0 if lift must go on, -2 if the hold is the platform's and the caller a tenant's. A repetition (same request id) changes nothing.

-- @once
-- @include base answers lanes journal lifting ranks

local scopeName = ARGV[3] .. '\n' .. ARGV[4] .. '\n' .. ARGV[5]
if isOutranked('holds', scopeName, ARGV[9]) then return OUTRANKED, false end
local before = call('HGET', key('holds'), scopeName)
local since = before and string.match(before, '^%d+') or int(now)
call('HSET', key('holds'), scopeName, since .. ' ' .. ARGV[6])
nowExists('holds')
keepRank('holds', scopeName, ARGV[9])
call('HDEL', key('unfinished'), 'resume ' .. scopeName)
if ARGV[10] ~= '' then note('lanes.paused', nil, nil, ARGV[7], ARGV[8], ARGV[10]) end
local isDone = beginHold(scopeName, '')
flushLanes()
return isDone and 1 or 0
