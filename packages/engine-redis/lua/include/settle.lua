-- Settling: each settlement takes effect or not by itself. Given one after the other, each as a record that begins with its kind:
--   from (SETTLE_FROM): what follows was claimed by that worker from that lane
--   done (SETTLE_DONE): so many tasks of that draw succeeded in their first attempt, without a result; after it per task: id,
--     '-' and its number in the draw
--   succeeded, failed, lost, released, expired (SETTLE_…): result and delayMs are '' for none; gone is '1' if the worker was seen to
--     be gone, so that the lease may still run
-- ENDING is how an attempt ended badly: decision is 'retry' or 'dead', tail that of the record, blames '1' if the failure blames the
-- worker, quota the retry quota ('' for none, see quotas.lua). `breakers` is how many breakers a failure counts for; if there are
-- any, OUTAGE follows (the decision to park), then a BREAKER_REF for each, with its settings in JSON. Answers in their order: a
-- number for so many in a row that succeeded, else per settlement 'settled <status>' with ' unseen' behind it if it says nothing about
-- anybody's health, 'repeated <status>' or 'superseded <why>'.

local workerParts

atBegin(function()
  workerParts = {}
end)

local function parseEnding(at, kind)
  local ending = { kind = kind, ENDING.args(at) }
  ending.delayMs, ending.blames = tonumber(ending.delayMs), ending.blames == '1'
  ending.quota, ending.quotaText = nil, ending.quota
  return ending
end

-- What a failure says about breakers, given from ARGV[at] on; nil if nothing.
local function parseOutage(at)
  local count = tonumber(ARGV[at])
  if count == 0 then return nil end
  at = at + 1
  local outage = { OUTAGE.args(at), refs = {} }
  at = at + #OUTAGE
  for index = 1, count do
    outage.refs[index] = { BREAKER_REF.args(at) }
    at = at + #BREAKER_REF
  end
  return outage
end

-- The same ending, but back to the queue without being charged.
local function parkInstead(ending, outage)
  ending.decision, ending.blames = 'park', false
  ending.reason, ending.sentence, ending.data, ending.tail = outage.reason, outage.sentence, outage.data, outage.tail
end

-- When a retry is due.
local function placeEnding(ending, lane)
  if ending.decision ~= 'retry' then return end
  ending.dueAt = now + ending.delayMs
  if ending.quotaText ~= '' then ending.dueAt, ending.quota = placeRetry(ending.quotaText, lane, ending.dueAt) end
end

local function supersede(kind, id, attempt, because, isKnown)
  if isKnown and (kind == 'succeeded' or kind == 'failed') then
    note('execution.superseded', id, attempt, ACTORS.caller, kind .. JOURNAL_REASONS.refused .. because,
      '{"kind":"' .. kind .. '","because":"' .. because .. '"}')
  end
  return 'superseded ' .. because
end

local AFTER = STATUS_AFTER

-- Where the task went when this record was written.
local function statusAfter(record)
  if statusOf(record) == 'succeeded' then return 'succeeded' end
  return AFTER[string.match(record, DECISION_PATTERN)]
end

-- It does not apply: either the very same call was made before, or somebody else was faster.
local function refuseLease(kind, id, attempt, token, isDeferred)
  local task = loadTask(id)
  local record = call('HGET', taskKey(id), int(attempt))
  if record then
    local status, _, itsToken = string.match(record, RECORD_PATTERN)
    if task and status == kind and itsToken == token then return 'repeated ' .. statusAfter(record) end
  end
  local because = becauseOf(task, attempt, record)
  if kind == 'released' and because == 'released' then return 'repeated ' .. (isDeferred and 'waiting' or 'queued') end
  return supersede(kind, id, attempt, because, task)
end

-- The bytes of a blank and of '0'.
local BLANK, ZERO = 32, 48

-- When the attempt under a lease started, as text.
local function startOf(lease)
  local start = string.sub(lease, 2, 14)
  return string.byte(start) == ZERO and int(tonumber(start)) or start
end

-- What records of this worker's attempts have between their token and their start, and behind that; also since when the worker is
-- registered. False if it is not.
local function workerPart(worker)
  local part = workerParts[worker]
  if part == nil then
    local known = workerNamed(worker)
    part = known and {
      before = '","worker":' .. cjson.encode(worker) .. ',"dispatchedAt":', after = known.build .. SUCCESS_TAIL, since = known.registeredAt,
    }
    workerParts[worker] = part
  end
  return part
end

-- The same for an attempt that started then. False also if the worker registered again since: that attempt is of another build,
-- which only its record tells.
local function workerPartAt(worker, startedAt)
  local part = workerPart(worker)
  return part and part.since <= startedAt and part
