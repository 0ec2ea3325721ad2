#!lua flags=allow-oom
-- watch: registers a channel with those who wait for the end of tasks.
-- ARGV: time, channel, then task ids.
-- Answers '1' if one of them has ended already, else ''.

-- @include base

local ENDS = END_STATUSES
local answer = ''
for at = 3, #ARGV do
  local id = ARGV[at]
  local values = call('HMGET', taskKey(id), 'state', '1')
  local status = string.match(values[1] or values[2] or '', STATUS_PATTERN)
  if ENDS[status] then
    answer = '1'
  else
    local channels = call('HGET', key('watched'), id) or ''
    if not string.find(' ' .. channels .. ' ', ' ' .. ARGV[2] .. ' ', 1, true) then
      call('HSET', key('watched'), id, channels == '' and ARGV[2] or channels .. ' ' .. ARGV[2])
    end
  end
end
return answer
