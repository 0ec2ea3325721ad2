#!lua flags=allow-oom
-- retain: deletes what the rules no longer keep, a bounded number of everything.
-- ARGV: time, request id, limit, seq to begin after, then how long each is kept ('' for ever): succeeded, cancelled and discarded
--   tasks, journal entries, minutes of the series; then '1', or '' in all partitions but the home, which tells of workers.
-- Answers { tasks removed, journal entries removed, seq to go on from or '' }. There is nothing to check before the first write.

-- @once
-- @include base answers lanes tasks journal order keys workers departures

local BYTES_MAX = 16777216
local CHUNKS_MAX = 16
local WORKERS_MAX = 1000

local limit = tonumber(ARGV[3])
local after = tonumber(ARGV[4])
local kept = { succeeded = tonumber(ARGV[5]), cancelled = tonumber(ARGV[6]), discarded = tonumber(ARGV[7]) }
local journalMs = tonumber(ARGV[8])
local seriesMs = tonumber(ARGV[9])

local bytes = 0

-- Status and time of a task's end; for a plain one they stand in the record of its only attempt.
local function endOf(id)
  local state = call('HGET', taskKey(id), 'state')
  if state then return statusOf(state), tonumber(string.match(state, '"at":(%d+)')) end
  local record = call('HGET', taskKey(id), '1')
  if not record then return 'queued' end
  bytes = bytes + #record
  return statusOf(record), tonumber(string.match(record, '"errorMessage":null,"resolvedAt":(%d+)'))
end

-- Goes up the order of acceptance; what is outdated is only listed, so that the lists stay as they are meanwhile.
local outdated = {}
local function walk()
  local looked = 0
  local last
  local partial = math.floor(after / CHUNK)
  local from = int(partial)
  while true do
    local chunks = call('ZRANGE', key('order'), from, '+inf', 'BYSCORE', 'LIMIT', 0, CHUNKS_MAX)
    for _, member in ipairs(chunks) do
      local chunk = tonumber(member)
      local ids = call('LRANGE', orderKey(chunk), 0, -1)
      for place = chunk == partial and placeAfter(ids, after) or 1, #ids do
        if looked >= limit or bytes >= BYTES_MAX then return int(seqOf(textOf(last))) end
        last = ids[place]
        looked = looked + 1
        local status, at = endOf(last)
        if kept[status] and at and now - at >= kept[status] then
          local text = textOf(last)
          local head = parseHead(text)
          bytes = bytes + #text
          -- A task is kept while it holds its dedupe key.
          if not head.keyUntil or head.keyUntil <= now then
            outdated[#outdated + 1] = { id = last, status = status, chunk = chunk, head = head, bytes = payloadBytes(text) }
          end
        end
      end
      from = '(' .. member
    end
    if #chunks < CHUNKS_MAX then return '' end
  end
end

local function removeTask(item)
  local lane = laneNumbered(item.head.lane)
  local dedupeKey = item.head.dedupeKey
  if dedupeKey then dedupe.drop(dedupe.name(lane.tenant, lane.action, dedupeKey), item.id) end
  call('UNLINK', taskKey(item.id), logKey(item.id))
  call('LREM', orderKey(item.chunk), 1, item.id)
  if call('EXISTS', orderKey(item.chunk)) == 0 then call('ZREM', key('order'), int(item.chunk)) end
  lane.bytesAdded = lane.bytesAdded - item.bytes
  move(lane, item.status, 'removed')
end

local function field(entry, name)
  for index = 1, #entry[2], 2 do
    if entry[2][index] == name then return entry[2][index + 1] end
  end
end

-- The oldest stand first, so what is removed is a part at the beginning.
local function removeEntries()
  local removed = 0
  local keptFrom
  for _, entry in ipairs(call('XRANGE', key('journal'), '-', '+', 'COUNT', limit)) do
    if now - tonumber(field(entry, 'at')) < journalMs then break end
    local number = string.match(entry[1], '^%d+')
    local taskId = field(entry, 'task')
    if taskId ~= '' then call('LREM', key('journal:' .. taskId), 1, number) end
    keptFrom = tonumber(number) + 1
    removed = removed + 1
  end
  if keptFrom then call('XTRIM', key('journal'), 'MINID', '=', int(keptFrom) .. '-0') end
  return removed
end

-- A minute is as old as its end.
local function removeMinutes()
  local upTo = int(now - seriesMs - SERIES_STEP_MS)
  for _, minute in ipairs(call('ZRANGE', key('minutes'), '-inf', upTo, 'BYSCORE', 'LIMIT', 0, limit)) do
    call('UNLINK', key('series:' .. minute))
    call('ZREM', key('minutes'), minute)
  end
end

-- Of a large fleet a part is looked at; the next call goes on behind it.
local function forgetSilentWorkers()
  local from = tonumber(call('HGET', NUMBERS, 'workersLooked')) or 0
  local page = call('ZRANGE', key('workers'), from, from + WORKERS_MAX - 1)
  local forgotten = 0
  for _, worker in ipairs(page) do
    local known = workerNamed(worker)
    if not known or now - known.lastBeatAt >= WORKER_SILENT_MS then
      if ARGV[10] ~= '' then
        local was = call('HMGET', key('worker:' .. worker), 'epoch', 'version', 'host')
        if was[1] then noteWorker('worker.left', cjson.encode(worker), was[1], was[2], was[3], JOURNAL_REASONS.silent) end
      end
      call('DEL', key('worker:' .. worker))
      call('ZREM', key('workers'), worker)
      call('DEL', key('listening:' .. worker))
      forgotten = forgotten + 1
    end
  end
  if #page == WORKERS_MAX then
    call('HSET', NUMBERS, 'workersLooked', int(from + WORKERS_MAX - forgotten))
  elseif from > 0 then
    call('HDEL', NUMBERS, 'workersLooked')
  end
end

local function forgetDepartures()
  local upTo = int(now - DEPARTED_MS)
  for _, worker in ipairs(call('ZRANGE', key('departures'), '-inf', upTo, 'BYSCORE', 'LIMIT', 0, WORKERS_MAX)) do
    forgetDeparted(worker)
  end
end

local goOn = walk()
for _, item in ipairs(outdated) do removeTask(item) end
local entriesRemoved = journalMs and removeEntries() or 0
if seriesMs then removeMinutes() end
forgetSilentWorkers()
forgetDepartures()
if #outdated > 0 then
  note('tasks.removed', nil, nil, ACTORS.retention, JOURNAL_REASONS.removed, '{"count":' .. #outdated .. '}')
end
flushLanes()
return { int(#outdated), int(entriesRemoved), goOn }