end

local function succeed(id, attempt, token, lease, origin, result)
  local itsKey = taskKey(id)
  local worker = origin.worker
  local isPlain = string.byte(lease) == PLAIN_BYTE
  local isNotified, state = false, nil
  local startedAt = tonumber(part(lease, 2, 14))
  local written = isPlain and result == '' and workerPartAt(worker, startedAt)
  if written then
    call('HSET', itsKey, '1', '{"status":"succeeded","attempt":1,"token":"' .. token .. written.before .. startOf(lease) .. written.after)
  else
    local values = call('HMGET', itsKey, attempt, 'state')
    local ending = endRecord(values[1], 'succeeded')
    if result ~= '' then ending = string.sub(ending, 1, -2) .. ',\n"result":' .. result .. '}' end
    if isPlain then
      call('HSET', itsKey, attempt, ending)
    else
      state = nextState(cjson.decode(values[2]), 'succeeded')
      isNotified = state.notify
      state.at = now
      state.deferrals = nil
      call('HSET', itsKey, attempt, ending, 'state', stateText(state))
    end
  end
  removeLease(worker, id)
  local lane = origin.lane or laneNumbered(tonumber(origin.laneText))
  origin.lane = lane
  lane.succeeding = (lane.succeeding or 0) + 1
  if #limitsOn(lane) > 0 then freeSlot(lane, startedAt) end
  if exists('breakers') then tellSuccess(lane, startedAt, 1) end
  ended(id)
  if state and state.retryReason then
    note('task.recovered', id, tonumber(attempt), ACTORS.worker .. worker, JOURNAL_REASONS.recovered, format('{"action":%s,"reason":%s,"generation":%d,"fingerprint":%s}', cjson.encode(lane.action), cjson.encode(state.retryReason), state.generation, state.diedOf and cjson.encode(state.diedOf) or 'null'))
  end
  if isNotified then
    note('task.succeeded', id, tonumber(attempt), ACTORS.worker .. worker, JOURNAL_REASONS.succeeded, '{"action":' .. cjson.encode(lane.action) .. '}')
  end
  if part(lease, 1, 1) == STAGE_LETTERS.launch then
    leaveStage(STAGE_LETTERS.launch, worker, id, lane)
    return 'settled succeeded unseen'
  end
  progressed(worker)
  witness(worker, lane.tenant, true)
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

local function endRunning(task, worker, startedAt)
  removeLease(worker, task.id)
  freeSlot(task.lane, startedAt)
  move(task.lane, 'running', nil)
end

-- Whether a worker registered again since then: what was lost before was not lost by it.
local function beganAnew(worker, startedAt)
  local registeredAt = tonumber(call('HGET', workerKey(worker), 'registeredAt'))
  return registeredAt and registeredAt > startedAt
end

-- Only what ran says something about its worker. It ends before breakers are told, who count what runs.
local function settleBadEnd(id, attempt, worker, ending, stage, outage, startedAt)
  local task = loadTask(id)
  endRunning(task, worker, startedAt)
  if outage and tellFailure(outage.refs, task.lane, startedAt) then parkInstead(ending, outage) end
  placeEnding(ending, task.lane)
  local record = attempt == 1 and task.first or call('HGET', taskKey(id), int(attempt))
  ending.actor = ending.kind == 'lost' and ACTORS.sweep or ACTORS.worker .. worker
  local isSeen = stage ~= STAGE_LETTERS.launch and not (ending.kind == 'lost' and beganAnew(worker, startedAt))
  if isSeen and ending.kind == 'failed' then progressed(worker) end
  if isSeen and (ending.kind == 'lost' or ending.blames) then witness(worker, task.lane.tenant, false) end
  local status = endExecution(task, attempt, ending)
  call('HSET', taskKey(id), int(attempt), endRecord(record, ending.kind, ending.tail), 'state', stateText(task.state))
  return 'settled ' .. status .. (isSeen and '' or ' unseen')
end

-- To be tried later: from the delay queue. Why there is another attempt stays what it was.
local function defer(task, delayMs, reason)
  local state = nextState(task.state, 'waiting')
  state.deferrals = (state.deferrals or 0) + 1
  state.since = now
  state.dueAt = now + delayMs
  state.reason = reason
  task.state = state
  saveState(task)
  call('ZADD', key('waiting:' .. task.lane.pool), int(state.dueAt), waitingMember(task))
  move(task.lane, nil, 'waiting')
end

