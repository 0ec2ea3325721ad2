#!lua flags=no-writes
-- launches: a page of the leases of stage launch in a pool, by task id.
-- ARGV: time, pool, the task id that comes before the page ('' for the first page), how many are wanted.
-- Answers { time, the id to go on from ('' when these are the last), then per lease a LAUNCH_ROW }.

-- @include base lanes tasks leases stages

local BYTES_MAX = 8388608

local wanted = tonumber(ARGV[4])
local from = ARGV[3] == '' and '-' or '(' .. ARGV[3]
local ids = call('ZRANGE', launchesKey(ARGV[2]), from, '+', 'BYLEX', 'LIMIT', 0, wanted + 1)
local answer = { NOW, '' }
local bytes = 0
for index, id in ipairs(ids) do
  if index > wanted or bytes >= BYTES_MAX then
    answer[2] = ids[index - 1]
    break
  end
  local values = call('HMGET', taskKey(id), 'task', 'state')
  local attempt = string.match(values[2], '"attempt":(%d+)')
  local record = call('HGET', taskKey(id), attempt)
  local worker = cjson.decode('[' .. select(4, string.match(record, RECORD_PATTERN)) .. ']')[1]
  local size = #answer
  answer[size + LAUNCH_ROW.id] = id
  answer[size + LAUNCH_ROW.text] = values[1]
  answer[size + LAUNCH_ROW.state] = values[2]
  answer[size + LAUNCH_ROW.record] = record
  answer[size + LAUNCH_ROW.lease] = call('HGET', leasesKey(worker), id)
  bytes = bytes + #values[1] + #record
end
return answer
