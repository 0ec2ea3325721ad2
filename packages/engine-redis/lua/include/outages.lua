-- Who tells breakers of what: failures, successes and the time. What follows for lanes is in gates.lua.
-- 'opened' has the open breakers by when they let probes through, 'fading' the closed ones by when they are forgotten.

-- What one claim turns to half open, or forgets.
local TURN_MAX = 100
local ENTRY_TYPES, REASONS = BREAKER_ENTRY_TYPES, BREAKER_REASONS

-- What an entry about it says of it, without the last brace.
local function entryHead(breaker)
  return '{"breaker":' .. cjson.encode(breaker.name) .. ',"tenant":' .. (breaker.tenant and cjson.encode(breaker.tenant) or 'null')
end

local function noteClosed(breaker, actor, reason)
  note(ENTRY_TYPES.closed, nil, nil, actor, reason, entryHead(breaker) .. '}')
end

local function noteStatus(breaker)
  local state = breaker.state
  if state.status == 'closed' then return noteClosed(breaker, ACTORS.breaker, BREAKER_REASONS.closed) end
  local untilAt = state['until']
  note(ENTRY_TYPES[state.status], nil, nil, ACTORS.breaker, REASONS[state.status],
    entryHead(breaker) .. ',"opens":' .. int(state.opens) .. ',"until":'
    .. (untilAt and int(untilAt) or 'null') .. '}')
end

-- The places that it covers.
local function placesOf(breaker)
  local places = {}
  for index, action in ipairs(breaker.actions) do places[index] = placeOf(action, breaker.tenant) end
  return places
end

-- Applies a change, and what follows from it. `apply` answers an action that is covered since just now, if there is one.
local function changeBreaker(breaker, apply)
  local before, boundBefore = breaker.state.status, allowedBy(breaker)
  local joined = apply(breaker)
  breaker.changed = true
  local state = breaker.state
  local hasTurned = state.status ~= before
  if hasTurned then
    if state.status == 'open' then
      call('ZADD', key('opened'), int(state['until']), breaker.id)
      call('ZREM', key('fading'), breaker.id)
    elseif before == 'open' then
      call('ZREM', key('opened'), breaker.id)
    end
  end
  if hasTurned or allowedBy(breaker) ~= boundBefore then
    setGates(placesOf(breaker))
  elseif joined and state.status ~= 'closed' then
    setGates({ placeOf(joined, breaker.tenant) })
  end
  if hasTurned then noteStatus(breaker) end
end

-- How many breakers each tenant has: 'owned', by tenant.
local function countOwned(breaker, change)
  if not breaker.tenant then return end
  if call('HINCRBY', key('owned'), breaker.tenant, change) <= 0 then call('HDEL', key('owned'), breaker.tenant) end
end

