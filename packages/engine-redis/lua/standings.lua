#!lua flags=no-writes
-- standings: what these tasks are and have used up so far, in one look and without their payloads. It stops early where the
-- payloads that it has to pass over are large.
-- ARGV: time, ids.
-- Answers { time, then per id, as far as it looked: the head of its text, or '' if it is unknown; its state or '' }.

-- @include base

local BYTES_MAX = 8388608

local answer = { NOW }
local bytes = 0
for at = 2, #ARGV do
  local values = call('HMGET', taskKey(ARGV[at]), 'task', 'state')
  answer[#answer + 1] = values[1] and string.match(values[1], '^[^\n]*\n') or ''
  answer[#answer + 1] = values[2] or ''
  bytes = bytes + (values[1] and #values[1] or 0)
  if bytes >= BYTES_MAX then break end
end
return answer