local function release(id, attempt, worker, given, stage, startedAt)
  local task = loadTask(id)
  endRunning(task, worker, startedAt)
  if stage == STAGE_LETTERS.run or stage == PLAIN then progressed(worker) end
  task.state.attempt = attempt - 1
  call('HDEL', taskKey(id), int(attempt))
  call('HDEL', logKey(id), int(attempt))
  local delayMs = tonumber(given.delayMs)
  if delayMs then defer(task, delayMs, given.waitReason) else enqueue(task, true) end
  stir(task.lane)
  note('execution.released', id, attempt, ACTORS.worker .. worker, given.reason, '{}')
  return 'settled ' .. task.state.status
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
  local record = runningRecord(int(attempt), token, 'null', recordExtra(task.state.generation, task.state.retryReason, ''))
  ending.actor = ACTORS.sweep
  placeEnding(ending, task.lane)
  local status = endExecution(task, attempt, ending)
  call('HSET', taskKey(id), int(attempt), endRecord(record, 'failed', ending.tail), 'state', stateText(task.state))
  return 'settled ' .. status
end

local SIZES = {
  from = #SETTLE_FROM, succeeded = #SETTLE_SUCCEEDED, released = #SETTLE_RELEASED, failed = #SETTLE_FAILED, lost = #SETTLE_LOST,
  expired = #SETTLE_EXPIRED,
}

local function sizeAt(at)
  local kind = ARGV[at]
  local breakers = kind == 'failed' and tonumber(ARGV[at + SETTLE_FAILED_AT.breakers]) or 0
  if breakers > 0 then return SIZES.failed + #OUTAGE + #BREAKER_REF * breakers end
  return SIZES[kind] or #SETTLE_DONE + 2 * tonumber(ARGV[at + SETTLE_DONE_AT.count])
end

