-- What a claim takes from a lane: its entries in order of rank, from the list and the zset of each priority, without those
-- that are stale. Entries are read ahead; what was consumed is removed at the end.

local PAGE_MAX = 100

-- A source of entries in order of rank: read ahead page by page; what was consumed is removed by closeSource().
local function newSource(lane, priority, kind)
  return { lane = lane, priority = priority, kind = kind, page = {}, at = 1, consumed = 0, taken = 0, done = false }
end

local function refillSource(source, wanted)
  local from = source.consumed
  local to = from + math.max(math.min(wanted, PAGE_MAX), 1) - 1
  if source.kind == 'list' then
    source.page = call('LRANGE', queueKey(source.lane, source.priority), int(from), int(to))
  else
    source.page = call('ZRANGE', returnedKey(source.lane, source.priority), int(from), int(to))
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
  if head.kind == PLAIN and lane.stale == 0 then return true end
  local values = call('HMGET', taskKey(head.id), 'task', 'state')
  local state = values[2] and cjson.decode(values[2])
  head.text = values[1]
  head.state = state
  if state then
    local isHere = not state.returned == (head.source.kind == 'list')
    if state.status == 'queued' and state.rank == head.rank and isHere and not state.retired then return true end
  elseif values[1] and tonumber((string.match(values[1], HEAD_PATTERN))) == head.rank then
    -- A plain task's rank is its seq; with another one the entry is of a removed task whose id was used again.
    return true
  end
  if lane.stale > 0 then lane.stale = lane.stale - 1 end
  return false
end

local function isOverdue(head, lane)
  return (head.deadlineAt and now >= head.deadlineAt) or (head.expires and laneTime(lane) >= head.expires)
end

-- The first entry of a source that is not stale, and not to be avoided; nil if there is none.
local function headOf(source, wanted)
  if source.head then return source.head end
  while not source.done do
    if source.at > #source.page then refillSource(source, wanted) end
    local entry = source.page[source.at]
    if not entry then return nil end
    local rank, timeoutMs, expires, deadlineAt, kind, id = parseEntry(entry)
    local head = {
      rank = tonumber(rank), timeoutMs = timeoutMs, expires = tonumber(expires), deadlineAt = tonumber(deadlineAt),
      kind = kind, id = id, source = source,
    }
    if checkHead(head, source.lane) then
      if isOverdue(head, source.lane) or not avoids(head, source.lane) then
        source.head = head
        return head
      end
      passOver(head, entry)
    end
    pass(source)
  end
  return nil
end

local function closeSource(source)
  local lane = source.lane
  if source.consumed == 0 then return end
  if source.kind == 'list' then
    call('LTRIM', queueKey(lane, source.priority), int(source.consumed), '-1')
  else
    lane.returned = lane.returned - call('ZREMRANGEBYRANK', returnedKey(lane, source.priority), '0', int(source.consumed - 1))
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
local function leftOf(lane, priority)
  return lane[SLOTS[priority]] - (lane.takenOf[priority] or 0)
end

-- The highest priority first, then the order of entry; now and then the oldest of all, so that nothing starves.
local function nextEntry(lane, wanted)
  local takesOldest = lane.picks % PICKS_PER_OLDEST == PICKS_PER_OLDEST - 1
  local oldest
  for priority = PRIORITY_MAX, 0, -1 do
    local count = leftOf(lane, priority)
    if count > 0 then
      local head = firstOf(lane, priority, math.min(wanted, count))
      oldest = earlier(oldest, head)
      if (head and not takesOldest) or count == lane.ready - lane.taken then break end
    end
  end
  if lane.passes then countPassed(lane, oldest, takesOldest) end
  return oldest
end
