#!lua flags=allow-oom
-- change: redrives, discards, cancels, promotes or reverts tasks: those named, as they are listed, or those of a scope, in order of
-- acceptance. Tasks in another status are passed over. It looks at a bounded number of tasks, and at a bounded size of them.
-- ARGV: time, request id, kind, actor, reason, limit, then either 'ids' and the ids, or 'all', the seq after which to
--   begin, scope (3), fingerprint ('' for any, else '=' and the fingerprint), or 'fenced' and, for each id, the id and the
--   generation that the task must still be in.
-- Answers { where to go on or '' when nothing is left to look at, then the ids of what was changed }. Where to go on: the
-- number of ids looked at, or a seq.
-- Nothing can be refused; a call that changed something answers its repetition (same request id) alike.

-- @once
-- @include base answers lanes tasks queue limits wake journal leases stages endings operators order scope

local CHUNKS_MAX = 64
local LOOK_MAX = 2000
local BYTES_MAX = 8000000

local kind, actor, reason, limit = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])

local changed = {}
local bytes = 0

local function isEnough()
  return #changed == limit or bytes >= BYTES_MAX
end

local function finish(task, status)
  local state = nextState(task.state, status)
  state.at = now
  task.state = state
  saveState(task)
  ended(task.id)
end

local function cancelRunning(task)
  local attempt = int(task.state.attempt)
  local record = call('HGET', taskKey(task.id), attempt)
  local _, _, _, workerJson, startedAt = string.match(record, RECORD_PATTERN)
  call('HSET', taskKey(task.id), attempt, endRecord(record, 'cancelled'))
  local worker = cjson.decode('[' .. workerJson .. ']')[1]
  local lease = call('HGET', leasesKey(worker), task.id)
  if lease then leaveStage(string.sub(lease, 1, 1), worker, task.id, task.lane) end
  removeLease(worker, task.id)
  freeSlot(task.lane, tonumber(startedAt))
end

local CHANGES = {
  redrive = function(task)
    local state = task.state
    state.generation = state.generation + 1
    state.before = state.attempt
    state.failures = 0
    state.losses = 0
    state.deferrals = nil
    state.parks = nil
    state.policy = nil
    state.retryReason = 'manual'
    requeue(task)
    noteTask('task.redriven', task, actor, reason, '{"generation":' .. int(state.generation) .. keyNote(task) .. '}')
  end,
  discard = function(task)
    leave(task)
    move(task.lane, 'dead', 'discarded')
    finish(task, 'discarded')
    noteTask('task.discarded', task, actor, reason, '{"fingerprint":' .. cjson.encode(task.state.diedOf) .. '}')
  end,
  cancel = function(task)
    local from = task.state.status
    if from == 'running' then cancelRunning(task)
    elseif from == 'waiting' then leave(task)
    else dequeue(task) end
    move(task.lane, from, 'cancelled')
    tally(task.lane, 'cancelled')
    finish(task, 'cancelled')
    local diedOf = task.state.diedOf and ',"diedOf":' .. cjson.encode(task.state.diedOf) or ''
    noteTask('task.cancelled', task, actor, reason, '{"from":"' .. from .. '"' .. diedOf .. '}')
  end,
  promote = function(task)
    requeue(task)
    noteTask('task.promoted', task, actor, reason, '{}')
  end,
  revert = function(task)
    local state = task.state
    local from = state.status
    local last = cjson.decode(call('HGET', taskKey(task.id), int(state.attempt)))
    if from == 'waiting' then leave(task) elseif from == 'queued' then dequeue(task) end
    move(task.lane, from, 'dead')
    local dead = nextState(state, 'dead')
    dead.at = last.resolvedAt
    dead.reason = last.decision.reason
    dead.fingerprint = last.failure.fingerprint
    dead.retryReason = nil
    task.state = dead
    rejoinGroup(task, dead.fingerprint)
    saveState(task)
    ended(task.id)
    noteTask('task.reverted', task, actor, reason, '{"from":"' .. from .. '","fingerprint":' .. cjson.encode(dead.fingerprint) .. '}')
  end,
}

