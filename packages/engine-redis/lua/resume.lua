#!lua flags=allow-oom
-- resume: lifts the hold on exactly this scope.
-- ARGV: time, request id, pool, action, tenant (each '' if not given), actor, reason, rank of the caller, data of
--   the journal entry ('' for none).
-- Answers -1 if there was no such hold, -2 if it is the platform's and the caller a tenant's (then nothing is written), 1 if every lane was told, 0 if lift must go on. A repetition
-- (same request id) gets the same answer.

-- @once
-- @include base answers lanes wake journal lifting ranks

local scopeName = ARGV[3] .. '\n' .. ARGV[4] .. '\n' .. ARGV[5]
if isOutranked('holds', scopeName, ARGV[8]) then return OUTRANKED, false end
if call('HDEL', key('holds'), scopeName) == 0 then return -1, false end
keepRank('holds', scopeName, nil)
call('HDEL', key('unfinished'), 'pause ' .. scopeName)
if ARGV[9] ~= '' then note('lanes.resumed', nil, nil, ARGV[6], ARGV[7], ARGV[9]) end
local isDone = endHold(scopeName, '')
flushLanes()
flushWake()
return isDone and 1 or 0
