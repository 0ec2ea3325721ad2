-- Which lanes a query is about. A query gives pool, action and tenant; each is '' if it does not matter, else '=' and the
-- name.

local laneParts

atBegin(function()
  laneParts = {}
end)

-- pool, action and tenant of a lane, whose number is given as text; also its heldSince, or false, and heldMs.
local function partsOf(number)
  local known = laneParts[number]
  if not known then
    known = call('HMGET', key('lane:' .. number), 'pool', 'action', 'tenant', 'numbers')
    local numbers = laneNumbers(known[4])
    known.heldSince = numbers[LANE.heldSince] ~= -1 and int(numbers[LANE.heldSince])
    known.heldMs = int(numbers[LANE.heldMs])
    laneParts[number] = known
  end
  return known
end

local function parseScope(at)
  local scope = { isAll = true, isOne = true }
  for index = 1, 3 do
    local part = ARGV[at + index - 1]
    if part == '' then
      scope.isOne = false
    else
      scope.isAll = false
      scope[index] = string.sub(part, 2)
    end
  end
  return scope
end

local function covers(scope, number)
  if scope.isAll then return true end
  local parts = partsOf(number)
  for index = 1, 3 do
    if scope[index] and scope[index] ~= parts[index] then return false end
  end
  return true
end

-- The number, as text, of the only lane that a scope with all three parts means; false if there is none.
local function onlyLane(scope)
  return call('HGET', key('lanes'), scope[1] .. '\n' .. scope[2] .. '\n' .. scope[3])
end
