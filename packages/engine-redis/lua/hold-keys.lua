#!lua
-- holdKeys: in a store with several partitions, takes, passes on or frees dedupe keys that are held in this one. A holder is
-- '<ticket> <task id>': the task may not exist yet, and may never.
-- ARGV: time, then per key: its name (tenant, action and key, in three lines), the holder to replace ('' for none), the new one ('' to
--   free it).
-- Answers { time, then per key: '' if it is as asked, else its present holder }. A key that nobody holds may be taken.
-- Checks before each key's first write: that it is held by nobody, or by the one to replace.

-- @include base

local answer = { NOW }
for at = 2, #ARGV, 3 do
  local name, from, to = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local holder = call('HGET', key('dedupe'), name)
  if holder == to or (to == '' and holder ~= from) then
    answer[#answer + 1] = ''
  elseif not holder or holder == from then
    if to == '' then call('HDEL', key('dedupe'), name) else call('HSET', key('dedupe'), name, to) end
    answer[#answer + 1] = ''
  else
    answer[#answer + 1] = holder
  end
end
return answer
