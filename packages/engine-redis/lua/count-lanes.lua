#!lua flags=no-writes
-- counts: the counters of a scope's lanes, added up over a bounded number of lanes; its caller adds up several calls.
-- ARGV: time, number of the lane to begin after, scope (3).
-- Answers { number of the lane to go on from ('' when all were looked at), then the sums in the order of
-- COUNTERS }.

-- @include base lanes scope counters

local LOOK_MAX = 2000
local after = tonumber(ARGV[2])
local scope = parseScope(3)

local sums = {}
for index = 1, #COUNTERS do sums[index] = 0 end

local function add(number)
  for index, count in ipairs(countersOf(number)) do sums[index] = sums[index] + tonumber(count) end
end

local nextAfter = ''
if scope.isOne then
  local number = onlyLane(scope)
  if number then add(number) end
else
  local last = tonumber(call('HGET', NUMBERS, 'lanes')) or 0
  for number = after + 1, math.min(last, after + LOOK_MAX) do
    if covers(scope, int(number)) then add(int(number)) end
  end
  if last > after + LOOK_MAX then nextAfter = int(after + LOOK_MAX) end
end

local answer = { nextAfter }
for index, sum in ipairs(sums) do answer[index + 1] = int(sum) end
return answer
