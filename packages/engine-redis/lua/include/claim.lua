-- The claim: promotes what is due, then takes entries lane by lane in fair order, each under a lease.
-- It is given: CLAIM (its id is the request's, its stage the letter of the leases': see stages.lua), number of pools, pools, number
-- of actions (-1 for any), actions; in a store with several partitions also the worker's health, which is judged by what all of
-- them saw, and in every store 'any' if health does not matter for these actions: then only their tasks are collected. It answers { time, due or '', held back or '', versions of the pools (and of the inbox, if something was ever
-- assigned to the worker) and what blockedBy() says, draw and the
-- beginning that it belongs to (see base.lua), then per task: id, its text }. The n-th task is plain and its token is '<draw>-<n>.<lane>', unless a field '\n<token>\n<state or nothing>'
-- stands before its id. A repetition (same request id) of one of its worker's last claims answers with the same leases.

local function parseClaim(at)
  local request = { CLAIM.args(at), pools = {}, actions = false }
  request.limit, request.leaseMs = tonumber(request.limit), tonumber(request.leaseMs)
  at = at + #CLAIM
  for index = 1, tonumber(ARGV[at]) do request.pools[index] = ARGV[at + index] end
  at = at + tonumber(ARGV[at]) + 1
  local actionCount = tonumber(ARGV[at])
  if actionCount >= 0 then
    request.actions = {}
    for index = 1, actionCount do request.actions[index] = ARGV[at + index] end
    at = at + actionCount
  end
  request.health = ARGV[at + 1]
  request.isAny = request.health == 'any'
  if request.isAny then request.health = 'healthy' end
  return request
end

-- A worker has a few claims under way at once; each of its last four is remembered: request id and draw, the newest first.
local function drawnBefore(worker, request)
  local _, stop = string.find(' ' .. (worker.claim or ''), ' ' .. request .. ' ', 1, true)
  return stop and string.match(worker.claim, '^%d+', stop)
end

local function rememberClaim(worker, request, drawn)
  local before = worker.claim
  if before then before = string.match(before, '^%S+ %d+ %S+ %d+ %S+ %d+') or before end
  worker.claim = request .. ' ' .. drawn .. (before and ' ' .. before or '')
end

-- The leases a worker got by the claim whose answer was lost. They are renewed: that answer may be long past.
local function claimedBefore(request, drawn, claimed)
  local leases = call('HGETALL', leasesKey(request.worker))
  for index = 1, #leases, 2 do
    local id = leases[index]
    local lease = parseLease(leases[index + 1])
    if string.match(lease.token, '^%d+') == drawn then
      extend(lease, request.leaseMs, now - (lease.renewedAt or lease.startedAt))
      call('HSET', leasesKey(request.worker), id, leaseText(lease))
      local values = call('HMGET', taskKey(id), 'task', 'state')
      startedUnusually(claimed, id, lease.token, values[1], values[2] or '')
    end
  end
end

-- Answers the claim, or nil and why it is refused.
local function claim(request)
  local worker = workerNamed(request.worker)
  if not worker then return nil, 'unknown' end
  if worker.epoch ~= request.epoch then return nil, 'fenced' end
  local limits = parseThresholds(request.thresholds)
  local health = request.health or claimHealth(worker, limits)
  local limit = request.limit
  if health == 'unhealthy' then limit = 0 elseif health == 'degraded' then limit = math.min(limit, limits.maxDegradedClaim) end
  local nextProbe = exists('breakers') and tellTime()
  local isUnfinished = exists('unfinished') and continueLifting()
  local nextDue = promoteDue(request)
  if nextProbe and (not nextDue or nextProbe < nextDue) then nextDue = nextProbe end
  if isUnfinished then nextDue = now end
  local versions = {}
  for index, pool in ipairs(request.pools) do versions[index] = poolNamed(pool).version end
  if worker.assigned > 0 then versions[#versions + 1] = int(worker.assigned) end
  local claimed = {
    NOW, nextDue and int(nextDue) or '', health ~= 'healthy' and health or '', table.concat(versions, ' '), '',
  }
  local drawn = drawnBefore(worker, request.id)
  if drawn then
    claimedBefore(request, drawn, claimed)
    return claimed
  end
  if limit > 0 then
    for _, lane in ipairs(laneList) do flushActive(lane) end
    local starter, passed
    if request.stage == STAGE_LETTERS.run then
      beginAvoiding(worker, limits)
      if worker.inbox > 0 then starter = collectInbox(worker, request, limit, claimed) end
    end
    local left = limit - (starter and starter.count or 0)
    if left > 0 then
      local taking
      taking, passed = takeEntries(request, left, claimed, starter)
      starter = taking or starter
    end
    if passed and (not nextDue or passed < nextDue) then claimed[2] = int(passed) end
    if starter then
      claimed[5] = starter.draw .. ' ' .. starter.beginning
      -- As in beat.lua. There is no room for another name that both know.
      local failedAt = worker.lastFailureAt
      if failedAt and now - worker.lastBeatAt >= SILENCE_MS and failedAt > worker.lastBeatAt and failedAt > worker.lastProgressAt then
        worker.consecutiveFailures, worker.recentOutcomes, worker.recentFailures = 0, 0, 0
        worker.lastFailureAt, worker.failuresBy = false, {}
      end
      worker.lastBeatAt = now
      rememberClaim(worker, request.id, starter.draw)
      worker.changed = true
    end
  end
  return claimed
end
