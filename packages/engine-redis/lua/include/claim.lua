-- The claim: promotes what is due, then takes entries lane by lane in fair order, each under a lease.
-- It is given: worker, its JSON, epoch, limit, leaseMs, thresholds (JSON), request id, number of pools, pools, number of
-- actions (-1 for any), actions. It answers { time, due or '', held back or '', versions of the pools, then per task:
-- id, token, its text, its state or '' }. A repetition of the last claim (same request id) answers with the same leases.

local PROMOTE_MAX = 1000
local RETIRE_MAX = 1000
local LOOK_MAX = 2000
local PICKS_PER_OLDEST = 8
local PAGE_MAX = 100

local function parseClaim(at)
  local request = {
    worker = ARGV[at], workerJson = ARGV[at + 1], epoch = ARGV[at + 2], limit = tonumber(ARGV[at + 3]),
    leaseMs = tonumber(ARGV[at + 4]), thresholds = ARGV[at + 5], id = ARGV[at + 6], pools = {}, actions = false,
  }
  at = at + 7
  for index = 1, tonumber(ARGV[at]) do request.pools[index] = ARGV[at + index] end
  at = at + tonumber(ARGV[at]) + 1
  local actionCount = tonumber(ARGV[at])
  if actionCount >= 0 then
    request.actions = {}
    for index = 1, actionCount do request.actions[index] = ARGV[at + index] end
  end
  return request
end

