-- A worker's health by what the store knows of it, and at a claim (see core's health.ts, which is the definition).

-- Where the parts stand of what is known by tenant: { tenant ('' for all beyond the first few), failures in a row, recent ones }, and
-- { tenant, when it was last served well }.
local TENANT, IN_ROW, RECENT, SERVED_AT = 1, 2, 3, 2

-- How many failures don't count: of one tenant all above `most`, if the worker served another one well lately.
local function excused(evidence, what, most)
  local sum = 0
  for _, failures in ipairs(evidence.failuresBy) do
    local isServing = false
    for _, served in ipairs(evidence.servedWell) do
      if served[TENANT] ~= failures[TENANT] and now - served[SERVED_AT] < SERVED_MS then isServing = true end
    end
    if isServing and failures[TENANT] ~= '' then sum = sum + math.max(failures[what] - most, 0) end
  end
  return sum
end

-- `inbox`: how much lies in its inbox, as far as that counts.
local function assess(evidence, limits, inbox)
  local unhealthy, degraded = false, false
  local function weigh(value, atDegraded, atUnhealthy)
    if value >= atUnhealthy then unhealthy = true elseif value >= atDegraded then degraded = true end
  end
  if now - evidence.lastBeatAt >= limits.heartbeatStaleMs then unhealthy = true end
  weigh(evidence.queueDepth + inbox, limits.depthDegraded, limits.depthUnhealthy)
  weigh(evidence.loopLagMs, limits.lagMsDegraded, limits.lagMsUnhealthy)
  weigh(evidence.probeFailures, limits.probesDegraded, limits.probesUnhealthy)
  if evidence.inFlight > 0 and evidence.maxQuietMs > 0 and now - evidence.lastProgressAt >= evidence.maxQuietMs + limits.stuckMs then
    unhealthy = true
  end
  if evidence.outlook then
    if string.find(evidence.outlook, CLAIMS_NOTHING, 1, true) == 1 then unhealthy = true else degraded = true end
  end
  local cooledDown = not evidence.lastFailureAt or now - evidence.lastFailureAt >= limits.cooldownMs
  local function weighFailures(isTooMuch, atDegraded, atUnhealthy)
    if isTooMuch(atUnhealthy) then
      if cooledDown then degraded = true else unhealthy = true end
    elseif isTooMuch(atDegraded) then
      degraded = true
    end
  end
  local inRow, recent, outcomes = evidence.consecutiveFailures, evidence.recentFailures, evidence.recentOutcomes
  weighFailures(function(limit)
    return inRow - excused(evidence, IN_ROW, math.ceil(limit / 2)) >= limit
  end, limits.failuresDegraded, limits.failuresUnhealthy)
  if outcomes >= limits.minOutcomes then
    weighFailures(function(limit)
      return (recent - excused(evidence, RECENT, (limit / 2) * outcomes)) / outcomes >= limit
    end, limits.failureRateDegraded, limits.failureRateUnhealthy)
  end
  return unhealthy and 'unhealthy' or degraded and 'degraded' or 'healthy'
end

-- It got something done, or out of its hands.
local function progressed(id)
  local worker = workerNamed(id)
  if not worker then return end
  worker.lastProgressAt = now
  worker.changed = true
end

-- What is known of a tenant's failures on the worker.
local function failuresOf(worker, tenant)
  local list = worker.failuresBy
  local rest
  for _, failures in ipairs(list) do
    if failures[TENANT] == tenant then return failures end
    if failures[TENANT] == '' then rest = failures end
  end
  if rest and #list >= FAILING_TENANTS_MAX then return rest end
  local failures = { #list < FAILING_TENANTS_MAX and tenant or '', 0, 0 }
  list[#list + 1] = failures
  return failures
end

local function serveWell(worker, tenant)
  local failing = {}
  for _, failures in ipairs(worker.failuresBy) do
    failures[IN_ROW] = 0
    if failures[RECENT] > 0 then failing[#failing + 1] = failures end
  end
  worker.failuresBy = failing
  local first = worker.servedWell[1]
  if first and first[TENANT] == tenant then
    first[SERVED_AT] = now
  else
    worker.servedWell = { { tenant, now }, first }
  end
end

-- So many more attempts of this worker, for tasks of the tenant, have ended, well or badly (see core's withOutcomes, which is
-- the definition).
local function witness(id, tenant, ok, count)
  local worker = workerNamed(id)
  if not worker then return end
  worker.changed = true
  count = count or 1
  local outcomes, failures = worker.recentOutcomes, worker.recentFailures
  for _ = 1, count do
    if outcomes >= RECENT_OUTCOMES_MAX then
      outcomes = math.floor(outcomes / 2)
      failures = math.floor(failures / 2)
      for _, one in ipairs(worker.failuresBy) do one[RECENT] = math.floor(one[RECENT] / 2) end
    end
    outcomes = outcomes + 1
    if not ok then
      failures = failures + 1
      local own = failuresOf(worker, tenant)
      own[IN_ROW], own[RECENT] = own[IN_ROW] + 1, own[RECENT] + 1
    end
  end
  if ok then serveWell(worker, tenant) end
  worker.recentOutcomes, worker.recentFailures = outcomes, failures
  worker.consecutiveFailures = ok and 0 or worker.consecutiveFailures + count
  if not ok then worker.lastFailureAt = now end
end

-- Asked when the worker is unhealthy because of its failures.
local function hasHelp(worker, limits)
  local served = rosterOf(worker).pools
  for _, id in ipairs(call('ZRANGE', key('workers'), 0, HELP_LOOK_MAX - 1)) do
    local other = id ~= worker.id and workerNamed(id)
    if other and assess(other, limits, inboxDepth(other)) ~= 'unhealthy' then
      for pool in pairs(rosterOf(other).pools) do
        if served[pool] then return true end
      end
    end
  end
  return false
end

-- Decoded once: callers give the same text again and again.
local thresholdsText, thresholds

local function parseThresholds(text)
  if text ~= thresholdsText then
    thresholds = cjson.decode(text)
    thresholdsText = text
  end
  return thresholds
end

-- How a claim treats this worker. A claim is a sign of life; and somebody must go on. What lies in its own inbox does not count:
-- it is what this claim takes first.
local function claimHealth(worker, limits)
  if not limits.enabled then return 'healthy' end
  local lastBeatAt = worker.lastBeatAt
  worker.lastBeatAt = now
  local status = assess(worker, limits, 0)
  if status == 'unhealthy' then
    local failures, outcomes = worker.consecutiveFailures, worker.recentOutcomes
    worker.consecutiveFailures, worker.recentOutcomes = 0, 0
    local isFaultless = assess(worker, limits, 0) ~= 'unhealthy'
    worker.consecutiveFailures, worker.recentOutcomes = failures, outcomes
    if isFaultless and not hasHelp(worker, limits) then status = 'degraded' end
  end
  worker.lastBeatAt = lastBeatAt
  return status
end
