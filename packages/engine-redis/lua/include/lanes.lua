-- Lanes: loaded once per script, changed in memory, written back by flushLanes(). A lane that has ready entries and is not
-- held stands in one zset, scored by its turn: that of the active lanes of its (pool, action), or that of the lanes that
-- stand at a limit there which had no room (see limits.lua). Any other lane stands in none, and at no limit.

-- A lane's hash has its names, the limit it stands at (field 'parked', '' if none), the bytes of its payloads, and its numbers (LANE), packed into one field.
local FRESH_NUMBERS = {}
for index = 1, #LANE do FRESH_NUMBERS[index] = 0 end
FRESH_NUMBERS[LANE.heldSince] = -1

-- Where a lane counts its ready entries of a priority.
local SLOTS, COUNTED = {}, PRIORITY_COUNTS
for index = 1, #COUNTED do SLOTS[index - 1] = COUNTED[index] end

-- In the order of LANE; not to be changed.
local function laneNumbers(text)
  return text and cmsgpack.unpack(text) or FRESH_NUMBERS
end

local lanes, laneList, pools, backlogChange

atBegin(function()
  lanes, laneList, pools, backlogChange = {}, {}, {}, 0
end)

local function activeKey(pool, action)
  return key('active:' .. pool .. '\n' .. action)
end

-- The lanes of a (pool, action) that stand at the limit of this name.
local function standingKey(limitName, pool, action)
  return key('parked:' .. limitName .. '\n' .. pool .. '\n' .. action)
end

-- Where lanes may stand at a limit: '<pool>\n<action>' each.
local function standingsKey(limitName)
  return key('parkings:' .. limitName)
end

-- What may have become claimable, by pool and action: work for so many. flushWake() tells those who wait.
local stirred

atBegin(function()
  stirred = {}
end)

local function stir(lane, count)
  local actions = stirred[lane.pool]
  if not actions then
    actions = {}
    stirred[lane.pool] = actions
  end
  actions[lane.action] = (actions[lane.action] or 0) + (count or 1)
end

local function laneMember(number)
  return string.format('%010d', number)
end

local function poolNamed(name)
  local pool = pools[name]
  if not pool then
    local values = call('HMGET', key('pool:' .. name), 'virtualTime', 'version', 'promotedAt')
    local virtualTime = tonumber(values[1]) or 0
    pool = { name = name, virtualTime = virtualTime, was = virtualTime, version = values[2] or '0', promotedAt = tonumber(values[3]) }
    pools[name] = pool
  end
  return pool
end

