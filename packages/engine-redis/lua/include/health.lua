-- What the store knows of workers, and a worker's health at a claim (see core's health.ts, which is the definition).

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
  'epoch', 'pools', 'claim', 'lastBeatAt', 'queueDepth', 'consecutiveFailures', 'recentOutcomes', 'recentFailures', 'lastFailureAt',
}
local WRITTEN_FIELDS = { 'claim', 'lastBeatAt', 'consecutiveFailures', 'recentOutcomes', 'recentFailures', 'lastFailureAt' }

local workers

atBegin(function()
  workers = {}
end)

-- What the store knows of a worker; false if it does not know it. Changes are written by flushWorkers().
local function workerNamed(id)
  local worker = workers[id]
  if worker ~= nil then return worker end
  local values = call('HMGET', key('worker:' .. id), unpack(EVIDENCE_FIELDS))
  worker = values[1] and {
    id = id, epoch = values[1], pools = values[2], claim = values[3], lastBeatAt = tonumber(values[4]),
    queueDepth = tonumber(values[5]), consecutiveFailures = tonumber(values[6]), recentOutcomes = tonumber(values[7]),
    recentFailures = tonumber(values[8]), lastFailureAt = tonumber(values[9]), changed = false,
  }
  workers[id] = worker
  return worker
end

local RECENT_OUTCOMES_MAX = 100

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

local function flushWorkers()
  for id, worker in pairs(workers) do
    if worker and worker.changed then
      local changes = {}
      for _, name in ipairs(WRITTEN_FIELDS) do
        local value = worker[name]
        if value then
          changes[#changes + 1] = name
          changes[#changes + 1] = type(value) == 'number' and int(value) or value
        end
      end
      call('HSET', key('worker:' .. id), unpack(changes))
    end
  end
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
      local other = workerNamed(id)
      if other and sharesPool(worker, other) and assess(other, limits) ~= 'unhealthy' then return true end
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
  worker.lastBeatAt = lastBeatAt
  if status ~= 'unhealthy' then return status end
  local faultless = { lastBeatAt = now, queueDepth = worker.queueDepth, consecutiveFailures = 0, recentOutcomes = 0, recentFailures = 0 }
  if assess(faultless, limits) == 'unhealthy' then return 'unhealthy' end
  return hasHelp(worker, limits) and 'unhealthy' or 'degraded'
end
