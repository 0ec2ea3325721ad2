#!lua flags=allow-oom
-- idle: registers a channel with those who wait for work, unless something changed since the caller looked.
-- ARGV: time, channel, number of actions (-1 for any), actions, then per pool: name, version the caller knows or ''.
-- Answers the present versions; the first item says '1' if it was registered, '' if the caller should look first.
-- Checks before the first write: that every pool still has the version the caller knows, if it knows one.

-- @include base

local channel = ARGV[2]
local actionCount = tonumber(ARGV[3])
local firstPool = 4 + math.max(actionCount, 0)
local answer = { '1' }
for at = firstPool, #ARGV, 2 do
  local version = call('HGET', key('pool:' .. ARGV[at]), 'version') or '0'
  answer[#answer + 1] = version
  if ARGV[at + 1] ~= '' and ARGV[at + 1] ~= version then answer[1] = '' end
end
if answer[1] == '' then return answer end
for at = firstPool, #ARGV, 2 do
  local pool = key('idle:' .. ARGV[at] .. '\n')
  if actionCount < 0 then call('ZADD', pool, NOW, channel) end
  for index = 1, actionCount do call('ZADD', pool .. ARGV[3 + index], NOW, channel) end
end
return answer
