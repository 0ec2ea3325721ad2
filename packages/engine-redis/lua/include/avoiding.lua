-- Avoiding: a retry goes to another worker than the one that failed it, or one like it, if it can (docs/engine-port.md says
-- when). An entry that a claim passes over stays what it is: it goes to the entries of its lane that come back under their
-- old rank, and other claims find it there.

local avoider, avoiderLimits, fleet, passedOver

atBegin(function()
  avoider, avoiderLimits, fleet, passedOver = false, false, false, {}
end)

-- The claim that follows is this worker's, and may avoid entries.
local function beginAvoiding(worker, limits)
  avoider, avoiderLimits = worker, limits
end

-- The other workers that are well.
local function others()
  if not fleet then
    fleet = {}
    for _, id in ipairs(call('ZRANGE', key('workers'), '0', int(FLEET_LOOK_MAX - 1))) do
      local other = id ~= avoider.id and workerNamed(id)
      if other and other.draining == 0 and assess(other, avoiderLimits, inboxDepth(other)) == 'healthy' then fleet[#fleet + 1] = other end
    end
  end
  return fleet
end

-- Who failed the task's last attempt, if that was in this generation; nil if nobody did.
local function failedOn(id, state)
  local record = call('HGET', taskKey(id), int(state.attempt))
  if not record then return nil end
  local status, _, _, workerJson = string.match(record, RECORD_PATTERN)
  if (status ~= 'failed' and status ~= 'lost') or workerJson == 'null' then return nil end
  local generation = select(6, string.match(record, RECORD_PATTERN .. ',"generation":(%d+)'))
  if (tonumber(generation) or 1) ~= state.generation then return nil end
  return cjson.decode('[' .. workerJson .. ']')[1]
end

local function likeness(worker, failed, failedRoster)
  if worker.id == failed then return 3 end
  if not failedRoster then return 0 end
  local roster = rosterOf(worker)
  return (roster.host == failedRoster.host and 1 or 0) + (roster.version == failedRoster.version and 1 or 0)
end

-- Whether the claim leaves this entry, which is not past its time, to other workers.
local function avoids(head, lane)
  local state = head.state
  if not avoider or not state or state.attempt == 0 or now >= state.since + AVOID_MS then return false end
  if #passedOver >= AVOIDED_MAX or #others() == 0 then return false end
  local failed = failedOn(head.id, state)
  if not failed then return false end
  local failedWorker = workerNamed(failed)
  local failedRoster = failedWorker and rosterOf(failedWorker)
  local own = likeness(avoider, failed, failedRoster)
  for _, other in ipairs(others()) do
    local roster = rosterOf(other)
    if roster.pools[lane.pool] and (not roster.actions or roster.actions[lane.action])
      and likeness(other, failed, failedRoster) < own then
      return true
    end
  end
  return false
end

local function passOver(head, entry)
  passedOver[#passedOver + 1] = { head = head, entry = entry, lane = head.source.lane, counts = false }
  head.source.lane.passes = true
end

-- The lane gave this entry, or nil: which of those that were passed over came before it.
local function countPassed(lane, chosen, takesOldest)
  for _, passed in ipairs(passedOver) do
    if passed.lane == lane then
      local head = passed.head
      local priority = head.source.priority
      local isSame = not chosen or takesOldest or priority == chosen.source.priority
      if not chosen or (isSame and head.rank < chosen.rank) or (not isSame and priority > chosen.source.priority) then
        passed.counts = true
      end
    end
  end
end

-- Puts back what was passed over, once the sources are closed. Answers when the first of it may be had by anybody.
local function returnPassed()
  local first
  for _, passed in ipairs(passedOver) do
    local head, lane = passed.head, passed.lane
    call('ZADD', returnedKey(lane, head.source.priority), int(head.rank), passed.entry)
    lane.returned = lane.returned + 1
    if not head.state.returned then
      head.state.returned = true
      call('HSET', taskKey(head.id), 'state', stateText(head.state))
      -- Whoever was woken for it may avoid it too.
      stir(lane)
    end
    local at = head.state.since + AVOID_MS
    if passed.counts and (not first or at < first) then first = at end
  end
  return first
end
