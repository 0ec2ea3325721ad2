-- The counters of a lane. What was accepted is the sum of all.

local COUNTERS = { 'queued', 'waiting', 'running', 'succeeded', 'dead', 'discarded', 'cancelled', 'removed' }

-- As texts, in this order.
local function countersOf(number)
  local counts = call('HMGET', key('lane:' .. number), unpack(COUNTERS))
  for index = 1, #COUNTERS do counts[index] = counts[index] or '0' end
  return counts
end