-- The leases that the settlements from ARGV[at] to ARGV[last] name, by worker and task.
local function leasesNamed(at, last)
  local ids = {}
  local list
  while at <= last do
    local kind = ARGV[at]
    if kind == 'from' then
      local worker = ARGV[at + SETTLE_FROM_AT.worker]
      list = ids[worker] or {}
      ids[worker] = list
    elseif kind == 'done' then
      local args, size, before = ARGV, #list, at + SETTLE_DONE_AT.count - 1
      for index = 1, tonumber(args[before + 1]) do list[size + index] = args[before + index * 2] end
    elseif kind ~= 'expired' then
      list[#list + 1] = ARGV[at + SETTLE_LOST_AT.id]
    end
    at = at + sizeAt(at)
  end
  local found = {}
  for worker, names in pairs(ids) do
    local leases = {}
    for index, lease in ipairs(call('HMGET', leasesKey(worker), unpack(names))) do leases[names[index]] = lease end
    found[worker] = leases
  end
  return found
end

-- Whether a lease is the one of this attempt under this token. It is compared by position: see leases.lua.
local function isLease(lease, attempt, token)
  local stop = 16 + #token
  if part(lease, 16, stop - 1) ~= token or byteAt(lease, stop) ~= BLANK then return false end
  if byteAt(lease) == PLAIN_BYTE then return attempt == '1' end
  return string.match(lease, '^%d+', stop + 1) == attempt
end

-- A lease in the stage of a dispatcher or an inbox: nothing of it has begun, so it can only be undone.
local function isUnbegun(lease)
  local kind = byteAt(lease)
  return kind == STAGE_BYTES.dispatch or kind == STAGE_BYTES.inbox
end

local function settleLease(at, kind, origin)
  local id, attempt, token = ARGV[at + SETTLE_LOST_AT.id], ARGV[at + SETTLE_LOST_AT.attempt], ARGV[at + SETTLE_LOST_AT.token]
  local lease = origin.leases[id]
  if not lease or not isLease(lease, attempt, token) then
    return refuseLease(kind, id, tonumber(attempt), token, kind == 'released' and ARGV[at + SETTLE_RELEASED_AT.delayMs] ~= '')
  end
  if kind ~= 'released' and isUnbegun(lease) then return supersede(kind, id, tonumber(attempt), 'replaced', true) end
  if kind == 'lost' and ARGV[at + SETTLE_LOST_AT.gone] == '' and parseLease(lease).untilAt > now then return 'superseded renewed' end
  origin.leases[id] = false
  if kind == 'succeeded' then return succeed(id, attempt, token, lease, origin, ARGV[at + SETTLE_SUCCEEDED_AT.result]) end
  local stage = part(lease, 1, 1)
  if byteAt(lease) ~= PLAIN_BYTE then leaveStage(stage, origin.worker, id, laneNumbered(tonumber(origin.laneText))) end
  local startedAt = tonumber(part(lease, 2, 14))
  if kind == 'released' then
    return release(id, tonumber(attempt), origin.worker, { SETTLE_RELEASED.args(at) }, stage, startedAt)
  end
  local outage = kind == 'failed' and parseOutage(at + SETTLE_FAILED_AT.breakers) or nil
  return settleBadEnd(id, tonumber(attempt), origin.worker, parseEnding(at + SETTLE_LOST_AT.decision, kind), stage, outage, startedAt)
end

-- The tasks of a 'done': nearly all there are, on a good day. It is succeed() for a plain task, written out, unless the start has
-- fewer digits than is usual, the worker is not known any more, or its breakers are not all closed.
local function settleDone(at, origin, answers)
  local args, leases, worker = ARGV, origin.leases, origin.worker
  local find, draw, suffix = string.find, args[at + SETTLE_DONE_AT.draw], '.' .. origin.laneText
  local first = at + #SETTLE_DONE
  -- All tasks of a draw started at the same moment, so that plain leases and records differ in nothing but their tokens.
  local start = leases[args[first]] and part(leases[args[first]], 2, 14)
  local written = start and byteAt(start) ~= ZERO and workerPartAt(worker, tonumber(start))
  local leaseHead = written and PLAIN .. start .. ' '
  local recordHead, recordTail = '{"status":"succeeded","attempt":1,"token":"', written and written.before .. start .. written.after
  local removed = leaseChange(worker).removed
  local removedSize, size, successes, inRow = #removed, #answers, 0, 0
  local isWatched, hasBreakers = exists('watched'), exists('breakers')
  local lane, isTold
  for index = first, first + 2 * tonumber(args[at + SETTLE_DONE_AT.count]) - 1, 2 do
    local id = args[index]
    local token = draw .. args[index + 1] .. suffix
    local lease = leases[id]
    local isPlain = lease and leaseHead and find(lease, leaseHead .. token .. ' ', 1, true) == 1
    local isHeld = isPlain or lease and isLease(lease, '1', token)
    local answer = 1
    -- Not before a lease has shown that the lane is the right one. Breakers that are not closed hear of each success.
    if isHeld and not lane then
      lane = laneNumbered(tonumber(origin.laneText))
      isTold = hasBreakers and not select(2, breakersOn(lane))
    end
    if not isHeld then
      answer = refuseLease('succeeded', id, 1, token)
    elseif isTold or not isPlain then
      leases[id] = isUnbegun(lease) and lease
      answer = leases[id] and supersede('succeeded', id, 1, 'replaced', true) or succeed(id, '1', token, lease, origin, '')
      removedSize = #removed
    else
      leases[id] = false
      call('HSET', TASK_PREFIX .. id, '1', recordHead .. token .. recordTail)
      removedSize, successes = removedSize + 1, successes + 1
      removed[removedSize] = id
      if isWatched then ended(id) end
    end
    if answer == 1 then
      inRow = inRow + 1
      answers[size + 1] = inRow
    else
      if inRow > 0 then size, inRow = size + 1, 0 end
      size = size + 1
      answers[size] = answer
    end
  end
  if successes == 0 then return end
  lane.succeeding = (lane.succeeding or 0) + successes
  if #limitsOn(lane) > 0 then
    -- While all breakers are closed, all limits count whatever runs.
    for _ = 1, successes do freeSlot(lane, now) end
  end
  if hasBreakers then tellSuccess(lane, now, successes) end
  progressed(worker)
  witness(worker, lane.tenant, true, successes)
end

-- Settles what stands from ARGV[at] up to ARGV[last].
local function settle(at, last)
  local answers = {}
  local leases = leasesNamed(at, last)
  local origin
  while at <= last do
    local kind = ARGV[at]
    if kind == 'from' then
      local worker, laneText = ARGV[at + SETTLE_FROM_AT.worker], ARGV[at + SETTLE_FROM_AT.lane]
      origin = { worker = worker, laneText = laneText, lane = false, leases = leases[worker] }
    elseif kind == 'done' then
      settleDone(at, origin, answers)
    elseif kind == 'expired' then
      answers[#answers + 1] = expire(ARGV[at + SETTLE_EXPIRED_AT.id], tonumber(ARGV[at + SETTLE_EXPIRED_AT.attempt]), parseEnding(at + SETTLE_EXPIRED_AT.decision, kind))
    else
      answers[#answers + 1] = settleLease(at, kind, origin)
    end
    at = at + sizeAt(at)
  end
  countSuccesses()
  return answers
end
