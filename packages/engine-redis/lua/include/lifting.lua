-- Gates that many lanes must be told of: holds that begin or end, limits that are lifted. It is done in steps: what is under
-- way is noted, each step tells some lanes, and the note goes with the last. If whoever does it dies on the way, the next
-- sweep goes on.

local LIFT_MAX = 500
-- What one call looks at of all that is unfinished.
local UNFINISHED_MAX = 20

-- How many lanes this call has told already.
local told

atBegin(function()
  told = 0
end)

local function mayTellMore()
  return told < LIFT_MAX
end

-- Notes where to go on, or with nil that it is done. Answers whether it is.
local function proceed(what, goOnAt)
  if goOnAt then
    call('HSET', key('unfinished'), what, goOnAt)
    nowExists('unfinished')
  else
    call('HDEL', key('unfinished'), what)
  end
  return not goOnAt
end

local function scopeCovers(scopeName, lane)
  for _, name in ipairs(scopeNames(lane)) do
    if name == scopeName then return true end
  end
  return false
end

-- Layout 1 listed lanes by number, with the number as score; they are listed anew. Answers whether all are.
local function stockByAction()
  local old = call('ZRANGE', key('stocked'), '(0', '+inf', 'BYSCORE', 'LIMIT', 0, LIFT_MAX)
  told = told + #old
  for _, member in ipairs(old) do
    local lane = laneNumbered(tonumber(member))
    call('ZREM', key('stocked'), member)
    if lane.queued > 0 then call('ZADD', key('stocked'), '0', lane.action .. '\n' .. member) end
  end
  return #old < LIFT_MAX
end

-- Calls `visit` with the lanes of an action and tenant that have queued tasks, whatever their pool. Answers whether it could: an
-- old store has no list of pools.
local function eachOfTenant(action, tenant, visit)
  if call('EXISTS', key('pools')) == 0 then return false end
  for _, pool in ipairs(call('SMEMBERS', key('pools'))) do
    local number = findLane(pool, action, tenant)
    local lane = number and laneNumbered(number)
    if lane and lane.queued > 0 then visit(lane) end
  end
  return true
end

-- Calls `visit` with the next lanes of the scope that have queued tasks; the others look at the holds when they get one. The
-- lanes stand by action, so those of other actions are not touched if the scope names one. The cursor is '' at first. Answers
-- where to go on; nil when these were the last.
local function eachStocked(scopeName, cursor, visit)
  local pool, action, tenant = string.match(scopeName, '^(.*)\n(.*)\n(.*)$')
  if pool == '\r' and tenant ~= '' then
    if eachOfTenant(action, tenant, visit) then return nil end
  elseif pool ~= '' and action ~= '' and tenant ~= '' then
    local number = findLane(pool, action, tenant)
    local lane = number and laneNumbered(number)
    if lane and lane.queued > 0 then visit(lane) end
    return nil
  end
  if not stockByAction() then return cursor end
  local first, last = '-', '+'
  if action ~= '' then first, last = '[' .. action .. '\n', '(' .. action .. '\n~' end
  if string.find(cursor, '\n', 1, true) then first = '(' .. cursor end
  local page = call('ZRANGE', key('stocked'), first, last, 'BYLEX', 'LIMIT', 0, LIFT_MAX)
  told = told + #page
  for _, member in ipairs(page) do
    local lane = laneNumbered(tonumber(string.match(member, '%d+$')))
    if scopeCovers(scopeName, lane) then visit(lane) end
  end
  return #page == LIFT_MAX and page[#page] or nil
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

-- Lanes that no claim has found at a limit yet don't stand there; they too may have something when it changes.
local function stirStocked(scopeName)
  eachStocked(scopeName, '', function(lane)
    if lane.ready > 0 and not lane.heldSince then stir(lane) end
  end)
end

-- Nothing holds the lane any more.
local function letGo(lane)
  lane.heldMs = lane.heldMs + now - lane.heldSince
  lane.heldSince = false
  catchUp(lane)
  if lane.ready > 0 then stir(lane, lane.ready) end
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
    if lane.heldSince and not holdOn(lane) then letGo(lane) end
  end)
  return proceed('resume ' .. scopeName, goOnAt)
end

-- Lanes that stand at a limit become active again.
local function endLimit(scopeName)
  local what = 'limit ' .. scopeName
  local left = LIFT_MAX
  for _, place in ipairs(call('SMEMBERS', standingsKey(scopeName))) do
    local pool, action = string.match(place, '^(.*)\n(.*)$')
    local page = call('ZRANGE', standingKey(scopeName, pool, action), 0, left - 1)
    for _, member in ipairs(page) do
      local lane = laneNumbered(tonumber(member))
      if lane.atLimit == scopeName then lane.atLimit = false end
      if not lane.heldSince then stir(lane, lane.ready) end
    end
    told = told + #page
    if #page == left then return proceed(what, '') end
    left = left - #page
    call('SREM', standingsKey(scopeName), place)
  end
  return proceed(what, nil)
end

-- Sets a limit that is no operator's, or lifts it (nil), in the midst of anything else. It counts the attempts that started
-- since then; `countThem` tells how many run. flushLimits() alone writes that number: it compares with what is stored, and
-- attempts may end later in this call. Answers true when nothing is left to do.
local function setOwnLimit(name, concurrency, since, countThem)
  local before = anyLimits() and call('HGET', key('limits'), name)
  local text = concurrency and int(concurrency) .. ' since ' .. int(since) or false
  if before == text then return true end
  for _, lane in ipairs(laneList) do lane.limits = false end
  if not text then
    limits[name] = nil
    call('HDEL', key('limits'), name)
    call('HDEL', key('slots'), name)
    if mayTellMore() then return endLimit(name) end
    return proceed('limit ' .. name, '')
  end
  local limit = limitNamed(name, before or text)
  if not before or limit.since ~= since then
    limit.running = countThem()
    limit.since = since
  end
  limit.concurrency = concurrency
  call('HSET', key('limits'), name, text)
  nowExists('limits')
  if before then limit.freed = math.max(limit.freed, concurrency - limit.running) end
  return true
end

-- Breakers have one more: see gates.lua.
local STEPS = { pause = beginHold, resume = endHold, limit = endLimit }

-- Goes on with what was left unfinished, until so many lanes were told in this call. Answers whether anything is left: then
-- whoever claims should do so again at once.
local function continueLifting()
  local some = call('HRANDFIELD', key('unfinished'), UNFINISHED_MAX, 'WITHVALUES')
  for index = 1, #some, 2 do
    if not mayTellMore() then break end
    local kind, name = string.match(some[index], '^(%a+) (.*)$')
    STEPS[kind](name, some[index + 1])
  end
  return call('EXISTS', key('unfinished')) == 1
end
