#!lua
-- submit: accepts the tasks of several calls, each id and each dedupe key once; of each call all new ones or none.
-- ARGV: time, backlogMax, number of classes, number of calls; per class: pool, action, tenant, priority, settings (JSON);
--   per call: how many tasks it has;
--   per task: class, id, rest of its text (from the comma after the profile on), its own times and key or ''
--     (delayMs, dueAt, deadlineAt, deadlineMs separated by blanks, '-' for none; then a blank and the dedupe key, if any).
-- Answers one text per task: '' if accepted, else the id of the task that has its id or key; and for the tasks of a call that
-- is refused '\n<backlog> <new ones>'.
-- Checks before a call's first write: that the backlog has room for all its new tasks.

-- @include base lanes tasks queue wake

local CHUNK = 256
local backlogMax = tonumber(ARGV[2])
local classCount = tonumber(ARGV[3])
local callCount = tonumber(ARGV[4])
local firstTask = 5 + classCount * 5 + callCount

local function holder(id, tenant, dedupeKey)
  if call('EXISTS', taskKey(id)) == 1 then return id end
  return dedupeKey and call('HGET', key('keys'), tenant .. '\n' .. dedupeKey)
end

local function parseExtra(extra)
  local delayMs, dueAt, deadlineAt, deadlineMs, dedupeKey = string.match(extra, '^(%S+) (%S+) (%S+) (%S+) ?(.*)$')
  return tonumber(delayMs) or 0, tonumber(dueAt) or 0, tonumber(deadlineAt), tonumber(deadlineMs),
    dedupeKey ~= '' and dedupeKey
end

local function tenantOf(class)
  return ARGV[5 + (class - 1) * 5 + 2]
end

local function countNew(first, last)
  local seen = {}
  local fresh = 0
  for at = first, last, 4 do
    local id, extra = ARGV[at + 1], ARGV[at + 3]
    local tenant = tenantOf(tonumber(ARGV[at]))
    local dedupeKey = extra ~= '' and select(5, parseExtra(extra))
    local named = dedupeKey and '\n' .. tenant .. '\n' .. dedupeKey
    if not seen[id] and not (named and seen[named]) and not holder(id, tenant, dedupeKey) then
      fresh = fresh + 1
      seen[id] = true
      if named then seen[named] = true end
    end
  end
  return fresh
end

local function profileFor(text)
  local number = call('HGET', key('profiles'), text)
  if number then return number end
  number = int(call('HINCRBY', NUMBERS, 'profiles', 1))
  call('HSET', key('profiles'), text, number)
  call('HSET', key('profile'), number, text)
  return number
end

-- Entries for one queue, in order of rank. Classes that differ in their settings only share one.
local queues = {}
local function queueOf(lane, priority)
  local name = queueKey(lane, priority)
  local queue = queues[name]
  if not queue then
    queue = { lane = lane, priority = priority, entries = {} }
    queues[name] = queue
  end
  return queue
end

-- A class is what many tasks share. It is looked up, or made, when its first task is accepted.
local classes = {}
local function classNumbered(number)
  local class = classes[number]
  if class then return class end
  local at = 5 + (number - 1) * 5
  local lane = laneNamed(ARGV[at], ARGV[at + 1], ARGV[at + 2])
  restock(lane)
  local profile = profileFor(ARGV[at + 4])
  local settings = profileNumbered(tonumber(profile))
  local ttlMs = settings.queueTtlMs
  class = {
    lane = lane,
    timeoutMs = settings.timeoutMs,
    ttlMs = ttlMs ~= cjson.null and ttlMs,
    middle = ',"acceptedAt":' .. int(now) .. ',"lane":' .. int(lane.number) .. ',"profile":' .. profile,
    queueMiddle = ' ' .. int(settings.timeoutMs) .. ' - - p ',
    entries = queueOf(lane, ARGV[at + 3]).entries,
  }
  classes[number] = class
  return class
end

