#!lua flags=allow-oom
-- inspectQueues: whether each entry of each lane's queues belongs to a task that is queued under it, and stands there once. A lane
-- may have entries that claims pass over (see include/queue.lua): as many as it says, at most.
-- ARGV: see include/inspecting.lua; to begin at: number of a lane, of a source in it, place in that.
-- A lane with many entries is looked at in parts; then what it says about entries to be passed over is believed.

-- @once
-- @include base answers lanes tasks queue wake journal order inspecting

local WHOLE_MAX = 5000
local SOURCES = 20
local limit = tonumber(ARGV[6])

-- Sources 0 to 9 are the lists of the priorities, 10 to 19 the entries that came back.
local function sourceOf(lane, number)
  if number < 10 then return queueKey(lane, number), true end
  return returnedKey(lane, number - 10), false
end

local function sizeOf(itsKey, isList)
  return call(isList and 'LLEN' or 'ZCARD', itsKey)
end

local function remove(lane, itsKey, isList, entry, isSecond)
  if isList then
    call('LREM', itsKey, isSecond and -1 or 1, entry)
  else
    lane.returned = lane.returned - call('ZREM', itsKey, entry)
  end
end

-- Whether this is the entry under which its task is queued; and whether the task is queued at all.
local function isRight(lane, priority, isList, rank, id)
  local values = call('HMGET', taskKey(id), 'task', 'state', '1')
  if not values[1] then return false, false end
  local seq, _, laneNumber = string.match(values[1], HEAD_PATTERN)
  local isHome = tonumber(laneNumber) == lane.number and (tonumber(string.match(values[1], '^[^\n]*"priority":(%d)')) or DEFAULT_PRIORITY) == priority
  if not values[2] then
    local isQueued = not values[3]
    return isQueued and isHome and isList and seq == rank, isQueued
  end
  local isFine, state = pcall(cjson.decode, values[2])
  if not isFine then return false, false end
  local isQueued = state.status == 'queued'
  isQueued = isQueued and not state.retired
  return isQueued and isHome and state.rank == tonumber(rank) and (not state.returned) == isList, isQueued
end

-- Looks at the entries of one source from a place on. Those that are to be passed over are collected, for whoever knows how many
-- there may be.
local function inspectEntries(lane, number, from, to, seen, stale)
  local itsKey, isList = sourceOf(lane, number)
  for _, entry in ipairs(call(isList and 'LRANGE' or 'ZRANGE', itsKey, from, to)) do
    looked = looked + 1
    local rank, _, _, _, _, id = parseEntry(entry)
    local right, isQueued = false, false
    if id then right, isQueued = isRight(lane, number % 10, isList, rank, id) end
    if right and seen[id] then
      find('queue_entry_twice', 'task', id, 'a second entry of rank ' .. rank, FINDING_WORDS.oneEntry, function()
        remove(lane, itsKey, isList, entry, true)
      end)
    elseif right then
      seen[id] = true
    else
      stale[#stale + 1] = { key = itsKey, isList = isList, entry = entry, id = id, rank = rank, isQueued = isQueued }
    end
  end
end

local function inspectStale(lane, stale, isWhole)
  if lane.stale == 0 then
    for _, item in ipairs(stale) do
      local name = item.id or ''
      find(item.isQueued and 'queue_entry_twice' or 'queue_entry_extra', 'task', name, 'an entry of rank ' .. (item.rank or '?'),
        item.isQueued and FINDING_WORDS.oneEntry or FINDING_WORDS.noEntry, function() remove(lane, item.key, item.isList, item.entry) end)
    end
  elseif isWhole and #stale > lane.stale then
    find('queue_entry_extra', 'lane', lane.pool .. '\n' .. lane.action .. '\n' .. lane.tenant,
      int(#stale) .. ' entries of tasks that are not queued', 'at most ' .. int(lane.stale), function() lane.stale = #stale end)
  end
end

local function inspectWhole(lane)
  local seen, stale = {}, {}
  for number = 0, SOURCES - 1 do inspectEntries(lane, number, 0, -1, seen, stale) end
  inspectStale(lane, stale, true)
end

-- Part of a lane. Answers where to go on in it; nil when it is done.
local function inspectPart(lane, number, from)
  local seen, stale = {}, {}
  local itsKey, isList = sourceOf(lane, number)
  local before = sizeOf(itsKey, isList)
  inspectEntries(lane, number, from, from + limit - 1, seen, stale)
  inspectStale(lane, stale, false)
  local after = sizeOf(itsKey, isList)
  if from + limit < before then return int(number) .. ' ' .. int(from + limit - (before - after)) end
  return number < SOURCES - 1 and int(number + 1) .. ' 0' or nil
end

local function walk()
  local number, source, from = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
  local last = tonumber(call('HGET', NUMBERS, 'lanes')) or 0
  while number <= last do
    if isTired() then return int(number) .. ' 0 0' end
    if call('EXISTS', key('lane:' .. int(number))) == 1 then
      local lane = laneNumbered(number)
      local size = 0
      for at = 0, SOURCES - 1 do size = size + sizeOf(sourceOf(lane, at)) end
      looked = looked + 1
      if size > WHOLE_MAX or source > 0 or from > 0 then
        local goOnAt = inspectPart(lane, source, from)
        if goOnAt then return int(number) .. ' ' .. goOnAt end
      elseif size > 0 then
        inspectWhole(lane)
      end
    end
    number, source, from = number + 1, 0, 0
  end
  return ''
end

local goOnAt = walk()
if ARGV[3] == '1' then flushLanes() end
return inspected(goOnAt)
