-- Gates that many lanes must be told of: holds that begin or end, limits that are lifted. It is done in steps: what is under
-- way is noted, each step tells some lanes, and the note goes with the last. If whoever does it dies on the way, the next
-- sweep goes on.

local LIFT_MAX = 500

-- Notes where to go on, or with nil that it is done. Answers whether it is.
local function proceed(what, goOnAt)
  if goOnAt then call('HSET', key('unfinished'), what, int(goOnAt)) else call('HDEL', key('unfinished'), what) end
  return not goOnAt
end

local function scopeCovers(scopeName, lane)
  for _, name in ipairs(scopeNames(lane)) do
    if name == scopeName then return true end
  end
  return false
end

-- Calls `visit` with the next lanes of the scope that have queued tasks; the others look at the holds when they get one.
-- Answers where to go on; nil when these were the last.
local function eachStocked(scopeName, cursor, visit)
  local pool, action, tenant = string.match(scopeName, '^(.*)\n(.*)\n(.*)$')
  if pool ~= '' and action ~= '' and tenant ~= '' then
    local number = findLane(pool, action, tenant)
    local lane = number and laneNumbered(number)
    if lane and lane.queued > 0 then visit(lane) end
    return nil
  end
  local page = call('ZRANGE', key('stocked'), '(' .. int(cursor), '+inf', 'BYSCORE', 'LIMIT', 0, LIFT_MAX)
  for _, member in ipairs(page) do
    local lane = laneNumbered(tonumber(member))
    if scopeCovers(scopeName, lane) then visit(lane) end
  end
  return #page == LIFT_MAX and tonumber(page[#page]) or nil
end

-- What runs in a scope now. Counted whenever a limit is set: lanes with running tasks are no more than those tasks.
local function countRunning(scopeName)
  local running = 0
  for _, member in ipairs(call('SMEMBERS', key('busy'))) do
    local lane = laneNumbered(tonumber(member))
    if scopeCovers(scopeName, lane) then running = running + lane.running end
  end
  return running
end

-- Lanes that no claim has found at a limit yet are not parked there; they too may have something when it changes.
local function stirStocked(scopeName)
  eachStocked(scopeName, 0, function(lane)
    if lane.ready > 0 and not lane.heldSince then stir(lane) end
  end)
end

-- Each answers true when nothing is left to do.

local function beginHold(scopeName, cursor)
  local hold = call('HGET', key('holds'), scopeName)
  local goOnAt = hold and eachStocked(scopeName, cursor, function(lane)
    if not lane.heldSince then applyHold(lane, hold) end
  end)
  return proceed('pause ' .. scopeName, goOnAt)
end

local function endHold(scopeName, cursor)
  local goOnAt = eachStocked(scopeName, cursor, function(lane)
    if not lane.heldSince or holdOn(lane) then return end
    lane.heldMs = lane.heldMs + now - lane.heldSince
    lane.heldSince = false
    catchUp(lane)
    if lane.ready > 0 then stir(lane, lane.ready) end
  end)
  return proceed('resume ' .. scopeName, goOnAt)
end

-- Lanes that are parked at a limit become active again.
local function endLimit(scopeName)
  local what = 'limit ' .. scopeName
  local left = LIFT_MAX
  for _, place in ipairs(call('SMEMBERS', parkingsKey(scopeName))) do
    local pool, action = string.match(place, '^(.*)\n(.*)$')
    local page = call('ZRANGE', parkedKey(scopeName, pool, action), 0, left - 1)
    for _, member in ipairs(page) do
      local lane = laneNumbered(tonumber(member))
      lane.parked = false
      stir(lane, lane.ready)
    end
    if #page == left then return proceed(what, 0) end
    left = left - #page
    call('SREM', parkingsKey(scopeName), place)
  end
  return proceed(what, nil)
end

local STEPS = { pause = beginHold, resume = endHold, limit = endLimit }

-- Takes one step of something that was left unfinished, if there is any.
local function continueLifting()
  if call('HLEN', key('unfinished')) == 0 then return end
  local first = call('HGETALL', key('unfinished'))
  local kind, scopeName = string.match(first[1], '^(%a+) (.*)$')
  STEPS[kind](scopeName, tonumber(first[2]))
end