local taskCount = (#ARGV - firstTask + 1) / 4
local backlog = tonumber(call('HGET', NUMBERS, 'backlog')) or 0
local sequence = draw(taskCount) - taskCount
local chunks = {}
local answers = {}

-- Accepts one task. Answers the id of the task that has its id or key; nil if it was accepted.
local function accept(at)
  local classNumber, id, rest, extra = tonumber(ARGV[at]), ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  sequence = sequence + 1
  local delayMs, dueAt, deadlineAt, deadlineMs, dedupeKey = 0, 0, nil, nil, nil
  local taken
  if extra ~= '' then
    delayMs, dueAt, deadlineAt, deadlineMs, dedupeKey = parseExtra(extra)
    taken = holder(id, tenantOf(classNumber), dedupeKey)
    if deadlineMs and (not deadlineAt or now + deadlineMs < deadlineAt) then deadlineAt = now + deadlineMs end
  end
  -- A duplicate leaves no lane behind.
  if not taken and not classes[classNumber] and call('EXISTS', taskKey(id)) == 1 then taken = id end
  local class
  if not taken then
    class = classNumbered(classNumber)
    local due = math.max(dueAt, now + delayMs)
    local isQueued = due <= now
    local expires = class.ttlMs and isQueued and laneTime(class.lane) + class.ttlMs
    local text = '{"seq":' .. int(sequence) .. class.middle
    if expires then text = text .. ',"expires":' .. int(expires) end
    if deadlineAt then text = text .. ',"deadlineAt":' .. int(deadlineAt) end
    if call('HSETNX', taskKey(id), 'task', text .. rest) == 0 then
      taken = id
    else
      local lane = class.lane
      if dedupeKey then call('HSET', key('keys'), lane.tenant .. '\n' .. dedupeKey, id) end
      if isQueued then
        local entries = class.entries
        if expires or deadlineAt then
          entries[#entries + 1] = entryText(sequence, class.timeoutMs, expires, deadlineAt, 'p', id)
          watchTimes(lane, id, expires, deadlineAt)
        else
          entries[#entries + 1] = int(sequence) .. class.queueMiddle .. id
        end
      else
        local state = { status = 'waiting', attempt = 0, generation = 1, before = 0, failures = 0, losses = 0,
          since = now, dueAt = due, reason = 'delayed' }
        call('HSET', taskKey(id), 'state', stateText(state))
        call('ZADD', key('waiting:' .. lane.pool), int(due), string.format('%016.0f', sequence) .. id)
        move(lane, nil, 'waiting')
        stir(lane)
      end
      tally(lane, 'accepted')
      local chunk = math.floor(sequence / CHUNK)
      local ids = chunks[chunk]
      if not ids then
        ids = {}
        chunks[chunk] = ids
      end
      ids[#ids + 1] = id
    end
  end
  if not taken then backlog = backlog + 1 end
  return taken
end

local at = firstTask
for number = 1, callCount do
  local size = tonumber(ARGV[firstTask - callCount + number - 1])
  local last = at + size * 4 - 1
  local refusal
  if backlog + size > backlogMax then
    local fresh = countNew(at, last)
    if fresh > 0 and backlog + fresh > backlogMax then refusal = '\n' .. int(backlog) .. ' ' .. int(fresh) end
  end
  while at <= last do
    answers[#answers + 1] = refusal or accept(at) or ''
    at = at + 4
  end
end

for name, queue in pairs(queues) do
  local count = #queue.entries
  if count > 0 then
    local lane = queue.lane
    if lane.ready == 0 then catchUp(lane) end
    call('RPUSH', name, unpack(queue.entries))
    local slot = 'p' .. queue.priority
    lane[slot] = lane[slot] + count
    lane.ready = lane.ready + count
    move(lane, nil, 'queued', count)
    stir(lane, count)
  end
end
for chunk, ids in pairs(chunks) do
  if call('RPUSH', key('order:' .. chunk), unpack(ids)) == #ids then call('ZADD', key('order'), chunk, chunk) end
end
flushLanes()
flushWake()
return answers
