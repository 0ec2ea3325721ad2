-- How a claim takes entries: lane by lane in fair order, from lanes that nothing holds back.

local LOOK_MAX = 2000
local LANES_PER_PAGE = 100

-- Lanes of one (pool, action), in order of turn, that may give something: the active ones, or those that stand at a limit.
local function newGroup(pool, action, limit)
  local itsKey = limit and standingKey(limit.name, pool.name, action) or activeKey(pool.name, action)
  return { pool = pool, action = action, key = itsKey, limit = limit, offset = 0, live = 0, served = 0, done = false }
end

local function insertSorted(candidates, lane)
  local at = #candidates + 1
  while at > 1 do
    local before = candidates[at - 1]
    if before.distance < lane.distance or (before.distance == lane.distance and before.number < lane.number) then break end
    candidates[at] = before
    at = at - 1
  end
  candidates[at] = lane
end

-- Looks at lanes until so many of the group are candidates: as many as the claim may take are enough, those it has served
-- already among them. Of lanes that stand at a limit, no more than it has room for are served from now on.
local function refillGroup(group, candidates, wanted, look)
  if group.limit then wanted = math.min(wanted, group.served + group.limit.concurrency - group.limit.running) end
  while not group.done and group.live < wanted and look.left > 0 do
    local size = math.min(wanted - group.live, LANES_PER_PAGE)
    local page = call('ZRANGE', group.key, int(group.offset), int(group.offset + size - 1))
    group.offset = group.offset + #page
    group.done = #page < size
    for _, member in ipairs(page) do
      look.left = look.left - 1
      local lane = laneNumbered(tonumber(member))
      local hold = holdOn(lane)
      local full = fullLimit(lane)
      if hold then
        applyHold(lane, hold)
      elseif full then
        standAt(lane, full)
      else
        lane.group = group
        lane.distance = lane.turn - group.pool.atStart
        lane.sources = {}
        lane.takenOf = {}
        lane.taken = 0
        group.live = group.live + 1
        insertSorted(candidates, lane)
      end
    end
  end
end

local function serve(lane, count)
  local pool = lane.group.pool
  lane.group.served = lane.group.served + count
  pool.virtualTime = math.max(pool.virtualTime, lane.turn + count - 1)
  lane.turn = lane.turn + count
  lane.picks = lane.picks + count
  move(lane, 'queued', 'running', count)
  tally(lane, 'started', count)
end

-- A lane alone, with entries of one priority and nothing unusual about them, gives a whole page at once. Answers how many
-- it gave, up to the first entry that needs a closer look.
local function takePage(starter, lane, wanted)
  if lane.returned > 0 or lane.stale > 0 or #limitsOn(lane) > 0 or starter.stage ~= STAGE_LETTERS.run then return 0 end
  local priority = 0
  while lane[SLOTS[priority]] == 0 do priority = priority + 1 end
  if lane[SLOTS[priority]] ~= lane.ready then return 0 end
  local source = sourcesOf(lane, priority)[1]
  if source.head then return 0 end
  if source.at > #source.page then refillSource(source, math.min(wanted, lane.ready - lane.taken)) end
  local page, at, count = source.page, source.at, 0
  local claimed, claimedSize = starter.claimed, #starter.claimed
  local added, addedSize = starter.change.added, #starter.change.added
  local draw, number, suffix, tail = starter.draw, starter.count, '.' .. int(lane.number), starter.plainTail
  local leaseHead, lastTimeout, leaseTail = PLAIN .. STARTED, '', ''
  local lastHead, from = '', 0
  -- This is startPlain(), written out.
  while count < wanted do
    local entry = page[at]
    if not entry then break end
    local head = part(entry, 1, 2)
    if head ~= lastHead then
      if byteAt(head) ~= PLAIN_BYTE then break end
      lastHead, from = head, byteAt(head, 2) - LENGTH_ZERO + 3
    end
    local timeoutMs, id = part(entry, from, from + 11), part(entry, from + 12)
    if timeoutMs ~= lastTimeout then
      lastTimeout, leaseTail = timeoutMs, plainLeaseStart(starter, timeoutMs)
    end
    number = number + 1
    local token = draw .. NUMBERED[number] .. suffix
    local itsKey = TASK_PREFIX .. id
    local text = call('HGET', itsKey, 'task')
    call('HSET', itsKey, '1', RUNNING_HEAD .. token .. tail)
    added[addedSize + 1], added[addedSize + 2] = id, leaseHead .. token .. leaseTail
    addedSize = addedSize + 2
    claimed[claimedSize + 1], claimed[claimedSize + 2] = id, text
    claimedSize = claimedSize + 2
    at = at + 1
    count = count + 1
  end
  starter.count = number
  source.at = at
  source.consumed = source.consumed + count
  source.taken = source.taken + count
  lane.takenOf[priority] = (lane.takenOf[priority] or 0) + count
  lane.taken = lane.taken + count
  if count > 0 then serve(lane, count) end
  return count
