#!lua flags=allow-oom
-- inspectLeases: whether each lease belongs to a task that runs under it, and whether inboxes, launches and the sweep know of it.
-- ARGV: see include/inspecting.lua; to begin at: the worker after whom ('' for the first).
-- All leases of a worker are looked at in one step.

-- @once
-- @include base answers lanes tasks wake journal leases stages workers order inspecting

local function workersAfter(last)
  local names, seen = {}, {}
  for _, list in ipairs({ 'workers', 'leases', 'inboxes' }) do
    for _, name in ipairs(call('ZRANGE', key(list), 0, -1)) do
      if not seen[name] and name > last then names[#names + 1] = name end
      seen[name] = true
    end
  end
  table.sort(names)
  return names
end

local function isRight(worker, id, lease)
  local task = lease and readTask(id)
  if not task or task.state.status ~= 'running' or task.state.attempt ~= lease.attempt then return false, task end
  local record = call('HGET', taskKey(id), int(lease.attempt))
  local status, _, token, workerJson = string.match(record or '', RECORD_PATTERN)
  return status == 'running' and token == lease.token and cjson.decode('[' .. workerJson .. ']')[1] == worker, task
end

-- Claims look into an inbox only while the worker's numbers say that there may be something.
local function openInbox(worker)
  local known = workerNamed(worker)
  wakeInbox(worker)
  call('ZADD', key('inboxes'), 'NX', known and int(known.lastBeatAt) or '0', worker)
  if not known then return end
  known.inbox = 1
  known.changed = true
end

local function inspectStage(worker, id, lease, task)
  if lease.kind == STAGE_LETTERS.inbox and not call('ZSCORE', inboxKey(worker), id) then
    find('inbox_entry_missing', 'task', id, FINDING_WORDS.noEntry, "an entry in the inbox of worker '" .. worker .. "'", function()
      call('ZADD', inboxKey(worker), int(draw(1)), id)
      openInbox(worker)
    end)
  elseif lease.kind == STAGE_LETTERS.launch
    and not (call('ZSCORE', launchesKey(task.lane.pool), id) and call('SISMEMBER', key('launching'), task.lane.pool) == 1) then
    find('launch_entry_missing', 'task', id, FINDING_WORDS.noEntry, "an entry among the launches of pool '" .. task.lane.pool .. "'", function()
      call('ZADD', launchesKey(task.lane.pool), '0', id)
      call('SADD', key('launching'), task.lane.pool)
    end)
  end
end

local function inspectInbox(worker, kinds)
  local ids = call('ZRANGE', inboxKey(worker), 0, -1)
  for _, id in ipairs(ids) do
    if kinds[id] ~= STAGE_LETTERS.inbox then
      find('inbox_entry_extra', 'task', id, "an entry in the inbox of worker '" .. worker .. "'", FINDING_WORDS.noEntry, function()
        leaveInbox(worker, id)
      end)
    end
  end
  local known = workerNamed(worker)
  if #ids > 0 and ((known and known.inbox == 0) or not call('ZSCORE', key('inboxes'), worker)) then
    find('inbox_entry_missing', 'worker', worker, 'an inbox said to be empty', int(#ids) .. ' in it', function() openInbox(worker) end)
  end
end

local function inspectWorker(worker)
  local leases = call('HGETALL', leasesKey(worker))
  local kinds = {}
  local first
  for at = 1, #leases, 2 do
    looked = looked + 1
    local id, lease = leases[at], parseLease(leases[at + 1])
    local right, task = isRight(worker, id, lease and lease.attempt and lease)
    if right then
      kinds[id] = lease.kind
      if lease.kind ~= STAGE_LETTERS.launch and (not first or lease.untilAt < first) then first = lease.untilAt end
      inspectStage(worker, id, lease, task)
    else
      find('lease_extra', 'task', id, "a lease of worker '" .. worker .. "'", FINDING_WORDS.noLease, function()
        call('HDEL', leasesKey(worker), id)
        if lease and task then leaveStage(lease.kind, worker, id, task.lane) end
      end)
    end
  end
  inspectInbox(worker, kinds)
  local watched = tonumber(call('ZSCORE', key('leases'), worker))
  if first and (not watched or watched > first) then
    find('lease_unwatched', 'worker', worker, 'not looked at', 'looked at from ' .. int(first) .. ' on', function()
      call('ZADD', key('leases'), 'LT', int(first), worker)
    end)
  end
end

-- Launches are as many as launchers have under way: all are looked at in the last step.
local function inspectLaunches(pool)
  for _, id in ipairs(call('ZRANGE', launchesKey(pool), 0, -1)) do
    looked = looked + 1
    local task = readTask(id)
    local record = task and call('HGET', taskKey(id), int(task.state.attempt))
    local _, _, _, workerJson = string.match(record or '', RECORD_PATTERN)
    local worker = workerJson and workerJson ~= 'null' and cjson.decode('[' .. workerJson .. ']')[1]
    local lease = worker and parseLease(call('HGET', leasesKey(worker), id))
    if not (lease and lease.kind == STAGE_LETTERS.launch and task.lane.pool == pool and isRight(worker, id, lease)) then
      find('launch_entry_extra', 'task', id, "an entry among the launches of pool '" .. pool .. "'", FINDING_WORDS.noEntry, function()
        leaveStage(STAGE_LETTERS.launch, '', id, { pool = pool })
      end)
    end
  end
end

local function walk()
  local last = ARGV[7]
  for _, worker in ipairs(workersAfter(last)) do
    if isTired() then return last end
    looked = looked + 1
    inspectWorker(worker)
    last = worker
  end
  for _, pool in ipairs(call('SMEMBERS', key('launching'))) do inspectLaunches(pool) end
  return ''
end

local goOnAt = walk()
flushWorkers()
return inspected(goOnAt)
