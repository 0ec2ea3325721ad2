-- Who tells breakers of what: failures, successes and the time. What follows for lanes is in gates.lua.
-- 'opened' has the open breakers by when they let probes through, 'fading' the closed ones by when they are forgotten.

-- What one claim turns to half open, or forgets.
local TURN_MAX = 100
local ENTRY_TYPES, REASONS = BREAKER_ENTRY_TYPES, BREAKER_REASONS

local function noteClosed(breaker, actor, reason)
  note(ENTRY_TYPES.closed, nil, nil, actor, reason, '{"breaker":' .. cjson.encode(breaker.name) .. '}')
end

local function noteStatus(breaker)
  local state = breaker.state
  if state.status == 'closed' then return noteClosed(breaker, ACTORS.breaker, BREAKER_REASONS.closed) end
  local untilAt = state['until']
  note(ENTRY_TYPES[state.status], nil, nil, ACTORS.breaker, REASONS[state.status],
    '{"breaker":' .. cjson.encode(breaker.name) .. ',"opens":' .. int(state.opens) .. ',"until":'
    .. (untilAt and int(untilAt) or 'null') .. '}')
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
      call('ZADD', key('opened'), int(state['until']), breaker.name)
      call('ZREM', key('fading'), breaker.name)
    elseif before == 'open' then
      call('ZREM', key('opened'), breaker.name)
    end
  end
  if hasTurned or allowedBy(breaker) ~= boundBefore then
    setGates(breaker.actions)
  elseif joined and state.status ~= 'closed' then
    setGates({ joined })
  end
  if hasTurned then noteStatus(breaker) end
end

-- It does not exist any more. Answers whether every lane was told.
local function forgetBreaker(breaker)
  breakers[breaker.name] = false
  call('HDEL', key('breakers'), breaker.name)
  call('ZREM', key('opened'), breaker.name)
  call('ZREM', key('fading'), breaker.name)
  for _, action in ipairs(breaker.actions) do
    local kept = {}
    for _, name in ipairs(covering(action)) do
      if name ~= breaker.name then kept[#kept + 1] = name end
    end
    setCovering(action, kept)
  end
  return breaker.state.status == 'closed' or setGates(breaker.actions)
end

-- Answers whether it covers the action since just now.
local function cover(breaker, action)
  for _, known in ipairs(breaker.actions) do
    if known == action then return false end
  end
  breaker.actions[#breaker.actions + 1] = action
  local names = { breaker.name }
  for _, name in ipairs(covering(action)) do names[#names + 1] = name end
  table.sort(names)
  setCovering(action, names)
  return true
end

-- The breaker of this name; it begins anew if there is none, or a forgotten one.
local function breakerToFail(name)
  local breaker = breakerNamed(name)
  if breaker and isForgotten(breaker) then
    forgetBreaker(breaker)
    breaker = false
  end
  if not breaker then
    breaker = { name = name, actions = {}, state = { status = 'closed' }, buckets = {} }
    breakers[name] = breaker
  end
  return breaker
end

-- Whether a breaker of this name covers the action, or may.
local function mayCover(name, action)
  local names = covering(action)
  for _, known in ipairs(names) do
    if known == name then return true end
  end
  return #names < COVERING_MAX
end

-- An attempt failed that counts for these breakers, each with its settings, which hold from now on. Answers whether it is to
-- be parked.
local function tellFailure(refs, action, startedAt)
  if not exists('breakers') then nowExists('breakers') end
  local counting = {}
  for _, ref in ipairs(refs) do
    if mayCover(ref.name, action) then
      counting[#counting + 1] = ref
      changeBreaker(breakerToFail(ref.name), function(breaker)
        breaker.settingsText = ref.settings
        breaker.settings = decodeSettings(ref.settings)
        local hasJoined = cover(breaker, action)
        afterFailure(breaker, startedAt)
        return hasJoined and action
      end)
    end
  end
  for _, ref in ipairs(counting) do
    if isOutage(breakerNamed(ref.name), startedAt) then return true end
  end
  return false
end

-- For whoever knows that there are breakers: see exists().
local function tellSuccess(action, startedAt)
  for _, name in ipairs(covering(action)) do
    local breaker = breakerNamed(name)
    if isForgotten(breaker) then
      forgetBreaker(breaker)
    else
      changeBreaker(breaker, function() afterSuccess(breaker, startedAt) end)
    end
  end
end

-- Open breakers whose time has come let probes through; closed ones without failures go. Answers when the next one opens its
-- gate; nil if none is open.
local function tellTime()
  local due = call('ZRANGE', key('opened'), '-inf', NOW, 'BYSCORE', 'LIMIT', 0, TURN_MAX)
  table.sort(due)
  for _, name in ipairs(due) do
    local breaker = breakerNamed(name)
    changeBreaker(breaker, function()
      breaker.state = { status = 'half_open', since = now, opens = breaker.state.opens, succeeded = 0 }
    end)
  end
  for _, name in ipairs(call('ZRANGE', key('fading'), '-inf', NOW, 'BYSCORE', 'LIMIT', 0, TURN_MAX)) do
    local breaker = breakerNamed(name)
    if isForgotten(breaker) then forgetBreaker(breaker) end
  end
  return tonumber(call('ZRANGE', key('opened'), '0', '0', 'WITHSCORES')[2])
end

local function flushBreakers()
  for name, breaker in pairs(breakers) do
    if breaker and breaker.changed and isForgotten(breaker) then
      forgetBreaker(breaker)
    elseif breaker and breaker.changed then
      call('HSET', key('breakers'), name, breakerText(breaker))
      if breaker.state.status == 'closed' then call('ZADD', key('fading'), int(fadesAt(breaker)), name) end
    end
  end
end
