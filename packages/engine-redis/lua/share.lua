#!lua flags=allow-oom
-- share: brings what a partition has of a shared limit up to date. Under each version of the limit it counts up what it received
-- and what it returned; the difference is its share (that claims go by) and what is called back but still in use. Both
-- counts only grow, so a message that comes twice, or late, does no harm. It begins with what runs there, all of it called
-- back: then it is frozen, and nothing starts until the home says that it may keep it.
-- ARGV: time, scope (3), version, what the home granted in all ('' if it is not said), '1' if it may keep what it began with,
--   '1' to return half of what is free, how many to call back, then where lanes elsewhere want slots ('<pool>\n<action>' each).
-- Answers { version, received, returned, share, running, called back, '1' if frozen }; only the version if it knows a newer one.

-- @include base lanes limits wake lifting

local scopeName = ARGV[2] .. '\n' .. ARGV[3] .. '\n' .. ARGV[4]
local version, granted, mayKeep, gives, calls = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7] == '1', ARGV[8] == '1', tonumber(ARGV[9])
local shareKey = key('quota:' .. scopeName)

local values = call('HMGET', shareKey, 'version', 'received', 'returned', 'quota', 'called', 'frozen')
local known = tonumber(values[1]) or 0
if known > version then return { int(known) } end

local received, returned, share, called = tonumber(values[2]), tonumber(values[3]), tonumber(values[4]), tonumber(values[5])
local isFrozen = values[6] == '1'
local running = tonumber(call('HGET', key('slots'), scopeName))
if known < version then
  running = countRunning(scopeName)
  received, returned, share, called, isFrozen = running, 0, 0, running, true
  call('HSET', key('slots'), scopeName, int(running))
end
local before = known < version and 0 or share

-- What was called back and is not in use any more goes back to the home.
local function returnCalled()
  local count = math.min(called, share + called - running)
  if count <= 0 then return end
  called = called - count
  returned = returned + count
end

if granted and granted > received then
  share = share + granted - received
  received = granted
end
if mayKeep and isFrozen then
  share = share + called
  called = 0
  isFrozen = false
end
returnCalled()
if gives and share > running then
  local count = math.ceil((share - running) / 2)
  share = share - count
  returned = returned + count
end
if calls > 0 then
  local count = math.min(calls, share)
  share = share - count
  called = called + count
  returnCalled()
end

call('HSET', shareKey, 'version', int(version), 'received', int(received), 'returned', int(returned), 'quota', int(share),
  'called', int(called), 'frozen', isFrozen and '1' or '')
call('HSET', key('limits'), scopeName, int(share) .. ' shared')
nowExists('limits')
for at = 10, #ARGV do call('SADD', key('wanted:' .. scopeName), ARGV[at]) end
if share > before and share > running then
  limitsNamed({ scopeName })[1].freed = math.min(share - before, share - running)
  if mayKeep then stirStocked(scopeName) end
end
flushLimits()
flushLanes()
flushWake()
return { int(version), int(received), int(returned), int(share), int(running), int(called), isFrozen and '1' or '' }
