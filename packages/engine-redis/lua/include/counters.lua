-- The counters of a lane. What was accepted is the sum of all.

-- Where they stand among a lane's numbers: queued, waiting, running, succeeded, dead, discarded, cancelled, removed.
local FIRST_COUNTER, LAST_COUNTER = 8, 15

-- In this order.
local function countersOf(number)
  local numbers = laneNumbers(call('HGET', key('lane:' .. number), 'numbers'))
  local counts = {}
  for index = FIRST_COUNTER, LAST_COUNTER do counts[#counts + 1] = int(numbers[index]) end
  return counts
end
