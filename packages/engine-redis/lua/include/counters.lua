-- The COUNTERS of a lane, which stand side by side among its numbers.

local function countersOf(number)
  local numbers = laneNumbers(call('HGET', key('lane:' .. number), 'numbers'))
  local counts = {}
  for index = 1, #COUNTERS do counts[index] = int(numbers[LANE_AT.queued + index]) end
  return counts
end
