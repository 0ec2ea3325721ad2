#!lua
-- submit: accepts the tasks of several calls, each id once and one task at a time for each dedupe key; of each call all new ones or
-- none.
-- ARGV: time, maxBacklog, number of classes, number of calls; per class: pool, action, tenant, priority, settings (JSON);
--   per call: number of runs; per run of tasks that share them: class, times and key of their own or '' (delayMs, dueAt,
--     deadlineAt, deadlineMs, dedupeMs separated by blanks, '-' for none; then a blank and the dedupe key, if any; before all that the past of a
--     task that comes from elsewhere, see include/past.lua), number of tasks, bytes of their payloads; per task: id, rest of its text (from the comma after the profile on).
-- Answers two things for each task that was not accepted: its place, counted from 0, and the id of the task that has its id or
-- key ('\r' if its ticket is barred, see include/keys.lua), with '\t', letters and a blank before it if the two were asked for
-- otherwise (DIFFERENCE_LETTERS say in what); or, if its call was refused, '\n<backlog> <new ones>'. Last, for the place -1: the
-- last number drawn, the time, and the beginning that the number belongs to (see base.lua), with blanks between them.
-- Checks before a call's first write: that the backlog has room for all its new tasks.

-- @include base lanes tasks queue wake journal endings order keys past

local maxBacklog = tonumber(ARGV[2])
local classCount = tonumber(ARGV[3])
local callCount = tonumber(ARGV[4])

local function parseExtra(extra)
  if extra == '' then return 0, 0 end
  local delayMs, dueAt, deadlineAt, deadlineMs, dedupeMs, dedupeKey = string.match(extra, '^(%S+) (%S+) (%S+) (%S+) (%S+) ?(.*)$')
  return tonumber(delayMs) or 0, tonumber(dueAt) or 0, tonumber(deadlineAt), tonumber(deadlineMs), tonumber(dedupeMs),
    dedupeKey ~= '' and dedupeKey
end

local function actionOf(class)
  return ARGV[5 + (class - 1) * 5 + 1]
end

local function tenantOf(class)
  return ARGV[5 + (class - 1) * 5 + 2]
end

-- The id and the text of the task that has this id, or holds this key; '\r' if its ticket is barred.
local function holder(id, name, dedupeKey)
  local text = call('HGET', taskKey(id), 'task')
  if text then return id, text end
  local task = dedupeKey and dedupe.holder(name, dedupeKey)
  if task == '\r' then return task end
  if task then return task.id, task.text end
end

-- What a task hears that is not accepted because of this one.
local function repeatOf(id, text, classNumber, rest)
  local differs = dedupe.differences(text, actionOf(classNumber), tenantOf(classNumber), rest)
  return differs == '' and id or '\t' .. differs .. ' ' .. id
end

-- Calls back for each run of a call that starts at ARGV[at]; answers where the next call starts.
local function eachRun(at, visit)
  local runs = tonumber(ARGV[at])
  at = at + 1
  for _ = 1, runs do
    local count = tonumber(ARGV[at + 2])
    visit(tonumber(ARGV[at]), ARGV[at + 1], at + 4, count, tonumber(ARGV[at + 3]))
    at = at + 4 + count * 2
  end
  return at
end

local function countNew(callAt)
  local seen = {}
  local new = 0
  eachRun(callAt, function(classNumber, extra, at, count)
    local dedupeKey = extra ~= '' and select(6, parseExtra(select(2, past.split(extra))))
    local name = dedupeKey and dedupe.name(tenantOf(classNumber), actionOf(classNumber), dedupeKey)
    local named = name and '\n' .. name
    for index = at, at + count * 2 - 1, 2 do
      local id = ARGV[index]
      if not seen[id] and not (named and seen[named]) and not holder(id, name, dedupeKey) then
        new = new + 1
        seen[id] = true
        if named then seen[named] = true end
      end
    end
  end)
  return new
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
  local settings = decodeSettings(ARGV[at + 4])
  local ttlMs = settings.queueTtlMs ~= cjson.null and settings.queueTtlMs
  class = {
    lane = lane,
    timeoutMs = settings.timeoutMs,
    ttlMs = ttlMs,
    isPlain = not ttlMs and not settings.notify and settings.timeoutMs <= PLAIN_TIMEOUT_MAX,
    notify = settings.notify,
    middle = ',"acceptedAt":' .. int(now) .. ',"lane":' .. int(lane.number) .. ',"profile":' .. profile,
    timeout = plainTimeout(settings.timeoutMs),
    entries = queueOf(lane, ARGV[at + 3]).entries,
  }
  classes[number] = class
  return class