local FROM = {
  redrive = { dead = true },
  discard = { dead = true },
  cancel = { queued = true, waiting = true, running = true },
  promote = { waiting = true },
  revert = { queued = true, waiting = true, discarded = true },
}

local change = CHANGES[kind]
local applies = FROM[kind]

-- Whether there is a redrive or a discard to take back: the task has not started since, and its last attempt ended it.
local function canRevert(task)
  local state = task.state
  if state.status ~= 'discarded' and (state.generation == 1 or state.attempt ~= state.before) then return false end
  local record = call('HGET', taskKey(task.id), int(state.attempt))
  return record and string.match(record, DECISION_PATTERN) == 'dead'
end

local function look(id)
  local task = loadTask(id)
  if task then bytes = bytes + #task.text + (task.first and #task.first or 0) end
  return task
end

local function changeIfApplies(task)
  if not applies[task.state.status] then return end
  if kind == 'revert' and not canRevert(task) then return end
  change(task)
  changed[#changed + 1] = task.id
end

local function goOverIds(first)
  for at = first, #ARGV do
    local task = look(ARGV[at])
    if task then changeIfApplies(task) end
    if isEnough() and at < #ARGV then return at - first + 1 end
  end
  return nil
end

local function goOverFenced(first)
  for at = first, #ARGV, 2 do
    local task = look(ARGV[at])
    if task and task.state.generation == tonumber(ARGV[at + 1]) then changeIfApplies(task) end
    if isEnough() and at + 1 < #ARGV then return (at - first) / 2 + 1 end
  end
  return nil
end

-- Dead letters have an index of their own, and one for each fingerprint.
local function goOverDead(after, scope, fingerprint)
  local most = scope.isAll and limit + 1 or LOOK_MAX
  local index = key(fingerprint == '' and 'dead' or 'dead:' .. string.sub(fingerprint, 2))
  local page = call('ZRANGE', index, '(' .. int(after), '+inf', 'BYSCORE', 'LIMIT', 0, most, 'WITHSCORES')
  for at = 1, #page, 2 do
    local task = look(page[at])
    if task and covers(scope, int(task.head.lane)) then changeIfApplies(task) end
    if isEnough() and at + 1 < #page then return tonumber(page[at + 1]) end
  end
  return #page == most * 2 and tonumber(page[#page]) or nil
end

-- Looks at what is small first: most tasks of a long history have ended.
local function statusBefore(id)
  local values = call('HMGET', taskKey(id), 'state', '1')
  if values[1] then return statusOf(values[1]) end
  if not values[2] then return 'queued' end
  bytes = bytes + #values[2]
  return statusOf(values[2])
end

local function goOverAll(after, scope)
  local partial = math.floor(after / CHUNK)
  local chunks = call('ZRANGE', key('order'), int(partial), '+inf', 'BYSCORE', 'LIMIT', 0, CHUNKS_MAX)
  local looked = 0
  for index, member in ipairs(chunks) do
    local chunk = tonumber(member)
    local isLast = index == #chunks and #chunks < CHUNKS_MAX
    local ids = call('LRANGE', orderKey(chunk), 0, -1)
    for at = chunk == partial and placeAfter(ids, after) or 1, #ids do
      local task = applies[statusBefore(ids[at])] and look(ids[at])
      if task and covers(scope, int(task.head.lane)) then changeIfApplies(task) end
      if isEnough() and not (isLast and at == #ids) then return seqOf(textOf(ids[at])) end
    end
    looked = looked + #ids
    if not isLast and (looked >= LOOK_MAX or index == CHUNKS_MAX) then return chunk * CHUNK + CHUNK - 1 end
  end
  return nil
end

local goOnAt
if ARGV[7] == 'ids' then
  goOnAt = goOverIds(8)
elseif ARGV[7] == 'fenced' then
  goOnAt = goOverFenced(8)
elseif kind == 'redrive' or kind == 'discard' then
  goOnAt = goOverDead(tonumber(ARGV[8]), parseScope(9), ARGV[12])
else
  goOnAt = goOverAll(tonumber(ARGV[8]), parseScope(9))
end

local answer = { goOnAt and int(goOnAt) or '', unpack(changed) }
flushOperators()
flushLimits()
flushLeases()
flushLanes()
flushWake()
return answer, #changed > 0
