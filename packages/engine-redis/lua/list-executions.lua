#!lua flags=no-writes
-- executions: a part of a page of a task's attempts, oldest first.
-- ARGV: time, task id, attempt that comes before the page, how many are wanted.
-- Answers {} for an unknown task, else { its text, attempt to go on from ('' when all was looked at), then the records }.

-- @include base lanes tasks leases stages order scope look

local BYTES_MAX = 8388608
local id = ARGV[2]
local after = tonumber(ARGV[3])
local wanted = tonumber(ARGV[4])

local values = call('HMGET', taskKey(id), 'task', 'state')
if not values[1] then return {} end
local first = not values[2] and call('HGET', taskKey(id), '1')
local latest = tonumber(select(2, standing(values[2], first)))
-- Attempts have no gaps, but a message may have opened the task with a later one than the first.
local count = call('HLEN', taskKey(id)) - (values[2] and 2 or 1)
local attempt = math.max(after + 1, latest - count + 1)

local answer = { values[1], '' }
local bytes = 0
while attempt <= latest do
  local record = call('HGET', taskKey(id), int(attempt))
  if record then
    answer[#answer + 1] = record
    bytes = bytes + #record
    if #answer - 2 >= wanted or bytes >= BYTES_MAX then
      answer[2] = int(attempt)
      break
    end
  end
  attempt = attempt + 1
end
return answer