end

local backlog = tonumber(call('HGET', NUMBERS, 'backlog')) or 0
local sequence
local beginning
local chunks = {}
local answers = {}
local answered = 0

-- For the next task; nil if it was accepted.
local function answer(text)
  if text then
    answers[#answers + 1] = answered
    answers[#answers + 1] = text
  end
  answered = answered + 1
end

local function chunkOf(number)
  local chunk = math.floor(number / CHUNK)
  local ids = chunks[chunk]
  if not ids then
    ids = {}
    chunks[chunk] = ids
  end
  return ids
end

-- A task that goes on where it was, or a dead letter. Answers whether it goes on.
local function acceptPast(class, id, brought, due, expires, deadlineAt)
  local lane = class.lane
  past.record(id, lane, brought)
  local died, dead = brought.died, brought.isDead
  local status = dead and 'dead' or due <= now and 'queued' or 'waiting'
  local state = past.state(brought, status, class.notify)
  if dead then
    state.at, state.reason, state.fingerprint = died.at, died.reason, died.fingerprint
    past.join({ id = id, lane = lane, head = { seq = sequence } }, died)
    move(lane, nil, 'dead')
    ended(id)
  elseif status == 'queued' then
    state.rank, state.since, state.expires = sequence, now, expires or nil
    if state.generation > 1 then deadlineAt = nil end
    class.entries[#class.entries + 1] = entryText(sequence, class.timeoutMs, expires, deadlineAt, STAGE_LETTERS.run, id)
    watchTimes(lane, id, expires, deadlineAt)
  else
    state.since, state.dueAt, state.reason = now, due, state.retryReason or 'delayed'
    call('ZADD', key('waiting:' .. lane.pool), int(due), string.format('%016d', sequence) .. id)
    move(lane, nil, 'waiting')
    stir(lane)
  end
  if died and not dead then past.know({ id = id, lane = lane }, died) end
  call('HSET', taskKey(id), 'state', stateText(state))
  past.note(id, brought, status)
  return not dead
end

-- A task that begins here. It may have to wait, and has a stored state where something must be remembered.
local function acceptNew(class, id, due, expires, deadlineAt)
  local lane = class.lane
  if due <= now then
    local entries = class.entries
    if class.notify then
      local state = { status = 'queued', attempt = 0, generation = 1, before = 0, failures = 0, losses = 0, rank = sequence,
        since = now, expires = expires or nil, notify = true }
      call('HSET', taskKey(id), 'state', stateText(state))
      entries[#entries + 1] = entryText(sequence, class.timeoutMs, expires, deadlineAt, STAGE_LETTERS.run, id)
      watchTimes(lane, id, expires, deadlineAt)
    elseif expires or deadlineAt or not class.isPlain then
      entries[#entries + 1] = entryText(sequence, class.timeoutMs, expires, deadlineAt, PLAIN, id)
      watchTimes(lane, id, expires, deadlineAt)
    else
      entries[#entries + 1] = plainEntry(int(sequence), class.timeout, id)
    end
  else
    local state = { status = 'waiting', attempt = 0, generation = 1, before = 0, failures = 0, losses = 0,
      since = now, dueAt = due, reason = 'delayed', notify = class.notify }
    call('HSET', taskKey(id), 'state', stateText(state))
    call('ZADD', key('waiting:' .. lane.pool), int(due), string.format('%016d', sequence) .. id)
    move(lane, nil, 'waiting')
    stir(lane)
  end
end

-- Accepts one task that may have a past, times, a key or a queue TTL. Answers what a task hears that is not accepted, or nil, and
-- then whether it is part of the backlog.
local function accept(classNumber, extra, id, rest)
  local brought
  brought, extra = past.split(extra)
  local delayMs, dueAt, deadlineAt, deadlineMs, dedupeMs, dedupeKey = parseExtra(extra)
  if deadlineMs and (not deadlineAt or now + deadlineMs < deadlineAt) then deadlineAt = now + deadlineMs end
  local name = dedupeKey and dedupe.name(tenantOf(classNumber), actionOf(classNumber), dedupeKey)
  local taken, itsText = holder(id, name, dedupeKey)
  if itsText then return repeatOf(taken, itsText, classNumber, rest) end
  if taken then return taken end
  local class = classNumbered(classNumber)
  local lane = class.lane
  local due = math.max(dueAt, now + delayMs)
  local expires = class.ttlMs and due <= now and laneTime(lane) + class.ttlMs
  local text = '{"seq":' .. int(sequence) .. class.middle
  if expires then text = text .. ',"expires":' .. int(expires) end
  if deadlineAt then text = text .. ',"deadlineAt":' .. int(deadlineAt) end
  if dedupeKey then text = text .. dedupe.life(dedupeMs) end
  call('HSET', taskKey(id), 'task', text .. rest)
  if dedupeKey then dedupe.keep(name, dedupeKey, id) end
  local isLive = true
  if brought then isLive = acceptPast(class, id, brought, due, expires, deadlineAt)
  else acceptNew(class, id, due, expires, deadlineAt) end
  tally(lane, 'accepted')
  lane.bytesAdded = lane.bytesAdded + payloadBytes(rest)
  local ids = chunkOf(sequence)
  ids[#ids + 1] = id
  return nil, isLive
end

-- Accepts plain tasks of one class from ARGV[at] on, whose payloads have so many bytes: the short way that nearly all go. It is
-- accept() and plainEntry(), written out.
local function acceptPlain(class, classNumber, at, count, bytes)
  local args, middle, timeout, entries = ARGV, class.middle, class.timeout, class.entries
  local size, accepted, number = #entries, 0, sequence
  local ids, idsSize, nextChunk = nil, 0, -1
  for index = at, at + count * 2 - 1, 2 do
    local id, numeral = args[index], format('%d', number)
    if call('HSETNX', TASK_PREFIX .. id, 'task', '{"seq":' .. numeral .. middle .. args[index + 1]) == 1 then
      size = size + 1
      entries[size] = PLAIN_HEADS[#numeral] .. numeral .. timeout .. id
      if number >= nextChunk then
        ids = chunkOf(number)
        idsSize = #ids
        nextChunk = (math.floor(number / CHUNK) + 1) * CHUNK
      end
      idsSize = idsSize + 1
      ids[idsSize] = id
      accepted = accepted + 1
    else
      bytes = bytes - payloadBytes(args[index + 1])
      answers[#answers + 1] = answered
      answers[#answers + 1] = repeatOf(id, call('HGET', TASK_PREFIX .. id, 'task'), classNumber, args[index + 1])
    end
    answered = answered + 1
    number = number + 1
  end
  sequence = number
  tally(class.lane, 'accepted', accepted)
  class.lane.bytesAdded = class.lane.bytesAdded + bytes
  backlog = backlog + accepted
end

local function acceptRun(classNumber, extra, at, count, bytes)
  local last, noted = draw(count, beginning == nil)
  beginning = beginning or noted
  sequence = last - count + 1
  local stop = at + count * 2
  while at < stop do
    local class = classes[classNumber]
    if class and extra == '' and class.isPlain then return acceptPlain(class, classNumber, at, (stop - at) / 2, bytes) end
    -- The class is made with its first new task: a duplicate leaves no lane behind.
    local taken, isLive = accept(classNumber, extra, ARGV[at], ARGV[at + 1])
    if isLive then backlog = backlog + 1 end
    bytes = bytes - payloadBytes(ARGV[at + 1])
    answer(taken)
    sequence = sequence + 1
    at = at + 2
  end
end

local at = 5 + classCount * 5
for _ = 1, callCount do
  local size = 0
  eachRun(at, function(_, _, _, count) size = size + count end)
  local refusal
  if backlog + size > maxBacklog then
    local new = countNew(at)
    if new > 0 and backlog + new > maxBacklog then refusal = '\n' .. int(backlog) .. ' ' .. int(new) end
  end
  at = eachRun(at, refusal and function(_, _, _, count)
    for _ = 1, count do answer(refusal) end
  end or acceptRun)
end

for name, queue in pairs(queues) do
  local count = #queue.entries
  if count > 0 then
    local lane = queue.lane
    if lane.ready == 0 then catchUp(lane) end
    call('RPUSH', name, unpack(queue.entries))
    local slot = SLOTS[tonumber(queue.priority)]
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
if beginning then
  answers[#answers + 1] = -1
  answers[#answers + 1] = int(sequence - 1) .. ' ' .. NOW .. ' ' .. beginning
end
return answers
