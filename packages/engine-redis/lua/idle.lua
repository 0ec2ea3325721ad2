#!lua flags=allow-oom
-- idle: registers a channel with those who wait for work, unless something changed since the caller looked.
-- ARGV: time, channel, number of actions (-1 for any), actions, then per pool: name, version the caller knows or ''. In place of a
--   pool's name, a line break and a worker's id: then it is that worker's inbox.
-- Answers the present versions; the first item says '1' if it was registered, '' if the caller should look first.
-- Checks before the first write: that every pool still has the version the caller knows, if it knows one.

-- @include base workers

local channel = ARGV[2]
local actionCount = tonumber(ARGV[3])
local firstPool = 4 + math.max(actionCount, 0)
local INBOX = 10
local answer = { '1' }

local function versionOf(name)
  if byteAt(name) ~= INBOX then return call('HGET', key('pool:' .. name), 'version') or '0' end
  local worker = workerNamed(part(name, 2))
  return int(worker and worker.assigned or 0)
end

for at = firstPool, #ARGV, 2 do
  local version = versionOf(ARGV[at])
  answer[#answer + 1] = version
  if ARGV[at + 1] ~= '' and ARGV[at + 1] ~= version then answer[1] = '' end
end
if answer[1] == '' then return answer end
for at = firstPool, #ARGV, 2 do
  local pool = key('idle:' .. ARGV[at] .. '\n')
  if byteAt(ARGV[at]) == INBOX then
    call('SADD', key('listening:' .. part(ARGV[at], 2)), channel)
  elseif actionCount < 0 then
    call('ZADD', pool, NOW, channel)
  else
    for index = 1, actionCount do call('ZADD', pool .. ARGV[3 + index], NOW, channel) end
  end
end
return answer
