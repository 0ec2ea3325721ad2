-- What operators do to tasks: shared by changes, an operator's retry and a reservation. Many tasks at once are the
-- rule here, so what can be written for all of them together is collected, and written by flushOperators().

local left, requeued, notes, ranks

atBegin(function()
  left, requeued, notes, ranks = { dead = {}, waiting = {} }, {}, {}, { next = 1, last = 0, block = 1 }
end)

local RANK_BLOCK_MAX = 256

-- Ranks are drawn in blocks, each larger than the one before. What is left over at the end stays unused.
local function nextRank()
  if ranks.next > ranks.last then
    ranks.last = draw(ranks.block)
    ranks.next = ranks.last - ranks.block + 1
    ranks.block = math.min(ranks.block * 2, RANK_BLOCK_MAX)
  end
  ranks.next = ranks.next + 1
  return ranks.next - 1
end

local function collect(lists, name, item)
  local list = lists[name]
  if not list then
    list = {}
    lists[name] = list
  end
  list[#list + 1] = item
end

-- Takes a task out of the dead letters, or out of the delay queue.
local function leave(task)
  local state = task.state
  if state.status == 'dead' then
    collect(left.dead, state.fingerprint, task.id)
  else
    collect(left.waiting, task.lane.pool, waitingMember(task))
  end
end

-- From the dead letters, or from the delay queue, to the end of its lane's queue: see enqueue().
local function requeue(task)
  local lane = task.lane
  leave(task)
  restock(lane)
  move(lane, task.state.status, 'queued')
  if lane.ready == 0 then catchUp(lane) end
  local state = nextState(task.state, 'queued')
  state.rank = nextRank()
  state.since = now
  local ttlMs = task.profile.queueTtlMs
  if ttlMs and ttlMs ~= cjson.null then state.expires = laneTime(lane) + ttlMs end
  task.state = state
  local deadlineAt = deadlineOf(task)
  local entry = entryText(state.rank, task.profile.timeoutMs, state.expires, deadlineAt, STAGE_LETTERS.run, task.id)
  collect(requeued, queueKey(lane, task.priority), entry)
  local slot = SLOTS[task.priority]
  lane[slot] = lane[slot] + 1
  lane.ready = lane.ready + 1
  watchTimes(lane, task.id, state.expires, deadlineAt)
  saveState(task)
  stir(lane)
end

-- Whether it goes on without its dedupe key, because another task has taken that.
local function keyNote(task)
  return task.state.keyLost and ',"withoutKey":true' or ''
end

local function noteTask(kind, task, actor, reason, data)
  local attempt = task.state.attempt
  notes[#notes + 1] = { kind = kind, id = task.id, attempt = attempt > 0 and attempt, actor = actor, reason = reason, data = data }
end

-- Before the other flushes.
local function flushOperators()
  for fingerprint, ids in pairs(left.dead) do leaveGroup(fingerprint, ids) end
  for pool, members in pairs(left.waiting) do call('ZREM', key('waiting:' .. pool), unpack(members)) end
  for queue, entries in pairs(requeued) do call('RPUSH', queue, unpack(entries)) end
  if #notes == 0 then return end
  local number = call('HINCRBY', NUMBERS, 'journal', #notes) - #notes
  for index, item in ipairs(notes) do
    writeNote(number + index, item.kind, item.id, item.attempt, item.actor, item.reason, item.data)
  end
end

-- Retries that an operator may ask for: see core's operatorRetries, which is the definition.
local function operatorRetries(profile, maxRetries)
  local allowed = profile.maxRetries
  if not allowed or allowed == cjson.null then allowed = 0 end
  return math.max(allowed, maxRetries)
end
