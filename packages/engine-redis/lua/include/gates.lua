-- What breakers mean for lanes. A breaker covers places: an action ('<action>'), or that of one tenant ('<action>\n<tenant>'). The
-- gates of all breakers on a place are one hold and one limit under the name of gateOf(): whether any is open, and the lowest
-- number that one allows of the attempts that started since the last of them let probes through.

local function gateOf(place)
  local action, tenant = string.match(place, '^([^\n]*)\n?(.*)$')
  return gateName(action, tenant)
end

-- How many tasks of an action a breaker lets run at once; nil if it does not say.
local function allowedBy(breaker)
  local state = breaker.state
  if state.status == 'half_open' then return breaker.settings.probes end
  return state.status == 'ramping' and state.concurrency or nil
end

-- Holds by place; what ran by place, for each time since when it was counted and number of attempts ended by then.
local gateHolds, countedSince

atBegin(function()
  gateHolds, countedSince = {}, {}
end)

-- Lanes with queued tasks learn whether a breaker holds them: those that this call has changed, then others, step by step (see
-- lifting.lua). The rest look at the holds when they get a task.
local function gateHold(place)
  local hold = gateHolds[place]
  if hold == nil then
    hold = call('HGET', key('holds'), gateOf(place))
    gateHolds[place] = hold
  end
  return hold
end

local function tellLane(lane)
  if lane.queued == 0 then return end
  local hold = gateHold(lane.action) or gateHold(placeOf(lane.action, lane.tenant))
  if not hold then
    if lane.heldSince and not holdOn(lane) then letGo(lane) end
  elseif not lane.heldSince then
    applyHold(lane, hold)
  end
end

local function tellLanes(place, cursor)
  return proceed('gates ' .. place, eachStocked(gateOf(place), cursor, tellLane))
end

STEPS.gates = tellLanes

-- Adds one to the attempts of its places if it started since then. `token` ends with the lane's number.
local function addRunning(counts, since, startedAt, token)
  if tonumber(startedAt) < since then return end
  local lane = laneNumbered(tonumber(string.match(token, '%d+$')))
  local own = placeOf(lane.action, lane.tenant)
  counts[lane.action] = (counts[lane.action] or 0) + 1
  counts[own] = (counts[own] or 0) + 1
end

local function addLaunched(counts, since, ended)
  for _, pool in ipairs(call('SMEMBERS', key('launching'))) do
    for _, id in ipairs(call('ZRANGE', launchesKey(pool), '0', '-1')) do
      local state = not ended[id] and call('HGET', taskKey(id), 'state')
      local record = state and call('HGET', taskKey(id), string.match(state, '"attempt":(%d+)'))
      local _, _, token, _, startedAt = string.match(record or '', RECORD_PATTERN)
      if token then addRunning(counts, since, startedAt, token) end
    end
  end
end

local function addLeased(counts, since, ended)
  for _, worker in ipairs(call('ZRANGE', key('leases'), '0', '-1')) do
    local leases = call('HGETALL', leasesKey(worker))
    for index = 1, #leases, 2 do
      local lease = leases[index + 1]
      if part(lease, 1, 1) ~= STAGE_LETTERS.launch and not ended[leases[index]] then
        addRunning(counts, since, part(lease, 2, 14), string.match(lease, '^%S+ (%S+)'))
      end
    end
  end
end

-- How many attempts run in this place that started since then, without those that this call has ended. It goes over all
-- leases, which only a limit whose time changes is worth, and once for all places.
local function runningSince(place, since)
  local ended, size = {}, 0
  for _, change in pairs(leaseChanges) do
    size = size + #change.removed
    for _, id in ipairs(change.removed) do ended[id] = true end
  end
  local name = int(since) .. ' ' .. int(size)
  local counts = countedSince[name]
  if not counts then
    counts = {}
    addLaunched(counts, since, ended)
    addLeased(counts, since, ended)
    countedSince[name] = counts
  end
  return counts[place] or 0
end

-- Puts the hold of a place on it while any of its breakers is open. Answers whether that is new.
local function setHold(place)
  gateHolds[place] = nil
  for _, id in ipairs(covering(place)) do
    if breakerNamed(id).state.status == 'open' then
      nowExists('holds')
      return call('HSETNX', key('holds'), gateOf(place), NOW) == 1
    end
  end
  return call('HDEL', key('holds'), gateOf(place)) == 1
end

-- Answers whether every lane was told.
local function setLimit(place)
  local most
  local since = 0
  for _, id in ipairs(covering(place)) do
    local breaker = breakerNamed(id)
    local number = allowedBy(breaker)
    if number then
      if not most or number < most then most = number end
      since = math.max(since, breaker.state.since)
    end
  end
  return setOwnLimit(gateOf(place), most, since, function() return runningSince(place, since) end)
end

-- Brings the gates of these places up to date. Holds come first: lanes that are held need not be woken for a limit that ends.
-- Answers whether every lane was told.
local function setGates(places)
  local isChanged = {}
  for _, place in ipairs(places) do isChanged[place] = setHold(place) end
  for _, lane in ipairs(laneList) do
    if isChanged[lane.action] or isChanged[placeOf(lane.action, lane.tenant)] then tellLane(lane) end
  end
  local isTold = true
  for _, place in ipairs(places) do
    if isChanged[place] then
      local isDone
      if mayTellMore() then isDone = tellLanes(place, '') else isDone = proceed('gates ' .. place, '') end
      isTold = isTold and isDone
    end
    if not setLimit(place) then isTold = false end
  end
  return isTold
end
