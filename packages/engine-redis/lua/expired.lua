#!lua flags=allow-oom
-- expired: leases and queue entries past their time. It changes no task; it only brings its own indexes up to date.
-- ARGV: time, limit, heartbeatStaleMs.
-- Answers { time, since when somebody has looked all the time, then per item an
-- OVERDUE_ROW, '' for what is missing }.

-- @include base lanes tasks queue limits wake leases stages workers lifting

local HOLDERS_MAX = 200
local LANES_MAX = 200
local limit = tonumber(ARGV[2])

continueLifting()

-- Looks further apart than this are a break: the server, the network or everybody was away. Sweeps look every second.
local BREAK_MS = 3000
local lookedAt, steadySince = unpack(call('HMGET', NUMBERS, 'lookedAt', 'steadySince'))
if not lookedAt or math.abs(now - tonumber(lookedAt)) > BREAK_MS then steadySince = NOW end
call('HSET', NUMBERS, 'lookedAt', NOW, 'steadySince', steadySince)

local function bySince(a, b)
  return a.since < b.since or (a.since == b.since and a.id < b.id)
end

local staleMs = tonumber(ARGV[3])
local leases = {}
local taken = {}

-- Since when what lies in this worker's inbox won't be collected, however long it may lie there; false if it may be.
local function silentSince(id)
  local worker = workerNamed(id)
  if not worker then return now end
  return worker.lastBeatAt + staleMs <= now and worker.lastBeatAt + staleMs
end

local function add(id, worker, lease)
  if taken[id] then return end
  taken[id] = true
  local since = lease.untilAt
  if lease.kind == STAGE_LETTERS.inbox and workerNamed(worker) then since = math.min(since, silentSince(worker) or since) end
  leases[#leases + 1] = { id = id, since = since, worker = worker, lease = lease }
end

-- What lies in inboxes of workers that are silent or gone. The others are not looked at again before they could be.
for _, worker in ipairs(call('ZRANGE', key('inboxes'), '-inf', int(now - staleMs), 'BYSCORE', 'LIMIT', 0, HOLDERS_MAX)) do
  if #leases >= limit then break end
  if silentSince(worker) then
    local ids = call('ZRANGE', inboxKey(worker), '0', int(limit - 1))
    for index, text in ipairs(#ids > 0 and call('HMGET', leasesKey(worker), unpack(ids)) or {}) do
      if text then add(ids[index], worker, parseLease(text)) end
    end
  else
    call('ZADD', key('inboxes'), int(workerNamed(worker).lastBeatAt), worker)
  end
end

for _, worker in ipairs(call('ZRANGE', key('leases'), '-inf', int(now), 'BYSCORE', 'LIMIT', 0, HOLDERS_MAX)) do
  local held = call('HGETALL', leasesKey(worker))
  local first
  for index = 1, #held, 2 do
    local lease = parseLease(held[index + 1])
    if lease.kind ~= STAGE_LETTERS.launch then
      if lease.untilAt <= now then add(held[index], worker, lease) end
      if not first or lease.untilAt < first then first = lease.untilAt end
    end
  end
  if first then call('ZADD', key('leases'), int(first), worker) else call('ZREM', key('leases'), worker) end
  if #leases >= limit then break end
end
table.sort(leases, bySince)

local entries = {}
local seen = {}
local function lookAt(id)
  if seen[id] then return end
  seen[id] = true
  local task = loadTask(id)
  local kind, since = overdue(task)
  if kind then entries[#entries + 1] = { id = id, kind = kind, since = since, task = task } end
end

for _, id in ipairs(call('ZRANGE', key('deadlines'), '-inf', int(now), 'BYSCORE', 'LIMIT', 0, limit)) do lookAt(id) end
for _, member in ipairs(call('ZRANGE', key('ttl'), '-inf', int(now), 'BYSCORE', 'LIMIT', 0, LANES_MAX)) do
  local lane = laneNumbered(tonumber(member))
  local ttlKey = key('ttl:' .. int(lane.number))
  for _, id in ipairs(call('ZRANGE', ttlKey, '-inf', int(laneTime(lane)), 'BYSCORE', 'LIMIT', 0, limit)) do lookAt(id) end
  local first = tonumber(call('ZRANGE', ttlKey, 0, 0, 'WITHSCORES')[2])
  if first then call('ZADD', key('ttl'), int(wallTime(lane, first)), member) else call('ZREM', key('ttl'), member) end
end
table.sort(entries, bySince)

local answer = { NOW, steadySince }
local function push(...)
  for index = 1, select('#', ...) do answer[#answer + 1] = select(index, ...) end
end

for index = 1, math.min(#leases, limit) do
  local id, lease, worker = leases[index].id, leases[index].lease, leases[index].worker
  local values = call('HMGET', taskKey(id), 'task', 'state')
  -- Renewed past its time-out: the worker lives, the attempt is stuck. Otherwise the worker is what went missing.
  local isStuck = lease.renewedAt and lease.renewedAt >= lease.timeoutAt
  local kind = isUnderWay(lease) and 'undelivered' or isStuck and 'timeout' or 'lease'
  push(kind, int(leases[index].since), id, int(lease.attempt), lease.token .. '.' .. worker, worker, values[1], values[2] or '',
    int(lease.startedAt))
end
for index = 1, math.min(#entries, limit - math.min(#leases, limit)) do
  local entry = entries[index]
  push(entry.kind, int(entry.since), entry.id, int(entry.task.state.attempt + 1), '', '', entry.task.text, entry.task.stateText or '', '')
end
flushLimits()
flushLanes()
flushWake()
return answer
