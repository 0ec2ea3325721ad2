#!lua flags=no-writes
-- workers: a page of workers, by id.
-- ARGV: time, the id that comes before the page ('' for the first page), how many are wanted.
-- Answers { time, the id to go on from ('' when these are the last), then per worker: id and the fields below, '' for none }.

-- @include base

local FIELDS = {
  'epoch', 'pools', 'actions', 'host', 'version', 'runtimes', 'registeredAt', 'lastBeatAt', 'inFlight', 'queueDepth',
  'loopLagMs', 'memoryBytes', 'draining', 'consecutiveFailures', 'recentOutcomes', 'recentFailures', 'lastFailureAt',
}

local wanted = tonumber(ARGV[3])
local ids = call('ZRANGE', key('workers'), ARGV[2] == '' and '-' or '(' .. ARGV[2], '+', 'BYLEX', 'LIMIT', 0, wanted + 1)
local answer = { int(now), #ids > wanted and ids[wanted] or '' }
for index = 1, math.min(#ids, wanted) do
  local values = call('HMGET', key('worker:' .. ids[index]), unpack(FIELDS))
  if values[1] then
    local size = #answer
    answer[size + 1] = ids[index]
    for at, value in ipairs(values) do answer[size + 1 + at] = value or '' end
  end
end
return answer
