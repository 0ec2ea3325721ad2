-- A worker's health at a claim, by the evidence (see core's health.ts, which is the definition).

local function assess(evidence, limits)
  local unhealthy, degraded = false, false
  local function weigh(value, atDegraded, atUnhealthy)
    if value >= atUnhealthy then unhealthy = true elseif value >= atDegraded then degraded = true end
  end
  if now - evidence.lastBeatAt >= limits.heartbeatStaleMs then unhealthy = true end
  weigh(evidence.queueDepth, limits.depthDegraded, limits.depthUnhealthy)
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

local EVIDENCE_FIELDS = {
  'epoch', 'pools', 'lastBeatAt', 'queueDepth', 'consecutiveFailures', 'recentOutcomes', 'recentFailures', 'lastFailureAt',
  'claim',
}

-- What the store knows of a worker; false if it does not know it.
local function loadWorker(worker)
  local values = call('HMGET', key('worker:' .. worker), unpack(EVIDENCE_FIELDS))
  if not values[1] then return false end
  return {
    id = worker, epoch = values[1], pools = values[2], lastBeatAt = tonumber(values[3]), queueDepth = tonumber(values[4]),
    consecutiveFailures = tonumber(values[5]), recentOutcomes = tonumber(values[6]), recentFailures = tonumber(values[7]),
    lastFailureAt = tonumber(values[8]), claim = values[9],
  }
end

local function sharesPool(a, b)
  local served = {}
  for _, pool in ipairs(cjson.decode(a.pools)) do served[pool] = true end
  for _, pool in ipairs(cjson.decode(b.pools)) do
    if served[pool] then return true end
  end
  return false
end

-- Looked at when the worker is unhealthy because of its failures; of a large fleet, a part is enough to find help.
local HELP_LOOK_MAX = 1000

local function hasHelp(worker, limits)
  for _, id in ipairs(call('ZRANGE', key('workers'), 0, HELP_LOOK_MAX - 1)) do
    if id ~= worker.id then
      local other = loadWorker(id)
      if other and sharesPool(worker, other) and assess(other, limits) ~= 'unhealthy' then return true end
    end
  end
  return false
end

-- How a claim treats this worker. A claim is a sign of life; and somebody must go on.
local function claimHealth(worker, limits)
  worker.lastBeatAt = now
  local status = assess(worker, limits)
  if status ~= 'unhealthy' then return status end
  local faultless = { lastBeatAt = now, queueDepth = worker.queueDepth, consecutiveFailures = 0, recentOutcomes = 0, recentFailures = 0 }
  if assess(faultless, limits) == 'unhealthy' then return 'unhealthy' end
  return hasHelp(worker, limits) and 'unhealthy' or 'degraded'
end
