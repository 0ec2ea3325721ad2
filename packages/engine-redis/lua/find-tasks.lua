#!lua flags=no-writes
-- task: these tasks as they stand, in one look. Unknown ones are left out.
-- ARGV: time, ids.
-- Answers { time, then per task what include/look.lua says }.

-- @include base lanes tasks leases stages order scope look

local answer = { int(now) }
for at = 2, #ARGV do
  local id = ARGV[at]
  local values = call('HMGET', taskKey(id), 'task', 'state')
  if values[1] then
    local first = not values[2] and call('HGET', taskKey(id), '1')
    local _, attempt = standing(values[2], first)
    addTask(answer, id, values[1], values[2], attempt)
  end
end
return answer
