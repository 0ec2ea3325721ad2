#!lua flags=no-writes
-- task: these tasks as they stand, in one look. Unknown ones are left out.
-- ARGV: time, '1' for a light look or '', ids.
-- Answers { time, then per task what include/look.lua says }.

-- @include base lanes tasks leases stages order scope look

local answer = { int(now) }
for at = 3, #ARGV do
  local id = ARGV[at]
  local values = call('HMGET', taskKey(id), 'task', 'state', '1')
  if values[1] then
    local _, attempt = standing(values[2], values[3])
    addTask(answer, id, values[1], values[2], attempt, values[3], ARGV[2] == '1')
  end
end
return answer
