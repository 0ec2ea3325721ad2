-- How attempts end badly, and what is told about attempts that have ended: shared by settling and by renewing.

-- Why a lease of this attempt is not held any more. `record` is the attempt's, if there is one.
local function becauseOf(task, attempt, record)
  if not task then return 'unknown' end
  local status = record and statusOf(record)
  if status and status ~= 'running' then return status end
  if status == 'running' then return 'replaced' end
  return task.state.attempt < attempt and 'released' or 'unknown'
end

local function groupKey(fingerprint)
  return key('group:' .. fingerprint)
end

-- One more dead letter in a failure group, or some less. Groups are listed by (last death, creation) while they have any.
local function joinGroup(task, fingerprint, sample)
  local number = call('HGET', groupKey(fingerprint), 'number')
  if not number then
    number = int(call('HINCRBY', NUMBERS, 'groups', 1))
    call('HSET', groupKey(fingerprint), 'number', number, 'action', task.lane.action, 'firstAt', int(now))
  end
  call('HSET', groupKey(fingerprint), 'lastAt', int(now), 'lastTask', task.id, 'sample', sample)
  call('ZADD', key('groups'), int(now), string.format('%016d', tonumber(number)) .. fingerprint)
  call('ZADD', key('dead:' .. fingerprint), int(task.head.seq), task.id)
  call('ZADD', key('dead'), int(task.head.seq), task.id)
end

-- A dead letter comes back to its group, which was there before: when it last grew stays as it was.
local function rejoinGroup(task, fingerprint)
  local group = call('HMGET', groupKey(fingerprint), 'number', 'lastAt')
  call('ZADD', key('groups'), group[2], string.format('%016d', tonumber(group[1])) .. fingerprint)
  call('ZADD', key('dead:' .. fingerprint), int(task.head.seq), task.id)
  call('ZADD', key('dead'), int(task.head.seq), task.id)
end

local function leaveGroup(fingerprint, ids)
  call('ZREM', key('dead'), unpack(ids))
  call('ZREM', key('dead:' .. fingerprint), unpack(ids))
  if call('ZCARD', key('dead:' .. fingerprint)) == 0 then
    local number = tonumber(call('HGET', groupKey(fingerprint), 'number'))
    call('ZREM', key('groups'), string.format('%016d', number) .. fingerprint)
  end
end

-- Ends an attempt badly: its task goes where the decision says. `ending` has: kind ('failed', 'lost' or 'expired'),
-- decision ('retry', 'park' or 'dead'), dueAt and quota (of a retry), reason, fingerprint, sentence, data (JSON without its last brace; the action is added), tail (of the
-- record: what went wrong), actor. The attempt's record has been written; counters of the status before are the caller's.
local function endExecution(task, attempt, ending)
  local lane = task.lane
  local state = nextState(task.state, ending.decision == 'dead' and 'dead' or 'waiting')
  local isLost = ending.kind == 'lost'
  local isParked = ending.decision == 'park'
  if isParked then state.parks = (state.parks or 0) + 1
  elseif isLost then state.losses = state.losses + 1 else state.failures = state.failures + 1 end
  state.attempt = attempt
  if ending.kind ~= 'expired' then state.deferrals = nil end
  tally(lane, isLost and 'lost' or 'failed')
  local dueAt = 'null'
  if ending.decision == 'dead' then
    state.at = now
    state.reason = ending.reason
    state.fingerprint = ending.fingerprint
    state.retryReason = nil
    joinGroup(task, ending.fingerprint, ending.tail)
    tally(lane, 'dead')
    move(lane, nil, 'dead')
    ended(task.id)
  elseif isParked then
    state.retryReason = ending.reason
    task.state = state
    enqueue(task, false)
    -- Also where a hold keeps it: whoever looks learns when the breaker lets probes through.
    stir(lane)
    state = task.state
  else
    state.since = now
    state.dueAt = ending.dueAt
    state.quota = ending.quota
    state.reason = ending.reason
    state.retryReason = ending.reason
    dueAt = int(state.dueAt)
    call('ZADD', key('waiting:' .. lane.pool), dueAt, waitingMember(task))
    tally(lane, 'retried')
    move(lane, nil, 'waiting')
    stir(lane)
  end
  task.state = state
  local data = ending.data .. ',"action":' .. cjson.encode(lane.action)
  local diedOf = state.status == 'dead' and state.diedOf and ',"diedOf":' .. cjson.encode(state.diedOf) or ''
  note('execution.' .. ending.kind, task.id, attempt, ending.actor, ending.sentence, data .. ',"dueAt":' .. dueAt .. diedOf .. '}')
  if state.status == 'dead' and task.profile.notify then note('task.dead', task.id, attempt, ending.actor, ending.sentence, data .. '}') end
  return state.status
end