-- It does not exist any more. Answers whether every lane was told.
local function forgetBreaker(breaker)
  breakers[breaker.id] = false
  call('HDEL', key('breakers'), breaker.id)
  call('ZREM', key('opened'), breaker.id)
  call('ZREM', key('fading'), breaker.id)
  countOwned(breaker, '-1')
  local places = placesOf(breaker)
  for _, place in ipairs(places) do
    local kept = {}
    for _, id in ipairs(covering(place)) do
      if id ~= breaker.id then kept[#kept + 1] = id end
    end
    setCovering(place, kept)
  end
  return breaker.state.status == 'closed' or setGates(places)
end

-- Answers whether it covers the action since just now.
local function cover(breaker, action)
  for _, known in ipairs(breaker.actions) do
    if known == action then return false end
  end
  breaker.actions[#breaker.actions + 1] = action
  local place = placeOf(action, breaker.tenant)
  local ids = { breaker.id }
  for _, id in ipairs(covering(place)) do ids[#ids + 1] = id end
  table.sort(ids)
  setCovering(place, ids)
  return true
end

-- How many this call has made: they are not stored yet.
local made

atBegin(function()
  made = 0
end)

local function mayMake(tenant)
  if call('HLEN', key('breakers')) + made >= BREAKERS_MAX then return false end
  return not tenant or (tonumber(call('HGET', key('owned'), tenant)) or 0) < BREAKERS_OF_TENANT_MAX
end

-- The breaker of this id; it begins anew if there is none, or a forgotten one. False if there are too many.
local function breakerToFail(id)
  local breaker = breakerNamed(id)
  if breaker and isForgotten(breaker) then
    forgetBreaker(breaker)
    breaker = false
  end
  if not breaker then
    breaker = blankBreaker(id)
    if not mayMake(breaker.tenant) then return false end
    countOwned(breaker, '1')
    made = made + 1
    breakers[id] = breaker
  end
  return breaker
end

-- Whether a breaker of this id covers the place, or may.
local function mayCover(id, place)
  local ids = covering(place)
  for _, known in ipairs(ids) do
    if known == id then return true end
  end
  return #ids < COVERING_MAX
end

-- A failure in this lane counts for one breaker: of the tenant, or (false) of all. Answers it; false if it can't count.
local function failFor(ref, lane, tenant, startedAt)
  local id = breakerId(ref.name, tenant)
  local breaker = mayCover(id, placeOf(lane.action, tenant)) and breakerToFail(id)
  if not breaker then return false end
  changeBreaker(breaker, function()
    breaker.settingsText = ref.settings
    breaker.settings = decodeSettings(ref.settings)
    local hasJoined = cover(breaker, lane.action)
    transitions.afterFailure(breaker, lane.tenant, startedAt)
    return hasJoined and lane.action
  end)
  return breaker
end

-- An attempt of the lane failed that counts for breakers of these names, the tenant's own and that of all tenants, each with its
-- settings, which hold from now on. Answers whether it is to be parked.
local function tellFailure(refs, lane, startedAt)
  if not exists('breakers') then nowExists('breakers') end
  local counting = {}
  for _, ref in ipairs(refs) do
    counting[#counting + 1] = failFor(ref, lane, lane.tenant, startedAt) or nil
    counting[#counting + 1] = failFor(ref, lane, false, startedAt) or nil
  end
  for _, breaker in ipairs(counting) do
    if transitions.isOutage(breaker, startedAt) then return true end
  end
  return false
end

-- So many attempts in this lane succeeded that started then. For whoever knows that there are breakers: see exists(). More than
-- one at a time only if all of them are closed.
local function tellSuccess(lane, startedAt, count)
  for _, breaker in ipairs(breakersOn(lane)) do
    if isForgotten(breaker) then
      forgetBreaker(breaker)
    else
      changeBreaker(breaker, function() transitions.afterSuccess(breaker, lane.tenant, startedAt, count) end)
    end
  end
end

-- Open breakers whose time has come let probes through; closed ones without failures go. Answers when the next one opens its
-- gate; nil if none is open.
local function tellTime()
  local due = call('ZRANGE', key('opened'), '-inf', NOW, 'BYSCORE', 'LIMIT', 0, TURN_MAX)
  table.sort(due)
  for _, id in ipairs(due) do
    local breaker = breakerNamed(id)
    changeBreaker(breaker, function()
      breaker.state = { status = 'half_open', since = now, opens = breaker.state.opens, succeeded = 0 }
    end)
  end
  for _, id in ipairs(call('ZRANGE', key('fading'), '-inf', NOW, 'BYSCORE', 'LIMIT', 0, TURN_MAX)) do
    local breaker = breakerNamed(id)
    if isForgotten(breaker) then forgetBreaker(breaker) end
  end
  return tonumber(call('ZRANGE', key('opened'), '0', '0', 'WITHSCORES')[2])
end

local function flushBreakers()
  for id, breaker in pairs(breakers) do
    if breaker and breaker.changed and isForgotten(breaker) then
      forgetBreaker(breaker)
    elseif breaker and breaker.changed then
      call('HSET', key('breakers'), id, breakerText(breaker))
      if breaker.state.status == 'closed' then call('ZADD', key('fading'), int(fadesAt(breaker)), id) end
    end
  end
end