end

local function groupsOf(request)
  local groups = {}
  local seen = {}
  for _, name in ipairs(request.pools) do
    if not seen[name] then
      seen[name] = true
      local pool = poolNamed(name)
      pool.atStart = pool.virtualTime
      for _, action in ipairs(request.actions or call('SMEMBERS', key('actions:' .. name))) do
        groups[#groups + 1] = newGroup(pool, action)
        for _, limit in ipairs(openLimits(name, action)) do groups[#groups + 1] = newGroup(pool, action, limit) end
      end
    end
  end
  return groups
end

-- A claim that stopped before it had looked at everything leaves a sign, so that its worker does not wait but asks again.
local function stirUnseen(groups)
  for _, group in ipairs(groups) do
    if not group.done then stir({ pool = group.pool.name, action = group.action }) end
  end
end

-- Takes up to `limit` entries. Answers what started them, which may be given, nil if nothing was taken. The second answer is
-- when the first of those that were left to other workers may be had by anybody.
local function takeEntries(request, limit, claimed, starter)
  local candidates = {}
  local look = { left = LOOK_MAX }
  local groups = groupsOf(request)
  for _, group in ipairs(groups) do refillGroup(group, candidates, limit, look) end
  if #candidates == 0 then
    if look.left <= 0 then stirUnseen(groups) end
    return nil
  end
  starter = starter or newStarter(request, claimed)
  local taken, retired = 0, 0
  local function drop(lane)
    table.remove(candidates, 1)
    lane.group.live = lane.group.live - 1
    refillGroup(lane.group, candidates, limit, look)
  end
  while taken < limit and retired < RETIRE_MAX do
    local lane = candidates[1]
    if not lane then break end
    local paged = #candidates == 1 and lane.ready > lane.taken and takePage(starter, lane, limit - taken) or 0
    taken = taken + paged
    if paged == 0 then
      local full = fullLimit(lane)
      local head
      if not full and lane.ready > lane.taken then head = nextEntry(lane, math.ceil((limit - taken) / #candidates)) end
      if not head then
        if full then standAt(lane, full) end
        drop(lane)
      else
        local source = head.source
        pass(source)
        source.taken = source.taken + 1
        lane.takenOf[source.priority] = (lane.takenOf[source.priority] or 0) + 1
        lane.taken = lane.taken + 1
        if isOverdue(head, lane) then
          retire(head)
          retired = retired + 1
        else
          taken = taken + 1
          startEntry(starter, lane, head)
          takeSlot(lane)
          serve(lane, 1)
          lane.distance = lane.distance + 1
          table.remove(candidates, 1)
          insertSorted(candidates, lane)
        end
      end
    end
  end
  if look.left <= 0 then stirUnseen(groups) end
  if retired >= RETIRE_MAX and candidates[1] then stir(candidates[1]) end
  for _, lane in ipairs(laneList) do
    for _, sources in pairs(lane.sources or {}) do
      for _, source in ipairs(sources) do closeSource(source) end
    end
    lane.sources = nil
  end
  return taken > 0 and starter or nil, returnPassed()
end
