-- A worker's health by what the store knows of it, and at a claim (see core's health.ts, which is the definition).

local function assess(evidence, limits)
  local unhealthy, degraded = false, false
  local function weigh(value, atDegraded, atUnhealthy)
    if value >= atUnhealthy then unhealthy = true elseif value >= atDegraded then degraded = true end
  end
  if now - evidence.lastBeatAt >= limits.heartbeatStaleMs then unhealthy = true end
  weigh(evidence.queueDepth, limits.depthDegraded, limits.depthUnhealthy)
  weigh(evidence.loopLagMs, limits.lagMsDegraded, limits.lagMsUnhealthy)
  weigh(evidence.probeFailures, limits.probesDegraded, limits.probesUnhealthy)
  if evidence.inFlight > 0 and evidence.quietMsMax > 0 and now - evidence.lastProgressAt >= evidence.quietMsMax + limits.stuckMs then
    unhealthy = true
  end
  if evidence.outlook then degraded = true end
  local cooledDown = not evidence.lastFailureAt or now - evidence.lastFailureAt >= limits.cooldownMs
  local function weighFailures(value, atDegraded, atUnhealthy)
    if value >= atUnhealthy then
      if cooledDown then degraded = true else unhealthy = true end
    elseif value >= atDegraded then
      degraded = true
    end
  end
  weighFailures(evidence.consecutiveFailures, limits.failuresDegraded, limits.failuresUnhealthy)
  if evidence.recentOutcomes >= limits.outcomesMin then
    weighFailures(evidence.recentFailures / evidence.recentOutcomes, limits.failureRateDegraded, limits.failureRateUnhealthy)
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

-- So many more attempts of this worker have ended, well or badly (see core's withOutcomes, which is the definition).
local function witness(id, ok, count)
  local worker = workerNamed(id)
  if not worker then return end
  worker.changed = true
  count = count or 1
  local outcomes, failures = worker.recentOutcomes, worker.recentFailures
  for _ = 1, count do
    if outcomes >= RECENT_OUTCOMES_MAX then
      outcomes = math.floor(outcomes / 2)
      failures = math.floor(failures / 2)
    end
    outcomes = outcomes + 1
    if not ok then failures = failures + 1 end
  end
  worker.recentOutcomes, worker.recentFailures = outcomes, failures
  worker.consecutiveFailures = ok and 0 or worker.consecutiveFailures + count
  if not ok then worker.lastFailureAt = now end
end

-- Asked when the worker is unhealthy because of its failures.
local function hasHelp(worker, limits)
  local served = rosterOf(worker).pools
  for _, id in ipairs(call('ZRANGE', key('workers'), 0, HELP_LOOK_MAX - 1)) do
    local other = id ~= worker.id and workerNamed(id)
    if other and assess(other, limits) ~= 'unhealthy' then
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

-- How a claim treats this worker. A claim is a sign of life; and somebody must go on.
local function claimHealth(worker, limits)
  local lastBeatAt = worker.lastBeatAt
  worker.lastBeatAt = now
  local status = assess(worker, limits)
  if status == 'unhealthy' then
    local failures, outcomes = worker.consecutiveFailures, worker.recentOutcomes
    worker.consecutiveFailures, worker.recentOutcomes = 0, 0
    local isFaultless = assess(worker, limits) ~= 'unhealthy'
    worker.consecutiveFailures, worker.recentOutcomes = failures, outcomes
    if isFaultless and not hasHelp(worker, limits) then status = 'degraded' end
  end
  worker.lastBeatAt = lastBeatAt
  return status
end