-- Answers when the first of what still waits in the asked pools is due.
local function promoteDue(request)
  local due = {}
  local seen = {}
  for _, pool in ipairs(request.pools) do
    local first = call('ZRANGE', key('waiting:' .. pool), 0, 0, 'WITHSCORES')
    if #first > 0 and not seen[pool] and tonumber(first[2]) <= now then
      seen[pool] = true
      local page = call('ZRANGE', key('waiting:' .. pool), '-inf', int(now), 'BYSCORE', 'LIMIT', 0, PROMOTE_MAX, 'WITHSCORES')
      for index = 1, #page, 2 do due[#due + 1] = { member = page[index], at = tonumber(page[index + 1]), pool = pool } end
    end
  end
  if #due > 1 then
    table.sort(due, function(a, b) return a.at < b.at or (a.at == b.at and a.member < b.member) end)
  end
  for index = 1, math.min(#due, PROMOTE_MAX) do
    local item = due[index]
    call('ZREM', key('waiting:' .. item.pool), item.member)
    local task = loadTask(string.sub(item.member, 17))
    move(task.lane, 'waiting', nil)
    enqueue(task, false)
    stir(task.lane)
  end
  local nextDue
  for _, pool in ipairs(request.pools) do
    local at = tonumber(call('ZRANGE', key('waiting:' .. pool), 0, 0, 'WITHSCORES')[2])
    if at and (not nextDue or at < nextDue) then nextDue = at end
  end
  return nextDue
end

-- A source of entries in order of rank: read ahead page by page; what was consumed is removed by closeSource().
local function newSource(lane, priority, kind)
  return { lane = lane, priority = priority, kind = kind, page = {}, at = 1, consumed = 0, taken = 0, done = false }
end

local function refillSource(source, wanted)
  local from = source.consumed
  local to = from + math.max(math.min(wanted, PAGE_MAX), 1) - 1
  if source.kind == 'list' then
    source.page = call('LRANGE', queueKey(source.lane, source.priority), from, to)
  else
    source.page = call('ZRANGE', returnedKey(source.lane, source.priority), from, to)
  end
  source.at = 1
  source.done = #source.page == 0
end

local function pass(source)
  source.head = nil
  source.at = source.at + 1
  source.consumed = source.consumed + 1
end

-- Reads the state of an entry's task where it has one, or where the entry may be stale. False if it is stale.
local function checkHead(head, lane)
  if head.kind == 'p' and lane.stale == 0 then return true end
  local values = call('HMGET', taskKey(head.id), 'task', 'state')
  local state = values[2] and cjson.decode(values[2])
  head.text = values[1]
  head.state = state
  if state then
    local isHere = not state.returned == (head.source.kind == 'list')
    if state.status == 'queued' and state.rank == head.rank and isHere and not state.retired then return true end
  elseif values[1] and tonumber(string.match(values[1], '^{"seq":(%d+)')) == head.rank then
    -- A plain task's rank is its seq; with another one the entry is of a removed task whose id was used again.
    return true
  end
  if lane.stale > 0 then lane.stale = lane.stale - 1 end
  return false
end

-- The first entry of a source that is not stale; nil if there is none.
local function headOf(source, wanted)
  if source.head then return source.head end
  while not source.done do
    if source.at > #source.page then refillSource(source, wanted) end
    local entry = source.page[source.at]
    if not entry then return nil end
    local rank, timeoutMs, expires, deadlineAt, kind, id = string.match(entry, ENTRY_PATTERN)
    local head = {
      rank = tonumber(rank), timeoutMs = timeoutMs, expires = tonumber(expires), deadlineAt = tonumber(deadlineAt),
      kind = kind, id = id, source = source,
    }
    if checkHead(head, source.lane) then
      source.head = head
      return head
    end
    pass(source)
  end
  return nil
end

local function closeSource(source)
  local lane = source.lane
  if source.consumed == 0 then return end
  if source.kind == 'list' then
    call('LTRIM', queueKey(lane, source.priority), source.consumed, -1)
  else
    lane.returned = lane.returned - call('ZREMRANGEBYRANK', returnedKey(lane, source.priority), 0, source.consumed - 1)
  end
  if source.taken > 0 then unready(lane, source.priority, source.taken) end
end

local function earlier(a, b)
  if not a or not b then return a or b end
  return a.rank < b.rank and a or b
end

local function sourcesOf(lane, priority)
  local sources = lane.sources[priority]
  if not sources then
    sources = { newSource(lane, priority, 'list') }
    if lane.returned > 0 then sources[2] = newSource(lane, priority, 'zset') end
    lane.sources[priority] = sources
  end
  return sources
end

-- The lane's first entry of one priority.
local function firstOf(lane, priority, wanted)
  local sources = sourcesOf(lane, priority)
  local head = headOf(sources[1], wanted)
  if sources[2] then head = earlier(head, headOf(sources[2], wanted)) end
  return head
end

-- How many entries of a priority this claim has not taken yet.
local function left(lane, priority)
  return lane['p' .. priority] - (lane.takenOf[priority] or 0)
end

-- The highest priority first, then the order of entry; now and then the oldest of all, so that nothing starves.
local function nextEntry(lane, wanted)
  local takesOldest = lane.picks % PICKS_PER_OLDEST == PICKS_PER_OLDEST - 1
  local oldest
  for priority = 9, 0, -1 do
    local count = left(lane, priority)
    if count > 0 then
      local head = firstOf(lane, priority, math.min(wanted, count))
      if head and not takesOldest then return head end
      oldest = earlier(oldest, head)
      if count == lane.ready - lane.taken then break end
    end
  end
  return oldest
end

-- Lanes of one (pool, action), in order of turn, that may give something: the active ones, or those parked at a limit.
local function newGroup(pool, action, limit)
  local itsKey = limit and parkedKey(limit.name, pool.name, action) or activeKey(pool.name, action)
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
-- already among them. Of lanes parked at a limit, no more than it has room for are served from now on.
local function refillGroup(group, candidates, wanted, look)
  if group.limit then wanted = math.min(wanted, group.served + group.limit.concurrency - group.limit.running) end
  while not group.done and group.live < wanted and look.left > 0 do
    local size = math.min(wanted - group.live, PAGE_MAX)
    local page = call('ZRANGE', group.key, group.offset, group.offset + size - 1)
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
        park(lane, full)
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

-- What a claim needs again and again while it starts attempts.
local function newStarter(request, claimed)
  return {
    request = request, claimed = claimed, change = leaseChange(request.worker), draw = int(draw(1)), starts = {},
    plainTail = '","worker":' .. request.workerJson .. ',"dispatchedAt":' .. NOW .. RUNNING_TAIL,
  }
end

local function plainLeaseStart(starter, timeoutMs)
  local start = starter.starts[timeoutMs]
  if not start then
    local untilAt
    start, untilAt = leaseStart(tonumber(timeoutMs), starter.request.leaseMs, 'p', '1')
    startsAt(starter.change, untilAt)
    starter.starts[timeoutMs] = start
  end
  return start
end

local function started(starter, id, token, text, state)
  local claimed = starter.claimed
  local size = starter.size or #claimed
  starter.size = size + 4
  claimed[size + 1] = id
  claimed[size + 2] = token
  claimed[size + 3] = text
  claimed[size + 4] = state
end

-- The first attempt of a plain task: the short way that nearly all go.
local function startPlain(starter, laneSuffix, rank, id, timeoutMs)
  local token = starter.draw .. '-' .. rank .. laneSuffix
  local itsKey = taskKey(id)
  local record = '{"status":"running","attempt":1,"token":"' .. token .. starter.plainTail
  local text = call('HGET', itsKey, 'task')
  call('HSET', itsKey, '1', record)
  addLease(starter.change, id, token, plainLeaseStart(starter, timeoutMs))
  started(starter, id, token, text, '')
end

local function startEntry(starter, lane, head)
  local id = head.id
  if head.expires or head.deadlineAt then forgetTimes(lane, id, head.expires, head.deadlineAt) end
  local rank = int(head.rank)
  if not head.state then return startPlain(starter, '.' .. int(lane.number), rank, id, head.timeoutMs) end
  local token = starter.draw .. '-' .. rank .. '.' .. int(lane.number)
  local state = nextState(head.state, 'running')
  state.attempt = state.attempt + 1
  local attempt = int(state.attempt)
  local newState = stateText(state)
  local record = runningRecord(attempt, token, starter.request.workerJson, recordExtra(state.generation, state.retryReason))
  call('HSET', taskKey(id), attempt, record, 'state', newState)
  local start, untilAt = leaseStart(tonumber(head.timeoutMs), starter.request.leaseMs, 's', attempt)
  startsAt(starter.change, untilAt)
  addLease(starter.change, id, token, start)
  started(starter, id, token, head.text, newState)
end

-- Past its time: it can't be claimed any more, and waits for the sweep.
local function retire(head)
  local state = head.state or loadTask(head.id).state
  state.retired = true
  call('HSET', taskKey(head.id), 'state', stateText(state))
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
  if lane.returned > 0 or lane.stale > 0 or #limitsOn(lane) > 0 then return 0 end
  local priority = 0
  while lane['p' .. priority] == 0 do priority = priority + 1 end
  if lane['p' .. priority] ~= lane.ready then return 0 end
  local source = sourcesOf(lane, priority)[1]
  if source.head then return 0 end
  if source.at > #source.page then refillSource(source, math.min(wanted, lane.ready - lane.taken)) end
  local suffix = '.' .. int(lane.number)
  local page = source.page
  local at = source.at
  local count = 0
  while count < wanted do
    local rank, timeoutMs, id = string.match(page[at] or '', PLAIN_ENTRY_PATTERN)
    if not id then break end
    startPlain(starter, suffix, rank, id, timeoutMs)
    at = at + 1
    count = count + 1
  end
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

-- Takes up to `limit` entries. Answers what started them, nil if there was nothing to take.
local function takeEntries(request, limit, claimed)
  local candidates = {}
  local look = { left = LOOK_MAX }
  local groups = groupsOf(request)
  for _, group in ipairs(groups) do refillGroup(group, candidates, limit, look) end
  if #candidates == 0 then
    if look.left <= 0 then stirUnseen(groups) end
    return nil
  end
  local starter = newStarter(request, claimed)
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
        if full then park(lane, full) end
        drop(lane)
      else
        local source = head.source
        pass(source)
        source.taken = source.taken + 1
        lane.takenOf[source.priority] = (lane.takenOf[source.priority] or 0) + 1
        lane.taken = lane.taken + 1
        if (head.deadlineAt and now >= head.deadlineAt) or (head.expires and laneTime(lane) >= head.expires) then
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
  return taken > 0 and starter or nil
end

-- The leases a worker got by the claim whose answer was lost.
local function claimedBefore(request, drawn, claimed)
  local leases = call('HGETALL', leasesKey(request.worker))
  for index = 1, #leases, 2 do
    local id = leases[index]
    local token = parseLease(leases[index + 1]).token
    if string.match(token, '^%d+') == drawn then
      local values = call('HMGET', taskKey(id), 'task', 'state')
      started({ claimed = claimed }, id, token, values[1], values[2] or '')
    end
  end
end

-- Answers the claim, or nil and why it is refused.
local function claim(request)
  local worker = loadWorker(request.worker)
  if not worker then return nil, 'unknown' end
  if worker.epoch ~= request.epoch then return nil, 'fenced' end
  local limits = cjson.decode(request.thresholds)
  local health = claimHealth(worker, limits)
  local limit = request.limit
  if health == 'unhealthy' then limit = 0 elseif health == 'degraded' then limit = math.min(limit, limits.degradedClaimMax) end
  local nextDue = promoteDue(request)
  local versions = {}
  for index, pool in ipairs(request.pools) do versions[index] = poolNamed(pool).version end
  local claimed = {
    int(now), nextDue and int(nextDue) or '', health ~= 'healthy' and health or '', table.concat(versions, ' '),
  }
  local requestId, drawn = string.match(worker.claim or '', '^(%S+) (%d+)$')
  if requestId == request.id then
    claimedBefore(request, drawn, claimed)
    return claimed
  end
  if limit > 0 then
    for _, lane in ipairs(laneList) do flushActive(lane) end
    local starter = takeEntries(request, limit, claimed)
    if starter then
      call('HSET', key('worker:' .. request.worker), 'lastBeatAt', NOW,
        'claim', request.id .. ' ' .. starter.draw)
    end
  end
  return claimed
end
