-- How a task gets into its lane's queue and out of it. The entry of a plain task is 'p', how many digits its rank has ('a' for
-- one), its rank, its time-out in 12 digits, its id: nearly all are such, and taken apart by position. Any other is 'x' and, separated by blanks, rank, time-out, expiry
-- in lane time, deadline ('-' for none), p for a plain task or s for one with a stored state, id. Entries in order of
-- rank stand in one list per priority; one that comes back under an old rank stands in the zset of returned entries. An entry that leaves otherwise than by a claim stays behind in its list and is passed over later: it
-- is stale when the task's state is no longer 'queued' under its rank, or says `returned`: a task that was reserved out of
-- the queue and released stands in the zset under the same rank. While a lane may have such entries, its `stale` is
-- above 0.

-- The byte of the letter before 'a'.
local LENGTH_ZERO = 96
-- What a plain entry starts with, by the number of digits of its rank.
local PLAIN_HEADS = { 'pa', 'pb', 'pc', 'pd', 'pe', 'pf', 'pg', 'ph', 'pi', 'pj', 'pk', 'pl', 'pm', 'pn', 'po', 'pp' }
local ENTRY_PATTERN = '^x(%d+) (%d+) (%S+) (%S+) (%a) (.+)$'

local function queueKey(lane, priority)
  return key('queue:' .. int(lane.number) .. ':' .. priority)
end

local function returnedKey(lane, priority)
  return key('returned:' .. int(lane.number) .. ':' .. priority)
end

-- A longer time-out does not fit into its 12 digits: such an entry is written as one that is not plain.
local PLAIN_TIMEOUT_MAX = 999999999999

-- The part of a plain entry between its rank and its id.
local function plainTimeout(timeoutMs)
  return string.format('%012d', timeoutMs)
end

-- The rank is given as text.
local function plainEntry(rank, timeout, id)
  return PLAIN_HEADS[#rank] .. rank .. timeout .. id
end

-- Time-out and id of a plain entry.
local function parsePlain(entry)
  local from = string.byte(entry, 2) - LENGTH_ZERO + 3
  return string.sub(entry, from, from + 11), string.sub(entry, from + 12)
end

-- rank, time-out, expiry, deadline, kind, id
local function parseEntry(entry)
  if string.byte(entry) ~= PLAIN_BYTE then return string.match(entry, ENTRY_PATTERN) end
  local timeoutMs, id = parsePlain(entry)
  return string.sub(entry, 3, string.byte(entry, 2) - LENGTH_ZERO + 2), timeoutMs, '-', '-', PLAIN, id
end

local function entryText(rank, timeoutMs, expires, deadlineAt, kind, id)
  return 'x' .. int(rank) .. ' ' .. int(timeoutMs) .. ' ' .. (expires and int(expires) or '-') .. ' '
    .. (deadlineAt and int(deadlineAt) or '-') .. ' ' .. kind .. ' ' .. id
end

-- Notes when an entry will be past its time, for the sweep to find it.
local function watchTimes(lane, id, expires, deadlineAt)
  if expires then
    call('ZADD', key('ttl:' .. int(lane.number)), int(expires), id)
    call('ZADD', key('ttl'), 'LT', int(wallTime(lane, expires)), laneMember(lane.number))
  end
  if deadlineAt then call('ZADD', key('deadlines'), int(deadlineAt), id) end
end

local function forgetTimes(lane, id, expires, deadlineAt)
  if expires then call('ZREM', key('ttl:' .. int(lane.number)), id) end
  if deadlineAt then call('ZREM', key('deadlines'), id) end
end

-- The deadline binds the first generation only.
local function deadlineOf(task)
  if task.state.generation > 1 then return nil end
  return task.head.deadlineAt
end

-- Puts a task into the queue and counts it there: at its end, unless it keeps the rank it has. Where many enter the queue
-- `together`, their ranks are those behind `rank`, and the caller writes their `entries`, by queue.
local function enqueue(task, keepsRank, together)
  local lane = task.lane
  restock(lane)
  move(lane, nil, 'queued')
  local state = nextState(task.state, 'queued')
  if together then
    together.rank = together.rank + 1
    state.rank = together.rank
  elseif not keepsRank or not state.rank then
    state.rank = draw(1)
  end
  if lane.ready == 0 then catchUp(lane) end
  local ttlMs = task.profile.queueTtlMs
  state.since = now
  if ttlMs and ttlMs ~= cjson.null then state.expires = laneTime(lane) + ttlMs end
  task.state = state
  local deadlineAt = deadlineOf(task)
  local entry = entryText(state.rank, task.profile.timeoutMs, state.expires, deadlineAt, STAGE_LETTERS.run, task.id)
  if keepsRank then
    state.returned = true
    call('ZADD', returnedKey(lane, task.priority), int(state.rank), entry)
    lane.returned = lane.returned + 1
  elseif together then
    local queue = queueKey(lane, task.priority)
    local entries = together.entries[queue] or {}
    together.entries[queue] = entries
    entries[#entries + 1] = entry
  else
    call('RPUSH', queueKey(lane, task.priority), entry)
  end
  lane.ready = lane.ready + 1
  local slot = SLOTS[task.priority]
  lane[slot] = lane[slot] + 1
  watchTimes(lane, task.id, state.expires, deadlineAt)
  saveState(task)
end

-- Entries are gone from what can be claimed. When none of their priority is left, what still stands there is stale.
local function unready(lane, priority, count)
  local slot = SLOTS[priority]
  lane[slot] = lane[slot] - count
  lane.ready = lane.ready - count
  if lane.ready == 0 then lane.stale = 0 end
  if lane[slot] > 0 then return end
  call('DEL', queueKey(lane, priority))
  if lane.returned > 0 then
    lane.returned = lane.returned - call('ZCARD', returnedKey(lane, priority))
    call('DEL', returnedKey(lane, priority))
  end
end

-- Takes a queued task out of the queue other than by a claim. The caller counts it and writes the new state.
local function dequeue(task)
  local state = task.state
  if not state.retired then
    local lane = task.lane
    if state.returned then
      local entry = entryText(state.rank, task.profile.timeoutMs, state.expires, deadlineOf(task), STAGE_LETTERS.run, task.id)
      lane.returned = lane.returned - call('ZREM', returnedKey(lane, task.priority), entry)
    else
      lane.stale = lane.stale + 1
    end
    unready(task.lane, task.priority, 1)
  end
  forgetTimes(task.lane, task.id, state.expires, deadlineOf(task))
end

-- 'deadline' or 'queue_ttl' and since when, if a queued task is past its time.
local function overdue(task)
  local deadlineAt = deadlineOf(task)
  if deadlineAt and now >= deadlineAt then return 'deadline', deadlineAt end
  local expires = task.state.expires
  if expires and laneTime(task.lane) >= expires then return 'queue_ttl', wallTime(task.lane, expires) end
  return nil
end
