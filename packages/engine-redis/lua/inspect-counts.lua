#!lua flags=allow-oom
-- inspectCounts: holds the counts of lanes, the backlog and the slots in use against a recount of all tasks, in one step; and
-- looks whether each lane is listed where claims, holds and limits look for it.
-- ARGV: see include/inspecting.lua.
-- A store with more tasks than one step may count is not recounted: then claimable tasks are held against the sizes of the queues,
-- and running ones against the leases.

-- @once
-- @include base answers lanes tasks queue limits wake journal leases stages order inspecting

local TASKS_MAX = 20000
local BYTES_MAX = 67108864
local LANES_MAX = 20000
local STATUSES = TASK_STATUSES
local READY = { 'ready', unpack(PRIORITY_COUNTS) }

-- By lane number: how many tasks stand where. `starts` has when attempts began, by the names of breakers' gates.
local recounts, starts = {}, {}

local function recountOf(number)
  local recount = recounts[number]
  if not recount then
    recount = { bytes = 0 }
    for _, name in ipairs(STATUSES) do recount[name] = 0 end
    for _, name in ipairs(READY) do recount[name] = 0 end
    recounts[number] = recount
  end
  return recount
end

local function started(lane, id, attempt)
  local record = call('HGET', taskKey(id), attempt)
  local startedAt = record and select(5, string.match(record, RECORD_PATTERN))
  for _, tenant in ipairs({ '', lane.tenant }) do
    local name = gateName(lane.action, tenant)
    local list = starts[name] or {}
    starts[name] = list
    list[#list + 1] = tonumber(startedAt) or now
  end
end

-- Answers how large it is; nil if it can't be counted.
local function countTask(id)
  local values = call('HMGET', taskKey(id), 'task', 'state', '1')
  if not values[1] then return 0 end
  local _, _, lane = string.match(values[1], HEAD_PATTERN)
  if not lane then return 0 end
  local recount = recountOf(tonumber(lane))
  local status, isRetired = 'queued', false
  if values[2] then
    status = statusOf(values[2])
    isRetired = string.find(values[2], '"retired":true', 1, true)
  elseif values[3] then
    status = statusOf(values[3])
  end
  if not status or not recount[status] then return 0 end
  recount[status] = recount[status] + 1
  recount.bytes = recount.bytes + payloadBytes(values[1])
  if status == 'queued' and not isRetired then
    local slot = SLOTS[tonumber(string.match(values[1], '^[^\n]*"priority":(%d)')) or DEFAULT_PRIORITY]
    recount.ready = recount.ready + 1
    recount[slot] = recount[slot] + 1
  elseif status == 'running' then
    started(laneNumbered(tonumber(lane)), id, values[2] and string.match(values[2], '"attempt":(%d+)') or '1')
  end
  return #values[1]
end

-- Answers whether all tasks were counted.
local function countTasks()
  local chunks = call('ZRANGE', key('order'), 0, -1)
  local tasks, bytes = 0, 0
  for _, chunk in ipairs(chunks) do
    tasks = tasks + call('LLEN', key('order:' .. chunk))
    if tasks > TASKS_MAX then return false end
  end
  for _, chunk in ipairs(chunks) do
    for _, id in ipairs(call('LRANGE', key('order:' .. chunk), 0, -1)) do
      bytes = bytes + countTask(id)
      if bytes > BYTES_MAX then return false end
      looked = looked + 1
    end
  end
  return true
end

-- Running tasks by lane, as the leases have them; nil if they are too many. A token ends with its lane.
local function countLeases()
  local running, count = {}, 0
  local function add(token)
    local lane = tonumber(string.match(token or '', '%.(%d+)$'))
    if lane then running[lane] = (running[lane] or 0) + 1 end
    count = count + 1
  end
  for _, worker in ipairs(call('ZRANGE', key('leases'), 0, -1)) do
    if count + call('HLEN', leasesKey(worker)) > TASKS_MAX then return nil end
    for _, lease in ipairs(call('HVALS', leasesKey(worker))) do
      if part(lease, 1, 1) ~= STAGE_LETTERS.launch then add(string.match(lease, '^%S+ (%S+)')) end
    end
  end
  for _, pool in ipairs(call('SMEMBERS', key('launching'))) do
    if count + call('ZCARD', launchesKey(pool)) > TASKS_MAX then return nil end
    for _, id in ipairs(call('ZRANGE', launchesKey(pool), 0, -1)) do
      local state = call('HGET', taskKey(id), 'state')
      local record = state and call('HGET', taskKey(id), string.match(state, '"attempt":(%d+)') or '1')
      add(select(3, string.match(record or '', RECORD_PATTERN)))
    end
  end
  return running
end

-- What can be told of a lane without its tasks. While it has no entries to be passed over, what stands in its queues can be claimed.
local function recountByIndexes(lane, running)
  local recount = { running = running and (running[lane.number] or 0) }
  if lane.stale > 0 then return recount end
  recount.ready = 0
  for priority = 0, PRIORITY_MAX do
    local size = call('LLEN', queueKey(lane, priority)) + call('ZCARD', returnedKey(lane, priority))
    recount[SLOTS[priority]] = size
    recount.ready = recount.ready + size
  end
  -- Only what can get past its time is queued without being claimable.
  if call('EXISTS', key('ttl:' .. int(lane.number)), key('deadlines')) == 0 then recount.queued = recount.ready end
  return recount
end

local function laneName(lane)
  return lane.pool .. '\n' .. lane.action .. '\n' .. lane.tenant
end

-- How many entries stand among those that came back.
local function sizeOfReturned(lane)
  local size = 0
  for priority = 0, PRIORITY_MAX do size = size + call('ZCARD', returnedKey(lane, priority)) end
  return size
end

local function inspectNumbers(lane, recount)
  local names = {}
  for _, list in ipairs({ STATUSES, READY }) do
    for _, name in ipairs(list) do
      if recount[name] and lane[name] ~= recount[name] then names[#names + 1] = name end
    end
  end
  local returned = sizeOfReturned(lane)
  if lane.returned ~= returned then names[#names + 1] = 'returned' end
  if #names == 0 then return end
  local was, expected = {}, {}
  for index, name in ipairs(names) do
    was[index] = name .. ' ' .. int(lane[name])
    expected[index] = name .. ' ' .. int(name == 'returned' and returned or recount[name])
  end
  find('count', 'lane', laneName(lane), table.concat(was, ', '), table.concat(expected, ', '), function()
    local hadNone = lane.ready == 0
    for _, name in ipairs(names) do lane[name] = name == 'returned' and returned or recount[name] end
    if lane.ready > 0 then
      if hadNone then catchUp(lane) end
      stir(lane, lane.ready)
    end
  end)
end

-- Only after a recount of all tasks.
local function inspectBytes(lane, expected)
  local laneKey = key('lane:' .. int(lane.number))
  local kept = tonumber(call('HGET', laneKey, 'bytes')) or 0
  if kept == expected then return end
  find('count', 'lane', laneName(lane), 'bytes ' .. int(kept), 'bytes ' .. int(expected), function()
    call('HSET', laneKey, 'bytes', int(expected))
  end)
end

-- By the counts as they were kept: a wrong count is a finding of its own.
local function inspectListing(lane)
  local member = laneMember(lane.number)
  local missing = {}
  local isClaimable = lane.ready > 0 and not lane.heldSince
  if isClaimable and not call('ZSCORE', listKey(lane, lane.atLimit), member) then missing[#missing + 1] = 'claimable' end
  if isClaimable and lane.atLimit and call('SISMEMBER', standingsKey(lane.atLimit), lane.pool .. '\n' .. lane.action) == 0 then
    missing[#missing + 1] = 'parked'
  end
  if lane.queued > 0 and not call('ZSCORE', key('stocked'), lane.action .. '\n' .. member) and not call('ZSCORE', key('stocked'), member) then
    missing[#missing + 1] = 'stocked'
  end
  if lane.running > 0 and call('SISMEMBER', key('busy'), member) == 0 then missing[#missing + 1] = 'busy' end
  if call('SISMEMBER', key('actions:' .. lane.pool), lane.action) == 0 then missing[#missing + 1] = 'named' end
  if #missing == 0 then return end
  find('lane_unlisted', 'lane', laneName(lane), 'not listed as ' .. table.concat(missing, ', '), 'listed', function()
    if isClaimable then
      call('ZADD', listKey(lane, lane.atLimit), int(lane.turn), member)
      if lane.atLimit then call('SADD', standingsKey(lane.atLimit), lane.pool .. '\n' .. lane.action) end
    end
    if lane.queued > 0 then call('ZADD', key('stocked'), '0', lane.action .. '\n' .. member) end
    if lane.running > 0 then call('SADD', key('busy'), member) end
    call('SADD', key('actions:' .. lane.pool), lane.action)
    stir(lane, lane.ready)
  end)
end

-- How many run under a limit; nil if that was not counted.
local function runningUnder(limit, isCounted)
  if limit.since then
    if not isCounted then return nil end
    local running = 0
    for _, startedAt in ipairs(starts[limit.name] or {}) do
      if startedAt >= limit.since then running = running + 1 end
    end
    return running
  end
  local pool, action, tenant = string.match(limit.name, '^(.*)\n(.*)\n(.*)$')
  local running = 0
  for _, lane in ipairs(laneList) do
    local isCovered = (pool == '' or pool == lane.pool) and (action == '' or action == lane.action) and (tenant == '' or tenant == lane.tenant)
    if isCovered then
      local recount = recounts[lane.number]
      running = running + (isCounted and (recount and recount.running or 0) or lane.running)
    end
  end
  return running
end

local function inspectSlots(isCounted)
  local limits = call('HGETALL', key('limits'))
  for at = 1, #limits, 2 do
    local limit = limitNamed(limits[at], limits[at + 1])
    local running = runningUnder(limit, isCounted)
    looked = looked + 1
    if running and running ~= limit.running then
      find('slots', 'limit', limit.name, int(limit.running) .. ' in use', int(running) .. ' in use', function()
        limit.freed = math.max(limit.running - running, 0)
        limit.running = running
      end)
    end
  end
end

local isCounted = countTasks()
local last = tonumber(call('HGET', NUMBERS, 'lanes')) or 0
local unchecked = not isCounted and 'Tasks were not recounted, because there are too many for one step: of the counts of lanes, only those of claimable and running tasks were looked at.' or ''
if last > LANES_MAX then return inspected('', 'Counts and slots were not looked at: there are too many lanes for one step.') end

local running = not isCounted and countLeases()
local backlog = 0
for number = 1, last do
  if call('EXISTS', key('lane:' .. int(number))) == 1 then
    local lane = laneNumbered(number)
    looked = looked + 1
    inspectListing(lane)
    local recount = isCounted and recountOf(number) or recountByIndexes(lane, running)
    backlog = backlog + (recount.queued or lane.queued) + (recount.waiting or lane.waiting)
    inspectNumbers(lane, recount)
    if isCounted then inspectBytes(lane, recount.bytes) end
  end
end
inspectSlots(isCounted)
local keptBacklog = tonumber(call('HGET', NUMBERS, 'backlog')) or 0
if keptBacklog ~= backlog then
  find('count', 'store', '', 'backlog ' .. int(keptBacklog), 'backlog ' .. int(backlog), function()
    call('HSET', NUMBERS, 'backlog', int(backlog))
  end)
end
if ARGV[3] == '1' then
  flushLimits()
  flushLanes()
  flushWake()
end
return inspected('', unchecked)
