-- Workers as the store knows them, a hash each. What a worker registered stands in fields of its own; what changes all the
-- time (what it reported, what the store saw of it) is packed into one field, `numbers`, because nearly every claim and
-- every settlement reads and writes it. docs/redis-layout.md lists them.

local WORKER_FIELDS, REGISTERED_FIELDS = WORKER, REGISTERED

local workers

atBegin(function()
  workers = {}
end)

local function workerKey(id)
  return key('worker:' .. id)
end

-- In the order of WORKER. A missing lastFailureAt is -1, a missing outlook or policyVersion is false.
local function packWorker(worker)
  local numbers = { WORKER.values(worker) }
  numbers[WORKER.lastFailureAt] = worker.lastFailureAt or -1
  return cmsgpack.pack(numbers)
end

-- A worker that has just registered: nothing speaks against it.
local function freshWorker(id)
  return {
    id = id, lastBeatAt = now, queueDepth = 0, consecutiveFailures = 0, recentOutcomes = 0, recentFailures = 0,
    lastFailureAt = false, inFlight = 0, loopLagMs = 0, maxQuietMs = 0, lastProgressAt = now, probeFailures = 0, memoryBytes = 0,
    draining = 0, inbox = 0, assigned = 0, outlook = false, failuresBy = {}, servedWell = {},
    policyVersion = false,
  }
end

-- What the store knows of a worker; false if it does not know it. Changes are written by flushWorkers().
local function workerNamed(id)
  local worker = workers[id]
  if worker ~= nil then return worker end
  local values = call('HMGET', workerKey(id), 'epoch', 'numbers', 'claim', 'build', 'registeredAt')
  local was = values[2] and cmsgpack.unpack(values[2])
  worker = was and {
    id = id, epoch = values[1], claim = values[3], wasClaim = values[3], WORKER.fields(was), changed = false, roster = false,
    build = values[4] or '', registeredAt = tonumber(values[5]),
  }
  if worker then
    if worker.lastFailureAt == -1 then worker.lastFailureAt = false end
    -- An earlier version told no tenants apart.
    worker.failuresBy, worker.servedWell = worker.failuresBy or {}, worker.servedWell or {}
    worker.policyVersion = worker.policyVersion or false
  end
  workers[id] = worker
  return worker
end

-- How much lies in its inbox. The worker's own figure says only whether there may be something.
local function inboxDepth(worker)
  return worker.inbox > 0 and call('ZCARD', inboxKey(worker.id)) or 0
end

local function flushWorkers()
  for id, worker in pairs(workers) do
    if worker and worker.changed then
      if worker.claim ~= worker.wasClaim then
        call('HSET', workerKey(id), 'numbers', packWorker(worker), 'claim', worker.claim)
      else
        call('HSET', workerKey(id), 'numbers', packWorker(worker))
      end
    end
  end
end

local function setOf(json)
  local list = cjson.decode(json)
  if list == cjson.null then return false end
  local set = {}
  for _, name in ipairs(list) do set[name] = true end
  return set
end

-- What a worker registered: its pools, its actions (false for any), its host and its version.
local function rosterOf(worker)
  if not worker.roster then
    local values = call('HMGET', workerKey(worker.id), 'pools', 'actions', 'host', 'version')
    worker.roster = { pools = setOf(values[1]), actions = setOf(values[2]), host = values[3], version = values[4] }
  end
  return worker.roster
end

-- Adds a WORKER_ROW to an answer, '' for what is missing, the depth of the inbox in its place. An outlook has '=' before it, lists are JSON.
local function addWorker(answer, id)
  local worker = workerNamed(id)
  if not worker then return end
  local size = #answer
  answer[size + 1] = id
  for index, value in ipairs(call('HMGET', workerKey(id), unpack(REGISTERED_FIELDS))) do answer[size + 1 + index] = value or '' end
  size = #answer
  for index, name in ipairs(WORKER_FIELDS) do
    local value = worker[name]
    if name == 'inbox' then value = inboxDepth(worker) end
    if type(value) == 'number' then
      value = format('%.17g', value)
    elseif type(value) == 'table' then
      value = #value > 0 and cjson.encode(value) or '[]'
    elseif value then
      value = '=' .. value
    end
    answer[size + index] = value or ''
  end
end
