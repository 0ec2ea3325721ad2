-- Settling: each settlement takes effect or not by itself. Given one after the other, each as: kind, task id, attempt, then
--   done: token (succeeded without a result)
--   succeeded: token, result
--   failed, lost: token, then the ending
--   released: token, reason
--   expired: the ending
-- where the ending is: decision ('retry' or 'dead'), delayMs, reason, fingerprint, sentence, data, tail of the record,
-- '1' if the failure blames the worker. Answers per settlement: 1 for succeeded, else 'settled <status>',
-- 'repeated <status>' or 'superseded <why>'.

local outcomes, workerParts

atBegin(function()
  outcomes, workerParts = {}, {}
end)

local function outcome(worker, ok)
  local list = outcomes[worker]
  if not list then
    list = {}
    outcomes[worker] = list
  end
  list[#list + 1] = ok
end

local RECENT_OUTCOMES_MAX = 100

-- The evidence of each worker after its attempts of this call (see core's withOutcomes, which is the definition).
local function flushOutcomes()
  for worker, list in pairs(outcomes) do
    local workerKey = key('worker:' .. worker)
    local values = call('HMGET', workerKey, 'consecutiveFailures', 'recentOutcomes', 'recentFailures')
    if values[1] then
      local consecutive, recent, failures = tonumber(values[1]), tonumber(values[2]), tonumber(values[3])
      local hasFailed = false
      for _, ok in ipairs(list) do
        if recent >= RECENT_OUTCOMES_MAX then
          recent = math.floor(recent / 2)
          failures = math.floor(failures / 2)
        end
        recent = recent + 1
        if ok then
          consecutive = 0
        else
          consecutive = consecutive + 1
          failures = failures + 1
          hasFailed = true
        end
      end
      call('HSET', workerKey, 'consecutiveFailures', consecutive, 'recentOutcomes', recent, 'recentFailures', failures)
      if hasFailed then call('HSET', workerKey, 'lastFailureAt', int(now)) end
    end
  end
  outcomes = {}
end

local function parseEnding(at, kind)
  return {
    kind = kind, decision = ARGV[at], delayMs = tonumber(ARGV[at + 1]), reason = ARGV[at + 2], fingerprint = ARGV[at + 3],
    sentence = ARGV[at + 4], data = ARGV[at + 5], tail = ARGV[at + 6], blames = ARGV[at + 7] == '1',
  }
end

local function supersede(kind, id, attempt, because, isKnown)
  if isKnown and (kind == 'succeeded' or kind == 'failed') then
    note('execution.superseded', id, attempt, 'caller', kind .. ' refused: ' .. because,
      '{"kind":"' .. kind .. '","because":"' .. because .. '"}')
  end
  return 'superseded ' .. because
end

-- Where the task went when this record was written.
local function statusAfter(record)
  if statusOf(record) == 'succeeded' then return 'succeeded' end
  return string.find(record, '"decision":{"kind":"retry"', 1, true) and 'waiting' or 'dead'
end

-- It does not apply: either the very same call was made before, or somebody else was faster.
local function refuseLease(kind, id, attempt, token)
  local task = loadTask(id)
  local record = call('HGET', taskKey(id), int(attempt))
  if record then
    local status, _, itsToken = string.match(record, RECORD_PATTERN)
    if task and status == kind and itsToken == token then return 'repeated ' .. statusAfter(record) end
  end
  local because = becauseOf(task, attempt, record)
  if kind == 'released' and because == 'released' then return 'repeated queued' end
  return supersede(kind, id, attempt, because, task)
end

-- The part of a record between its token and its start.
local function workerPart(worker)
  local part = workerParts[worker]
  if not part then
    part = '","worker":' .. cjson.encode(worker) .. ',"dispatchedAt":'
    workerParts[worker] = part
  end
  return part
end

local function succeed(id, attempt, token, startedAt, isPlain, worker, result)
  local itsKey = taskKey(id)
  if isPlain and not result then
    call('HSET', itsKey, '1', '{"status":"succeeded","attempt":1,"token":"' .. token .. workerPart(worker) .. startedAt .. SUCCESS_TAIL)
  else
    local values = call('HMGET', itsKey, attempt, 'state')
    local ending = endRecord(values[1], 'succeeded')
    if result then ending = string.sub(ending, 1, -2) .. ',\n"result":' .. result .. '}' end
    if isPlain then
      call('HSET', itsKey, attempt, ending)
    else
      local state = nextState(cjson.decode(values[2]), 'succeeded')
      state.at = now
      call('HSET', itsKey, attempt, ending, 'state', stateText(state))
    end
  end
  removeLease(worker, id)
  local lane = laneNumbered(tonumber(string.match(token, '%d+$')))
  lane.succeeding = (lane.succeeding or 0) + 1
  freeSlot(lane)
  outcome(worker, true)
  ended(id)
  return 1
end

-- Successes are counted lane by lane at the end.
local function countSuccesses()
  for _, lane in ipairs(laneList) do
    if lane.succeeding then
      move(lane, 'running', 'succeeded', lane.succeeding)
      tally(lane, 'succeeded', lane.succeeding)
      lane.succeeding = nil
    end
  end
end

local function endRunning(task, worker)
  removeLease(worker, task.id)
  freeSlot(task.lane)
  move(task.lane, 'running', nil)
end

local function endBadly(id, attempt, worker, ending)
  local task = loadTask(id)
  local record = call('HGET', taskKey(id), int(attempt))
  ending.actor = ending.kind == 'lost' and 'sweep' or 'worker:' .. worker
  endRunning(task, worker)
  if ending.kind == 'failed' and ending.blames then outcome(worker, false) end
  local status = layToRest(task, attempt, ending)
  call('HSET', taskKey(id), int(attempt), endRecord(record, ending.kind, ending.tail), 'state', stateText(task.state))
  return 'settled ' .. status
end

local function release(id, attempt, worker, reason)
  local task = loadTask(id)
  endRunning(task, worker)
  task.state.attempt = attempt - 1
  call('HDEL', taskKey(id), int(attempt))
  enqueue(task, true)
  stir(task.lane)
  note('execution.released', id, attempt, 'worker:' .. worker, reason, '{}')
  return 'settled queued'
end

local function expire(id, attempt, ending)
  local task = loadTask(id)
  if not task then return 'superseded unknown' end
  if task.state.status ~= 'queued' or task.state.attempt + 1 ~= attempt then
    local record = call('HGET', taskKey(id), int(attempt))
    if record then
      local status, _, _, worker = string.match(record, RECORD_PATTERN)
      if status == 'failed' and worker == 'null' then return 'repeated ' .. statusAfter(record) end
    end
    return 'superseded ' .. becauseOf(task, attempt, record)
  end
  if not overdue(task) then return 'superseded renewed' end
  dequeue(task)
  move(task.lane, 'queued', nil)
  local token = int(draw(1)) .. '-0.' .. int(task.lane.number)
  local record = runningRecord(int(attempt), token, 'null', recordExtra(task.state.generation, task.state.retryReason))
  ending.actor = 'sweep'
  local status = layToRest(task, attempt, ending)
  call('HSET', taskKey(id), int(attempt), endRecord(record, 'failed', ending.tail), 'state', stateText(task.state))
  return 'settled ' .. status
end

local SIZES = { done = 4, succeeded = 5, released = 5, failed = 12, lost = 12, expired = 11 }

-- The leases that the settlements from ARGV[at] to ARGV[last] name, by worker and task.
local function leasesNamed(at, last)
  local ids = {}
  while at <= last do
    local kind = ARGV[at]
    if kind ~= 'expired' then
      local _, worker = splitToken(ARGV[at + 3])
      if worker then
        local list = ids[worker]
        if not list then
          list = {}
          ids[worker] = list
        end
        list[#list + 1] = ARGV[at + 1]
      end
    end
    at = at + SIZES[kind]
  end
  local found = {}
  for worker, list in pairs(ids) do
    local leases = {}
    for index, lease in ipairs(call('HMGET', leasesKey(worker), unpack(list))) do leases[list[index]] = lease end
    found[worker] = leases
  end
  return found
end

local function settleLease(at, kind, leases)
  local id, attempt = ARGV[at + 1], ARGV[at + 2]
  local token, worker = splitToken(ARGV[at + 3])
  local lease = worker and leases[worker][id]
  local itsToken, startedAt, taskKind, itsAttempt, untilAt
  if lease then itsToken, startedAt, taskKind, itsAttempt, untilAt = string.match(lease, '^(%S+) (%d+) (%a) (%d+) (%d+)') end
  if not lease or itsToken ~= token or itsAttempt ~= attempt then
    return refuseLease(kind == 'done' and 'succeeded' or kind, id, tonumber(attempt), token)
  end
  if kind == 'lost' and tonumber(untilAt) > now then return 'superseded renewed' end
  leases[worker][id] = false
  if kind == 'done' then return succeed(id, attempt, token, startedAt, taskKind == 'p', worker, nil) end
  if kind == 'succeeded' then return succeed(id, attempt, token, startedAt, taskKind == 'p', worker, ARGV[at + 4]) end
  if kind == 'released' then return release(id, tonumber(attempt), worker, ARGV[at + 4]) end
  return endBadly(id, tonumber(attempt), worker, parseEnding(at + 4, kind))
end

-- Settles what stands from ARGV[at] up to ARGV[last].
local function settle(at, last)
  local answers = {}
  local size = 0
  local leases = leasesNamed(at, last)
  while at <= last do
    local kind = ARGV[at]
    size = size + 1
    if kind == 'expired' then
      answers[size] = expire(ARGV[at + 1], tonumber(ARGV[at + 2]), parseEnding(at + 3, kind))
    else
      answers[size] = settleLease(at, kind, leases)
    end
    at = at + SIZES[kind]
  end
  countSuccesses()
  return answers
end
