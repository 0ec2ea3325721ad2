#!lua flags=allow-oom
-- inspectTasks: whether queue, delay queue, leases, dedupe keys and dead letters know of each task as its record says they should.
-- ARGV: see include/inspecting.lua; to begin at: number of a chunk of the order, place in it; then '1' if dedupe keys are kept here.
-- What is missing is made again from the record: no task is dropped.

-- @once
-- @include base answers lanes tasks queue limits wake journal leases stages endings order keys inspecting

local PAGE = 200
-- A search through a whole list is dear: so many are enough for one step.
local SEARCHES_MAX = 20
local searches = 0
local pages = {}

local function rankOf(entry)
  return entry and tonumber((parseEntry(entry))) or 0
end

local function pageAt(queue, rank)
  local low, high = 0, call('LLEN', queue)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if rankOf(call('LINDEX', queue, middle)) < rank then low = middle + 1 else high = middle end
  end
  local texts = call('LRANGE', queue, low, low + PAGE - 1)
  local page = { low = rank, high = rankOf(texts[#texts]), entries = {} }
  for _, text in ipairs(texts) do page.entries[text] = true end
  return page
end

-- Whether the list has this entry. Its order leads there; what is not found so is searched for, since the order may be damaged.
local function isInList(queue, entry, rank)
  local page = pages[queue]
  if not page or rank < page.low or rank > page.high then
    page = pageAt(queue, rank)
    pages[queue] = page
  end
  if page.entries[entry] then return true end
  searches = searches + 1
  return call('LPOS', queue, entry) and true or false
end

local function entryOf(task)
  local state, timeoutMs, deadlineAt = task.state, task.profile.timeoutMs, deadlineOf(task)
  if task.stateText then return entryText(state.rank, timeoutMs, state.expires, deadlineAt, STAGE_LETTERS.run, task.id) end
  if state.expires or deadlineAt or timeoutMs > PLAIN_TIMEOUT_MAX then
    return entryText(state.rank, timeoutMs, state.expires, deadlineAt, PLAIN, task.id)
  end
  return plainEntry(int(state.rank), plainTimeout(timeoutMs), task.id)
end

-- Under its rank, among the entries that came back. The lane counts it already.
local function enqueueAgain(task)
  local state, lane = task.state, task.lane
  if not state.rank then state.rank = draw(1) end
  state.returned = true
  local entry = entryText(state.rank, task.profile.timeoutMs, state.expires, deadlineOf(task), STAGE_LETTERS.run, task.id)
  lane.returned = lane.returned + call('ZADD', returnedKey(lane, task.priority), int(state.rank), entry)
  saveState(task)
  stir(lane)
end

local function inspectQueued(task)
  local state, lane = task.state, task.lane
  if not state.retired then
    local isThere = false
    if state.rank then
      local entry = entryOf(task)
      if state.returned then
        isThere = call('ZSCORE', returnedKey(lane, task.priority), entry)
      else
        isThere = isInList(queueKey(lane, task.priority), entry, state.rank)
      end
    end
    if not isThere then
      find('queue_entry_missing', 'task', task.id, FINDING_WORDS.noEntry, FINDING_WORDS.entryInLane, function() enqueueAgain(task) end)
    end
  end
  local deadlineAt = deadlineOf(task)
  local hasTtl = not state.expires or (tonumber(call('ZSCORE', key('ttl:' .. int(lane.number)), task.id)) == state.expires
    and call('ZSCORE', key('ttl'), laneMember(lane.number)))
  if not hasTtl or (deadlineAt and tonumber(call('ZSCORE', key('deadlines'), task.id)) ~= deadlineAt) then
    find('expiry_missing', 'task', task.id, 'not noted', 'noted for the sweep', function()
      watchTimes(lane, task.id, state.expires, deadlineAt)
    end)
  end
end

local function inspectWaiting(task)
  local delays, dueAt = key('waiting:' .. task.lane.pool), task.state.dueAt
  local at = tonumber(call('ZSCORE', delays, waitingMember(task)))
  if at and at == dueAt then return end
  find('delay_entry_missing', 'task', task.id, at and FINDING_WORDS.entryDueAt .. int(at) or FINDING_WORDS.noEntry,
    FINDING_WORDS.entryDueAt .. (dueAt and int(dueAt) or 'any time'), function()
      call('ZADD', delays, int(dueAt or now), waitingMember(task))
      if not dueAt then
        task.state.dueAt = now
        saveState(task)
      end
      stir(task.lane)
    end)
end

-- Nobody knows that attempt: as if it had not begun.
local function beginAgain(task, record)
  move(task.lane, 'running', nil)
  if not record then task.state.attempt = math.max(task.state.attempt - 1, 0) end
  enqueue(task, false)
  stir(task.lane)
end

local function inspectRunning(task)
  local attempt = int(task.state.attempt)
  local record = call('HGET', taskKey(task.id), attempt)
  local status, _, token, workerJson, startedAt = string.match(record or '', RECORD_PATTERN)
  if status ~= 'running' or workerJson == 'null' then
    find('lease_missing', 'task', task.id, 'no running attempt ' .. attempt, 'an attempt ' .. attempt .. ' under a lease',
      function() beginAgain(task, record) end)
    return
  end
  local worker = cjson.decode('[' .. workerJson .. ']')[1]
  local lease = parseLease(call('HGET', leasesKey(worker), task.id))
  if lease and lease.token == token and lease.attempt == task.state.attempt then return end
  -- A lease that ends now under the token of its record: a worker that lives may renew it, else the sweep finds it and decides.
  find('lease_missing', 'task', task.id, lease and 'a lease under another token' or FINDING_WORDS.noLease, "a lease of worker '" .. worker .. "'",
    function()
      call('HSET', leasesKey(worker), task.id, leaseText({
        kind = task.stateText and STAGE_LETTERS.run or PLAIN, startedAt = tonumber(startedAt), token = token, attempt = task.state.attempt,
        untilAt = now, timeoutAt = tonumber(startedAt) + task.profile.timeoutMs,
      }))
      call('ZADD', key('leases'), 'LT', NOW, worker)
    end)
end

local function inspectDead(task)
  local fingerprint = task.state.fingerprint
  if not fingerprint then return end
  local number, lastAt = unpack(call('HMGET', groupKey(fingerprint), 'number', 'lastAt'))
  local member = number and string.format('%016d', tonumber(number)) .. fingerprint
  if member and call('ZSCORE', key('dead'), task.id) and call('ZSCORE', key('dead:' .. fingerprint), task.id)
    and call('ZSCORE', key('groups'), member) then
    return
  end
  find('group_entry_missing', 'task', task.id, FINDING_WORDS.noEntry, "an entry in group '" .. fingerprint .. "'", function()
    if not member then
      local record = call('HGET', taskKey(task.id), int(task.state.attempt)) or ''
      local sample = string.match(record, '(,"errorCode":.*),"resolvedAt":%d+}$')
      if not sample then return false end
      return joinGroup(task, fingerprint, sample)
    end
    call('ZADD', key('dead'), int(task.head.seq), task.id)
    call('ZADD', key('dead:' .. fingerprint), int(task.head.seq), task.id)
    call('ZADD', key('groups'), lastAt or NOW, member)
  end)
end

-- Attempts that are recorded as running besides the one that the task runs.
local function inspectRecords(task)
  if not task.stateText and call('HLEN', taskKey(task.id)) <= 2 then return end
  local state = task.state
  for _, field in ipairs(call('HKEYS', taskKey(task.id))) do
    local attempt = tonumber(field)
    local isCurrent = state.status == 'running' and attempt == state.attempt
    local record = attempt and not isCurrent and call('HGET', taskKey(task.id), field)
    if record and statusOf(record) == 'running' then
      find('execution_running', 'task', task.id, 'attempt ' .. field .. ' running', 'attempt ' .. field .. ' ended', function()
        if attempt > state.attempt then
          call('HDEL', taskKey(task.id), field)
        else
          call('HSET', taskKey(task.id), field, endRecord(record, 'cancelled'))
        end
      end)
    end
  end
end

-- Whether it holds its key, or will when it comes back: a dead letter may.
local function needsKey(task)
  local state = task.state
  return dedupe.isHeldBy(task) or (state.status == 'dead' and not task.head.keyUntil and not state.keyLost)
end

local function alsoHolds(id, name)
  local other = readTask(id)
  return other and other.head.dedupeKey and dedupe.name(other.lane.tenant, other.lane.action, other.head.dedupeKey) == name
    and dedupe.isHeldBy(other)
end

local function inspectKey(task)
  local dedupeKey = task.head.dedupeKey
  local name = dedupe.name(task.lane.tenant, task.lane.action, dedupeKey)
  local holder = call('HGET', key('dedupe'), name)
  if holder == task.id or not needsKey(task) then return end
  local held = format(FINDING_WORDS.keyHeld, dedupeKey)
  local expected = held .. 'it'
  if holder and alsoHolds(holder, name) then
    find('key_twice', 'task', task.id, held .. "task '" .. holder .. "'", expected)
    return
  end
  find('key_missing', 'task', task.id, held .. (holder and FINDING_WORDS.somethingElse or 'nobody'), expected,
    function() call('HSET', key('dedupe'), name, task.id) end)
end

local STANDS = { queued = inspectQueued, waiting = inspectWaiting, running = inspectRunning, dead = inspectDead }

local function inspectTask(chunk, id)
  looked = looked + 1
  local task = readTask(id)
  if task == nil then
    find('order_entry_extra', 'task', id, 'an entry in the order of acceptance', FINDING_WORDS.noEntry, function()
      call('LREM', orderKey(chunk), 1, id)
      if call('EXISTS', orderKey(chunk)) == 0 then call('ZREM', key('order'), int(chunk)) end
    end)
  elseif not task then
    find('record_unreadable', 'task', id, 'a record that says nothing', 'a record')
  else
    local inspectStand = STANDS[task.state.status]
    inspectRecords(task)
    if inspectStand then inspectStand(task) end
    if task.head.dedupeKey and ARGV[9] == '1' then inspectKey(task) end
  end
end

local CHUNKS_MAX = 16

-- What is removed from a chunk is only known at the end: places are counted from before.
local function walk()
  local first, at = tonumber(ARGV[7]), tonumber(ARGV[8])
  local from = int(first)
  while true do
    local chunks = call('ZRANGE', key('order'), from, '+inf', 'BYSCORE', 'LIMIT', 0, CHUNKS_MAX)
    for _, member in ipairs(chunks) do
      local chunk = tonumber(member)
      local ids = call('LRANGE', orderKey(chunk), 0, -1)
      local repairsBefore = repairs
      for place = chunk == first and at + 1 or 1, #ids do
        if isTired() or searches >= SEARCHES_MAX then
          -- Entries that were taken out of this chunk moved the others up.
          local gone = repairs > repairsBefore and #ids - call('LLEN', orderKey(chunk)) or 0
          return member .. ' ' .. int(place - 1 - gone)
        end
        inspectTask(chunk, ids[place])
      end
      from = '(' .. member
    end
    if #chunks < CHUNKS_MAX then return '' end
  end
end

local goOnAt = walk()
if ARGV[3] == '1' then
  flushLanes()
  flushWake()
end
return inspected(goOnAt)
