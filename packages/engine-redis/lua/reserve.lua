#!lua
-- reserve: starts the one attempt that an outside message names, wherever its task stands; an unknown task is accepted.
-- ARGV: time, request id, task id, attempt, maxRetries, worker, its JSON, leaseMs, start and end of the sentence about a
--   dropped message (the ceiling stands between them), pool, action, tenant, settings (JSON), rest of the task's text
--   (from the comma after the profile on), deadlineAt or '', deadlineMs or '', dedupe key or '', the letter of the
--   lease's stage (see include/stages.lua), dedupeMs or ''.
-- Answers as a claim of one task does; or { 'dropped', ceiling }, and then only the journal was written.
-- Checks before the first write, in this order: that the task of this id, if there is one, was asked for alike (else { 'differs',
-- in what (DIFFERENCE_LETTERS), task id }, as for the task that holds the key); the ceiling; that the attempt is new (else REPRISE duplicate, or REPRISE barred
-- for a new task whose ticket is no good, see include/keys.lua); that it is the
-- next one (else REPRISE conflict <attempts so far>). Then open breakers whose time has come let probes through; that stays,
-- also if there is no slot: because something holds its lane ({ 'held', scope }), or a limit has no room ({ 'full', scope,
-- concurrency }). A repetition (same request id) gets the same answer.

-- @include base answers lanes tasks queue limits wake journal leases stages endings operators order keys lifting breakers gates outages

local request, id, attempt, maxRetries = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local worker, workerJson, leaseMs = ARGV[6], ARGV[7], tonumber(ARGV[8])
local pool, action, tenant, settings, rest = ARGV[11], ARGV[12], ARGV[13], ARGV[14], ARGV[15]
local deadlineAt, deadlineMs, dedupeKey, stage = tonumber(ARGV[16]), tonumber(ARGV[17]), ARGV[18], ARGV[19]
local dedupeMs = tonumber(ARGV[20])

local before = recall(request)
if before then
  if before[1] == 'dropped' then return before end
  return { before[1], '', '', '', '', '\n' .. before[2] .. '\n' .. before[3], id, call('HGET', taskKey(id), 'task') or '' }
end

-- What a message hears that asks for something else than this task; nil if it asks for the same.
local function differing(other)
  local differs = dedupe.differences(other.text, action, tenant, rest)
  if differs ~= '' then return { 'differs', differs, other.id } end
end

local task = loadTask(id)
local refusal = task and differing(task)
if refusal then return refusal end
local state = task and task.state
local behind = task and state.attempt or attempt - 1
local ceiling = operatorRetries(task and task.profile or cjson.decode(settings), maxRetries) + 1
if task then ceiling = ceiling + state.before + state.losses + (state.parks or 0) end
if attempt > ceiling then
  note('message.dropped', id, attempt, ACTORS.caller, ARGV[9] .. int(ceiling) .. ARGV[10], '{"attempt":' .. int(attempt) .. '}')
  return remember(request, { 'dropped', int(ceiling) })
end

local status = task and state.status
local hasEnded = status == 'succeeded' or status == 'cancelled' or status == 'discarded'
local name = dedupe.name(tenant, action, dedupeKey)
local keyTaken = not task and dedupeKey ~= '' and dedupe.holder(name, dedupeKey)
if keyTaken == '\r' then return refuse('barred') end
refusal = keyTaken and differing(keyTaken)
if refusal then return refusal end
if attempt <= behind or hasEnded or keyTaken then return refuse('duplicate') end
if status == 'running' or attempt > behind + 1 then return refuse('conflict ' .. int(behind)) end

if exists('breakers') then tellTime() end

local function flush()
  flushOperators()
  flushBreakers()
  flushLimits()
  flushLeases()
  flushLanes()
  flushWake()
end

-- A refusal leaves no lane behind: a lane that does not exist yet is asked about by its names alone.
local number = not task and findLane(pool, action, tenant)
local lane = task and task.lane or number and laneNumbered(number) or { pool = pool, action = action, tenant = tenant }
if anyHolds() then
  local names = scopeNames(lane)
  for index, hold in ipairs(call('HMGET', key('holds'), unpack(names))) do
    if hold then
      flush()
      return { 'held', names[index] }
    end
  end
end
local full = fullLimit(lane)
if full then
  flush()
  return { 'full', full.name, int(full.concurrency) }
end

-- Accepts the task with its earlier attempts behind it. It is never queued: its first status is that of its attempt.
local function accept()
  local home = laneNamed(pool, action, tenant)
  local profile = profileFor(settings)
  local seq = draw(1)
  local text = '{"seq":' .. int(seq) .. ',"acceptedAt":' .. int(now) .. ',"lane":' .. int(home.number) .. ',"profile":' .. profile
  if deadlineMs and (not deadlineAt or now + deadlineMs < deadlineAt) then deadlineAt = now + deadlineMs end
  if deadlineAt then text = text .. ',"deadlineAt":' .. int(deadlineAt) end
  if dedupeKey ~= '' then text = text .. dedupe.life(dedupeMs) end
  text = text .. rest
  call('HSET', taskKey(id), 'task', text)
  if dedupeKey ~= '' then dedupe.keep(name, dedupeKey, id) end
  local chunk = math.floor(seq / CHUNK)
  if call('RPUSH', orderKey(chunk), id) == 1 then call('ZADD', key('order'), int(chunk), int(chunk)) end
  tally(home, 'accepted')
  home.bytesAdded = home.bytesAdded + payloadBytes(rest)
  local itsProfile = profileNumbered(tonumber(profile))
  return {
    id = id, text = text, lane = home, profile = itsProfile,
    state = { attempt = attempt - 1, generation = 1, before = 0, failures = 0, losses = 0, rank = seq, notify = itsProfile.notify },
  }
end

-- One that was not queued gets its place in the queue, should it be released, as if it came now.
local function takeOut()
  if status == 'queued' then return dequeue(task) end
  leave(task)
  if status == 'dead' then state.retryReason = 'manual' end
  state.rank = nextRank()
end

if task then takeOut() else task = accept() end
move(task.lane, status or nil, 'running')
takeSlot(task.lane)
tally(task.lane, 'started')
local token = startAttempt(task, worker, workerJson, leaseMs, stage)
-- Not the text: it may be large, and it does not change.
remember(request, { int(now), token, stateText(task.state) })
flush()
return { NOW, '', '', '', '', '\n' .. token .. '\n' .. stateText(task.state), id, task.text }