local function keepLane(number, lane)
  lane.number = number
  lane.tally = {}
  lane.listedTurn = lane.ready > 0 and not lane.heldSince and lane.turn
  lane.listedAt = lane.atLimit
  lanes[number] = lane
  laneList[#laneList + 1] = lane
  return lane
end

local function laneNumbered(number)
  local known = lanes[number]
  if known then return known end
  local texts = call('HMGET', key('lane:' .. int(number)), 'pool', 'action', 'tenant', 'parked', 'numbers')
  local was = laneNumbers(texts[5])
  local atLimit = texts[4] ~= '' and texts[4]
  -- Written out, so that Lua makes the table in its full size at once.
  local lane = {
    pool = texts[1], action = texts[2], tenant = texts[3], atLimit = atLimit, wasAtLimit = atLimit,
    LANE.fields(was), was = was, number = false, tally = false, listedTurn = false, listedAt = false, limits = false, succeeding = false,
    bytesAdded = 0, group = false, distance = false, sources = false, takenOf = false, taken = false,
  }
  if lane.heldSince == -1 then lane.heldSince = false end
  return keepLane(number, lane)
end

-- The name of the hold and of the limit that breakers have on an action: those of a tenant, or ('') of all. It reads like that of
-- a scope; no pool is named so.
local function gateName(action, tenant)
  return '\r\n' .. action .. '\n' .. tenant
end

-- Every scope that covers a lane, by name. A scope is named by its three parts; what it does not give is empty. What
-- breakers have there comes last.
local function scopeNames(lane)
  local names = {}
  for _, pool in ipairs({ '', lane.pool }) do
    for _, action in ipairs({ '', lane.action }) do
      for _, tenant in ipairs({ '', lane.tenant }) do
        names[#names + 1] = pool .. '\n' .. action .. '\n' .. tenant
      end
    end
  end
  names[#names + 1] = gateName(lane.action, '')
  names[#names + 1] = gateName(lane.action, lane.tenant)
  return names
end

local function anyHolds()
  return exists('holds')
end

-- The hold that covers a lane, as stored; false if there is none.
local function holdOn(lane)
  if not anyHolds() then return false end
  for _, hold in ipairs(call('HMGET', key('holds'), unpack(scopeNames(lane)))) do
    if hold then return hold end
  end
  return false
end

-- A hold begins with the time since when it holds.
local function applyHold(lane, hold)
  lane.heldSince = tonumber(string.match(hold, '^%d+'))
end

-- The number of the lane of this name; false if there is none.
local function findLane(pool, action, tenant)
  return tonumber(call('HGET', key('lanes'), pool .. '\n' .. action .. '\n' .. tenant))
end

local function laneNamed(pool, action, tenant)
  local number = findLane(pool, action, tenant)
  if number then return laneNumbered(number) end
  number = call('HINCRBY', NUMBERS, 'lanes', 1)
  call('HSET', key('lanes'), pool .. '\n' .. action .. '\n' .. tenant, number)
  call('HSET', key('lane:' .. number), 'pool', pool, 'action', action, 'tenant', tenant)
  call('SADD', key('actions:' .. pool), action)
  -- A store of an earlier version has no such list, and never gets half of one.
  if number == 1 or call('EXISTS', key('pools')) == 1 then call('SADD', key('pools'), pool) end
  return laneNumbered(number)
end

-- Stands still while the lane is held.
local function laneTime(lane)
  return (lane.heldSince or now) - lane.heldMs
end

-- A moment of lane time on the store's clock, as things stand now.
local function wallTime(lane, moment)
  return moment + now - laneTime(lane)
end

-- An absence earns no credit.
local function catchUp(lane)
  lane.turn = math.max(lane.turn, poolNamed(lane.pool).virtualTime)
end

local function tally(lane, kind, count)
  lane.tally[kind] = (lane.tally[kind] or 0) + (count or 1)
end

-- A lane without queued tasks is not told of holds: it looks at them when it gets its next entry.
local function restock(lane)
  if lane.queued > 0 then return end
  local hold = holdOn(lane)
  if hold and not lane.heldSince then
    lane.heldSince = now
  elseif not hold and lane.heldSince then
    lane.heldMs = lane.heldMs + now - lane.heldSince
    lane.heldSince = false
  end
end

-- A task of the lane goes from one status to another; nil stands for not being there.
local function move(lane, from, to, count)
  count = count or 1
  if from then
    lane[from] = lane[from] - count
    if from == 'queued' or from == 'waiting' then backlogChange = backlogChange - count end
  end
  if to then
    lane[to] = lane[to] + count
    if to == 'queued' or to == 'waiting' then backlogChange = backlogChange + count end
  end
end

local function listKey(lane, limitName)
  if limitName then return standingKey(limitName, lane.pool, lane.action) end
  return activeKey(lane.pool, lane.action)
end

-- Brings the zset that the lane stands in up to date with what was changed in memory.
local function flushActive(lane)
  local turn = lane.ready > 0 and not lane.heldSince and lane.turn
  if not turn then lane.atLimit = false end
  local hasMoved = lane.atLimit ~= lane.listedAt
  if lane.listedTurn == turn and not hasMoved then return end
  if lane.listedTurn and (not turn or hasMoved) then
    call('ZREM', listKey(lane, lane.listedAt), laneMember(lane.number))
  end
  if turn then
    call('ZADD', listKey(lane, lane.atLimit), int(turn), laneMember(lane.number))
    if lane.atLimit and hasMoved then call('SADD', standingsKey(lane.atLimit), lane.pool .. '\n' .. lane.action) end
  end
  lane.listedTurn = turn
  lane.listedAt = lane.atLimit
end

local function flushLane(lane)
  flushActive(lane)
  local was = lane.was
  local numbers = { LANE.values(lane) }
  numbers[LANE.heldSince] = lane.heldSince or -1
  for index = 1, #LANE do
    if numbers[index] ~= was[index] then
      call('HSET', key('lane:' .. int(lane.number)), 'numbers', cmsgpack.pack(numbers))
      break
    end
  end
  if lane.bytesAdded ~= 0 then call('HINCRBY', key('lane:' .. int(lane.number)), 'bytes', int(lane.bytesAdded)) end
  if lane.atLimit ~= lane.wasAtLimit then call('HSET', key('lane:' .. int(lane.number)), 'parked', lane.atLimit or '') end
  local member = laneMember(lane.number)
  if (lane.queued > 0) ~= (was[LANE.queued] > 0) then
    local place = lane.action .. '\n' .. member
    if lane.queued > 0 then call('ZADD', key('stocked'), '0', place) else call('ZREM', key('stocked'), place) end
  end
  if (lane.running > 0) ~= (was[LANE.running] > 0) then
    if lane.running > 0 then call('SADD', key('busy'), member) else call('SREM', key('busy'), member) end
  end
  for kind, count in pairs(lane.tally) do
    local series = key('series:' .. int(MINUTE))
    if call('HINCRBY', series, int(lane.number) .. ':' .. kind, int(count)) == count then
      call('ZADD', key('minutes'), int(MINUTE), int(MINUTE))
    end
  end
end

local function flushLanes()
  for _, lane in ipairs(laneList) do flushLane(lane) end
  for name, pool in pairs(pools) do
    if pool.virtualTime ~= pool.was then call('HSET', key('pool:' .. name), 'virtualTime', int(pool.virtualTime)) end
    if pool.hasPromoted then call('HSET', key('pool:' .. name), 'promotedAt', int(pool.promotedAt)) end
  end
  if backlogChange ~= 0 then call('HINCRBY', NUMBERS, 'backlog', int(backlogChange)) end
end
