#!lua flags=no-writes
-- tenantFigures: what tenants have in a bounded number of lanes; its caller adds up several calls.
-- ARGV: time, number of the lane to begin after.
-- Answers { number of the lane to go on from ('' when all were looked at), then per tenant of these lanes a TENANT_ROW }.

-- @include base lanes

local LOOK_MAX = 2000
local after = tonumber(ARGV[2])
local last = tonumber(call('HGET', NUMBERS, 'lanes')) or 0

local answer = { last > after + LOOK_MAX and int(after + LOOK_MAX) or '' }
local places = {}
local sums = {}
for number = after + 1, math.min(last, after + LOOK_MAX) do
  local values = call('HMGET', key('lane:' .. int(number)), 'tenant', 'numbers', 'bytes')
  local tenant = values[1]
  if tenant then
    local sum = sums[tenant]
    if not sum then
      sum = { tenant = tenant, backlog = 0, running = 0, bytes = 0 }
      sums[tenant] = sum
      places[#places + 1] = sum
    end
    local numbers = laneNumbers(values[2])
    sum.backlog = sum.backlog + numbers[LANE.queued] + numbers[LANE.waiting] + numbers[LANE.running]
    sum.running = sum.running + numbers[LANE.running]
    -- A store that an earlier version filled may have counted down only.
    sum.bytes = sum.bytes + math.max(tonumber(values[3]) or 0, 0)
  end
end
for _, sum in ipairs(places) do
  local size = #answer
  answer[size + TENANT_ROW.tenant] = sum.tenant
  answer[size + TENANT_ROW.backlog] = int(sum.backlog)
  answer[size + TENANT_ROW.running] = int(sum.running)
  answer[size + TENANT_ROW.bytes] = int(sum.bytes)
end
return answer
