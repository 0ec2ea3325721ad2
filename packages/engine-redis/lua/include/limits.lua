-- Limits: how many tasks may run at once in all lanes of a scope. A claim that finds a lane at a full limit lets it stand there, so
-- that later claims need not pass over it. What happens when the limit has room again depends on its scope. One without a
-- tenant covers any number of lanes of a (pool, action), but only four such limits cover a (pool, action): its lanes stay
-- there, and claims take from them as from active ones while there is room. One with a tenant covers one lane of each
-- (pool, action), but there may be any number of such limits: its lanes become active again at once.
-- In a store with several partitions a limit is shared: what a partition has of it is its share, '<number> shared', which
-- share.lua changes. Whoever wants slots that another partition uses leaves word there: see stirWanted().
-- The limit of breakers, '<number> since <time>', counts only attempts that started then or later: see gates.lua.

local limits, freedLanes

atBegin(function()
  limits, freedLanes = {}, {}
end)

local function anyLimits()
  return exists('limits')
end

-- The limit of this name, as loaded before or else from its text.
local function limitNamed(name, text)
  local limit = limits[name]
  if not limit then
    local running = tonumber(call('HGET', key('slots'), name)) or 0
    local number, kind, since = tonumber(text), nil, nil
    if not number then number, kind, since = string.match(text, '^(%d+) (%a+) ?(%d*)$') end
    limit = {
      name = name, concurrency = tonumber(number), shared = kind == 'shared', since = kind == 'since' and tonumber(since),
      running = running, was = running, freed = 0, back = {},
    }
    limits[name] = limit
  end
  return limit
end

local function limitsNamed(names)
  local found = {}
  for index, concurrency in ipairs(call('HMGET', key('limits'), unpack(names))) do
    if concurrency then found[#found + 1] = limitNamed(names[index], concurrency) end
  end
  return found
end

-- The limits that cover a lane, by scope.
local function limitsOn(lane)
  if not lane.limits then lane.limits = anyLimits() and limitsNamed(scopeNames(lane)) or {} end
  return lane.limits
end

-- The first limit that has no room for one more task of the lane; nil if all have.
local function fullLimit(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if limit.running >= limit.concurrency then return limit end
  end
  return nil
end

-- The limits without a tenant that cover a (pool, action) and have room: lanes that stand at them may be served.
local function openLimits(pool, action)
  local open = {}
  if not anyLimits() then return open end
  local names = { '\n\n', '\n' .. action .. '\n', pool .. '\n\n', pool .. '\n' .. action .. '\n', gateName(action, '') }
  for _, limit in ipairs(limitsNamed(names)) do
    if limit.running < limit.concurrency then open[#open + 1] = limit end
  end
  return open
end

local function standAt(lane, limit)
  lane.atLimit = limit.name
  if limit.shared then call('SADD', key('blocked'), limit.name) end
end

-- Whether an attempt that started then has a slot of the limit.
local function isCounted(limit, startedAt)
  return not limit.since or startedAt >= limit.since
end

local function takeSlot(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if isCounted(limit, now) then limit.running = limit.running + 1 end
  end
end

-- An attempt of the lane that started before begins again now: it takes the slots that it did not have.
local function retakeSlot(lane, startedAt)
  for _, limit in ipairs(limitsOn(lane)) do
    if not isCounted(limit, startedAt) and isCounted(limit, now) then limit.running = limit.running + 1 end
  end
end

-- An attempt of the lane that started then ends.
local function freeSlot(lane, startedAt)
  local itsLimits = limitsOn(lane)
  if #itsLimits == 0 then return end
  freedLanes[lane] = (freedLanes[lane] or 0) + 1
  for _, limit in ipairs(itsLimits) do
    if isCounted(limit, startedAt) then
      limit.running = limit.running - 1
      limit.freed = limit.freed + 1
    end
  end
end

-- Calls `visit` with pool, action and key of every zset that holds lanes which stand at a limit; forgets those that are gone.
local function eachStanding(name, visit)
  for _, place in ipairs(call('SMEMBERS', standingsKey(name))) do
    local pool, action = string.match(place, '^(.*)\n(.*)$')
    local itsKey = standingKey(name, pool, action)
    if call('EXISTS', itsKey) == 1 then visit(pool, action, itsKey) else call('SREM', standingsKey(name), place) end
  end
end

local function isOfTenant(name)
  return string.sub(name, -1) ~= '\n'
end

-- Makes the lanes active again that stand at tenants' limits with freed slots. Before a claim, and before lanes are
-- flushed.
local function activateFreed()
  for name, limit in pairs(limits) do
    if limit.freed > 0 and limit.running < limit.concurrency and isOfTenant(name) then
      eachStanding(name, function(_, _, itsKey)
        for _, member in ipairs(call('ZRANGE', itsKey, 0, -1)) do
          local lane = laneNumbered(tonumber(member))
          if lane.atLimit == name then
            lane.atLimit = false
            limit.back[#limit.back + 1] = lane
          end
        end
      end)
    end
  end
end

-- Slots that were freed, and not taken again, are work for so many in the lanes that stood at the limit.
local function stirFreed(limit)
  local count = math.min(limit.freed, limit.concurrency - limit.running)
  if count <= 0 then return end
  for _, lane in ipairs(limit.back) do
    if lane.ready > 0 and not lane.atLimit then stir(lane, math.min(count, lane.ready)) end
  end
  if not isOfTenant(limit.name) then
    eachStanding(limit.name, function(pool, action) stir({ pool = pool, action = action }, count) end)
  end
end

-- Slots of a shared limit were freed here: claims of lanes in other partitions that stand at it may get them.
local function stirWanted(limit)
  local wanted = key('wanted:' .. limit.name)
  for _, place in ipairs(call('SMEMBERS', wanted)) do
    local pool, action = string.match(place, '^(.*)\n(.*)$')
    stir({ pool = pool, action = action }, limit.was - limit.running)
  end
  call('DEL', wanted)
end

-- A slot that was freed and is not taken here again: lanes of the same name in other partitions may use it.
local function hasSharedRoom(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if limit.shared and limit.running < limit.was then return true end
  end
  return false
end

local function flushLimits()
  activateFreed()
  for name, limit in pairs(limits) do
    stirFreed(limit)
    if limit.shared and limit.running < limit.was then stirWanted(limit) end
    if limit.running ~= limit.was then call('HSET', key('slots'), name, int(limit.running)) end
  end
  for lane, count in pairs(freedLanes) do
    if lane.ready > 0 and not lane.atLimit and not fullLimit(lane) then
      stir(lane, math.min(count, lane.ready))
    elseif hasSharedRoom(lane) then
      stir(lane)
    end
  end
end
