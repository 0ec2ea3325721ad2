#!lua flags=allow-oom
-- shareEnd: a shared limit was lifted: the partition forgets what it had of it.
-- ARGV: time, scope (3), version.
-- Answers 1 if every lane was told, 0 if lift must go on. If it knows a newer version, nothing is written.

-- @include base lanes limits wake lifting

local scopeName = ARGV[2] .. '\n' .. ARGV[3] .. '\n' .. ARGV[4]
local shareKey = key('quota:' .. scopeName)
if (tonumber(call('HGET', shareKey, 'version')) or 0) > tonumber(ARGV[5]) then return 1 end
call('DEL', shareKey, key('wanted:' .. scopeName))
call('SREM', key('blocked'), scopeName)
call('HDEL', key('limits'), scopeName)
call('HDEL', key('slots'), scopeName)
local isDone = endLimit(scopeName)
stirStocked(scopeName)
flushLanes()
flushWake()
return isDone and 1 or 0
