-- What breakers mean for lanes. The gates of all breakers on an action are one hold and one limit under the name of gateName():
-- whether any is open, and the lowest number that one allows of the attempts that started since the last of them let probes
-- through.

-- How many tasks of an action a breaker lets run at once; nil if it does not say.
local function allowedBy(breaker)
  local state = breaker.state
  if state.status == 'half_open' then return breaker.settings.probes end
  return state.status == 'ramping' and state.concurrency or nil
end

-- Holds by action; what ran by action, for each time since when it was counted and number of attempts ended by then.
local gateHolds, countedSince

atBegin(function()
  gateHolds, countedSince = {}, {}
end)

-- Lanes with queued tasks learn whether a breaker holds them: those that this call has changed, then others, step by step (see
-- lifting.lua). The rest look at the holds when they get a task.
local function tellLane(lane)
  if lane.queued == 0 then return end
  local hold = gateHolds[lane.action]
  if hold == nil then
    hold = call('HGET', key('holds'), gateName(lane.action))
    gateHolds[lane.action] = hold
  end
  if not hold then
    if lane.heldSince and not holdOn(lane) then letGo(lane) end
  elseif not lane.heldSince then
    applyHold(lane, hold)
  end
end

local function tellLanes(action, cursor)
  return proceed('gates ' .. action, eachStocked(gateName(action), cursor, tellLane))
end

STEPS.gates = tellLanes

-- Adds one to the attempts of its action if it started since then. `token` ends with the lane's number.
local function addRunning(counts, since, startedAt, token)
  if tonumber(startedAt) < since then return end
  local action = laneNumbered(tonumber(string.match(token, '%d+$'))).action
  counts[action] = (counts[action] or 0) + 1
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

-- How many attempts run of this action that started since then, without those that this call has ended. It goes over all
-- leases, which only a limit whose time changes is worth, and once for all actions.
local function runningSince(action, since)
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
  return counts[action] or 0
end

-- Puts the hold of an action on it while any of its breakers is open. Answers whether that is new.
local function setHold(action)
  gateHolds[action] = nil
  for _, name in ipairs(covering(action)) do
    if breakerNamed(name).state.status == 'open' then
      nowExists('holds')
      return call('HSETNX', key('holds'), gateName(action), NOW) == 1
    end
  end
  return call('HDEL', key('holds'), gateName(action)) == 1
end

-- Answers whether every lane was told.
local function setLimit(action)
  local most
  local since = 0
  for _, name in ipairs(covering(action)) do
    local breaker = breakerNamed(name)
    local number = allowedBy(breaker)
    if number then
      if not most or number < most then most = number end
      since = math.max(since, breaker.state.since)
    end
  end
  return setOwnLimit(gateName(action), most, since, function() return runningSince(action, since) end)
end

-- Brings the gates of these actions up to date. Holds come first: lanes that are held need not be woken for a limit that ends.
-- Answers whether every lane was told.
local function setGates(actions)
  local isChanged = {}
  for _, action in ipairs(actions) do isChanged[action] = setHold(action) end
  for _, lane in ipairs(laneList) do
    if isChanged[lane.action] then tellLane(lane) end
  end
  local isTold = true
  for _, action in ipairs(actions) do
    if isChanged[action] then
      local isDone
      if mayTellMore() then isDone = tellLanes(action, '') else isDone = proceed('gates ' .. action, '') end
      isTold = isTold and isDone
    end
    if not setLimit(action) then isTold = false end
  end
  return isTold
end
