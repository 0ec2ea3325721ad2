#!lua flags=no-writes
-- lanes: a part of a page of lanes with their counters, by creation.
-- ARGV: time, number of the lane that comes before the page, how many are wanted, scope (3).
-- Answers { number of the lane to go on from ('' when all were looked at), then per lane a LANE_ROW }.

-- @include base lanes scope counters

local LOOK_MAX = 1000
local after = tonumber(ARGV[2])
local wanted = tonumber(ARGV[3])
local scope = parseScope(4)

local answer = { '' }
local found = 0

local function add(number)
  local parts = partsOf(number)
  local size = #answer
  answer[size + LANE_ROW.number] = number
  for index = 1, 3 do answer[size + LANE_ROW.number + index] = parts[index] end
  for index, count in ipairs(countersOf(number)) do answer[size + LANE_ROW.tenant + index] = count end
  found = found + 1
end

if scope.isOne then
  local number = onlyLane(scope)
  if number and tonumber(number) > after then add(number) end
  return answer
end

local last = tonumber(call('HGET', NUMBERS, 'lanes')) or 0
for number = after + 1, math.min(last, after + LOOK_MAX) do
  if covers(scope, int(number)) then add(int(number)) end
  if found >= wanted or number == after + LOOK_MAX then
    answer[1] = number < last and int(number) or ''
    break
  end
end
return answer
