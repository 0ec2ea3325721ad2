-- The stages of a lease besides `run`. What a lease begins with tells its stage: p and s run (see leases.lua), d is with a
-- dispatcher, i lies in a worker's inbox, l is a launcher's; the tasks of these three have a stored state. What lies in an
-- inbox is also noted there, in the order of assignment, and its worker among the inboxes, by a time not later than its last
-- heartbeat. What was launched is noted under its pool; the sweep's set of workers does not know it.

local function launchesKey(pool)
  return key('launches:' .. pool)
end

local function isUnderWay(lease)
  return lease.kind == STAGE_LETTERS.dispatch or lease.kind == STAGE_LETTERS.inbox
end

-- The lease lasts so much longer from now on. `missedMs` of its time nobody could renew it: they do not count as run.
local function extend(lease, leaseMs, missedMs)
  local untilAt = now + leaseMs
  if not isUnderWay(lease) then
    lease.timeoutAt = lease.timeoutAt + missedMs
    untilAt = math.min(untilAt, lease.timeoutAt + TIMEOUT_GRACE_MS)
  end
  lease.untilAt = math.max(lease.untilAt, untilAt)
  lease.renewedAt = now
end

local function enterLaunches(pool, id)
  if call('ZADD', launchesKey(pool), '0', id) == 1 then call('SADD', key('launching'), pool) end
end

local function enterInbox(worker, id, number)
  call('ZADD', inboxKey(worker.id), number, id)
  call('ZADD', key('inboxes'), 'NX', int(worker.lastBeatAt), worker.id)
  worker.inbox = 1
  worker.assigned = number
  worker.changed = true
end

local function leaveInbox(worker, id)
  call('ZREM', inboxKey(worker), id)
  if call('EXISTS', inboxKey(worker)) == 0 then call('ZREM', key('inboxes'), worker) end
end

-- A lease of this kind ends.
local function leaveStage(kind, worker, id, lane)
  if kind == STAGE_LETTERS.inbox then
    leaveInbox(worker, id)
  elseif kind == STAGE_LETTERS.launch then
    call('ZREM', launchesKey(lane.pool), id)
    if call('EXISTS', launchesKey(lane.pool)) == 0 then call('SREM', key('launching'), lane.pool) end
  end
end

-- The record of a running attempt with another token, worker (JSON) and start; nil leaves the last two as they are. `build` is
-- that of a worker which gets it, '' if it stays where it is.
local function rewritten(record, token, workerJson, startedAt, build)
  local attempt, worker, start, rest =
    string.match(record, '^{"status":"running","attempt":(%d+),"token":"[^"]*","worker":(.-),"dispatchedAt":(%d+)(.*)$')
  return '{"status":"running","attempt":' .. attempt .. ',"token":"' .. token .. '","worker":' .. (workerJson or worker)
    .. ',"dispatchedAt":' .. (startedAt and int(startedAt) or start) .. string.sub(rest, 1, -#RUNNING_TAIL - 1) .. build
    .. RUNNING_TAIL
end

-- Begins an attempt of a task, wherever it stood, and opens its lease. Answers the token as records keep it.
local function startAttempt(task, worker, workerJson, leaseMs, stage)
  local build = stage == STAGE_LETTERS.run and call('HGET', key('worker:' .. worker), 'build') or ''
  local state = nextState(task.state, 'running')
  state.attempt = state.attempt + 1
  task.state = state
  local token = int(draw(1)) .. '-0.' .. int(task.lane.number)
  local attempt = int(state.attempt)
  local record = runningRecord(attempt, token, workerJson, recordExtra(state.generation, state.retryReason, build))
  call('HSET', taskKey(task.id), attempt, record, 'state', stateText(state))
  local change = leaseChange(worker)
  local start, untilAt = leaseStart(task.profile.timeoutMs, leaseMs, attempt, stage)
  if stage == STAGE_LETTERS.launch then enterLaunches(task.lane.pool, task.id) else startsAt(change, untilAt) end
  addLease(change, task.id, stage, token, start)
  return token
end
