-- How a task gets into its lane's queue and out of it. An entry is a text: rank, time-out, expiry in lane time, deadline,
-- p for a plain task or s for one with a stored state, id. Entries in order of rank stand in one list per priority; one that comes back under an old rank stands in the zset of
-- returned entries. An entry that leaves otherwise than by a claim stays behind in its list and is passed over later: it
-- is stale when the task's state is no longer 'queued' under its rank, or says `returned`: a task that was reserved out of
-- the queue and released stands in the zset under the same rank. While a lane may have such entries, its `stale` is
-- above 0.

local ENTRY_PATTERN = '^(%d+) (%d+) (%S+) (%S+) (%a) (.+)$'
-- Rank, time-out and id of an entry without anything unusual.
local PLAIN_ENTRY_PATTERN = '^(%d+) (%d+) %- %- p (.+)$'

local function queueKey(lane, priority)
  return key('queue:' .. int(lane.number) .. ':' .. priority)
end

local function returnedKey(lane, priority)
  return key('returned:' .. int(lane.number) .. ':' .. priority)
end

local function entryText(rank, timeoutMs, expires, deadlineAt, kind, id)
  return int(rank) .. ' ' .. int(timeoutMs) .. ' ' .. (expires and int(expires) or '-') .. ' '
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

-- Puts a task into the queue and counts it there: at its end, unless it keeps the rank it has.
local function enqueue(task, keepsRank)
  local lane = task.lane
  restock(lane)
  move(lane, nil, 'queued')
  local state = nextState(task.state, 'queued')
  if not keepsRank or not state.rank then state.rank = draw(1) end
  if lane.ready == 0 then catchUp(lane) end
  local ttlMs = task.profile.queueTtlMs
  state.since = now
  if ttlMs and ttlMs ~= cjson.null then state.expires = laneTime(lane) + ttlMs end
  task.state = state
  local deadlineAt = deadlineOf(task)
  local entry = entryText(state.rank, task.profile.timeoutMs, state.expires, deadlineAt, 's', task.id)
  if keepsRank then
    state.returned = true
    call('ZADD', returnedKey(lane, task.priority), int(state.rank), entry)
    lane.returned = lane.returned + 1
  else
    call('RPUSH', queueKey(lane, task.priority), entry)
  end
  lane.ready = lane.ready + 1
  local slot = 'p' .. task.priority
  lane[slot] = lane[slot] + 1
  watchTimes(lane, task.id, state.expires, deadlineAt)
  saveState(task)
end

-- Entries are gone from what can be claimed. When none of their priority is left, what still stands there is stale.
local function unready(lane, priority, count)
  local slot = 'p' .. priority
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
      local entry = entryText(state.rank, task.profile.timeoutMs, state.expires, deadlineOf(task), 's', task.id)
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
