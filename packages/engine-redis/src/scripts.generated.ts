// The Lua of this package as function libraries, compiled from its lua folder. Do not edit: change the .lua files
// and run `npm run generate`.

import type { Library, Script } from './link/link.ts'

export const hotLibrary: Library = {
  name: 'reprise_40dccf840783',
  text: `#!lua name=reprise_40dccf840783
local KEYS, ARGV
local beginnings = {}
local function atBegin(start)
  beginnings[#beginnings + 1] = start
end
local function begin(keys, args)
  KEYS, ARGV = keys, args
  for index = 1, #beginnings do beginnings[index]() end
end
local call, byteAt, part, format, PREFIX, NUMBERS, TASK_PREFIX, META_PREFIX, now, NOW, MINUTE, int, taskKey, key, inboxKey, logKey, draw, exists, nowExists, refuse
do
function int(number)
  return format('%d', number)
end
atBegin(function()
  call, byteAt, part, format = redis.call, string.byte, string.sub, string.format
  NUMBERS = KEYS[1]
  PREFIX = string.sub(NUMBERS, 1, -9)
  TASK_PREFIX = PREFIX .. ':'
  META_PREFIX = PREFIX .. '/'
  now = tonumber(ARGV[1])
  if not now then
    local time = call('TIME')
    now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  NOW = int(now)
  MINUTE = now - now % 60000
end)
function taskKey(id)
  return TASK_PREFIX .. id
end
function key(name)
  return META_PREFIX .. name
end
function inboxKey(worker)
  return key('inbox:' .. worker)
end
function logKey(id)
  return key('log:' .. id)
end
local serverRun
local lastDrawn = {}
local function runOfServer()
  if not serverRun then
    local info = redis.pcall('INFO', 'server')
    serverRun = type(info) == 'string' and string.match(info, 'run_id:(%x%x%x%x%x%x%x%x%x%x%x%x)') or ''
  end
  return serverRun
end
local function beginningAt(before)
  local mine = lastDrawn[NUMBERS]
  local history = call('HGET', NUMBERS, 'history') or ''
  local isMine = mine and mine.history == history
  if not isMine or before < mine.last then
    local run = runOfServer()
    if run == '' then return '' end
    local last = string.match(history, '%S+$') or ''
    if isMine or string.match(last, '^%x+') ~= run then
      last = run .. ':' .. int(before) .. ':' .. NOW
      local kept = {}
      for beginning in string.gmatch(history, '%S+') do kept[#kept + 1] = beginning end
      kept[#kept + 1] = last
      history = table.concat(kept, ' ', math.max(1, #kept - 16 + 1))
      call('HSET', NUMBERS, 'history', history)
    end
    mine = { history = history, beginning = last }
    lastDrawn[NUMBERS] = mine
  end
  return mine.beginning
end
function draw(count, asksForBeginning)
  local last = call('HINCRBY', NUMBERS, 'sequence', int(count))
  if not asksForBeginning then return last end
  local beginning = beginningAt(last - count)
  if lastDrawn[NUMBERS] then lastDrawn[NUMBERS].last = last end
  return last, beginning
end
local UNUSUAL = { 'holds', 'limits', 'watched', 'progress', 'breakers', 'unfinished' }
local unusual
atBegin(function()
  unusual = nil
end)
function exists(name)
  if unusual == nil then
    local keys = {}
    for index, unusualName in ipairs(UNUSUAL) do keys[index] = key(unusualName) end
    unusual = call('EXISTS', unpack(keys)) > 0 and {}
  end
  if not unusual then return false end
  if unusual[name] == nil then unusual[name] = call('EXISTS', key(name)) == 1 end
  return unusual[name]
end
function nowExists(name)
  unusual = unusual or {}
  unusual[name] = true
end
function refuse(text)
  return redis.error_reply('REPRISE ' .. text)
end
end
local SLOTS, COUNTED, lanes, laneList, pools, backlogChange, activeKey, standingKey, standingsKey, stirred, stir, laneMember, poolNamed, laneNumbered, gateName, scopeNames, holdOn, applyHold, findLane, laneNamed, laneTime, wallTime, catchUp, tally, restock, move, flushActive, flushLanes
do
local FRESH_NUMBERS = {}
for index = 1, 25 do FRESH_NUMBERS[index] = 0 end
FRESH_NUMBERS[1] = -1
SLOTS, COUNTED = {}, { 'p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9' }
for index = 1, #COUNTED do SLOTS[index - 1] = COUNTED[index] end
local function laneNumbers(text)
  return text and cmsgpack.unpack(text) or FRESH_NUMBERS
end
atBegin(function()
  lanes, laneList, pools, backlogChange = {}, {}, {}, 0
end)
function activeKey(pool, action)
  return key('active:' .. pool .. '\\n' .. action)
end
function standingKey(limitName, pool, action)
  return key('parked:' .. limitName .. '\\n' .. pool .. '\\n' .. action)
end
function standingsKey(limitName)
  return key('parkings:' .. limitName)
end
atBegin(function()
  stirred = {}
end)
function stir(lane, count)
  local actions = stirred[lane.pool]
  if not actions then
    actions = {}
    stirred[lane.pool] = actions
  end
  actions[lane.action] = (actions[lane.action] or 0) + (count or 1)
end
function laneMember(number)
  return string.format('%010d', number)
end
function poolNamed(name)
  local pool = pools[name]
  if not pool then
    local values = call('HMGET', key('pool:' .. name), 'virtualTime', 'version', 'promotedAt')
    local virtualTime = tonumber(values[1]) or 0
    pool = { name = name, virtualTime = virtualTime, was = virtualTime, version = values[2] or '0', promotedAt = tonumber(values[3]) }
    pools[name] = pool
  end
  return pool
end
local function keepLane(number, lane)
  lane.number = number
  lane.tally = {}
  lane.listedTurn = lane.ready > 0 and not lane.heldSince and lane.turn
  lane.listedAt = lane.atLimit
  lanes[number] = lane
  laneList[#laneList + 1] = lane
  return lane
end
function laneNumbered(number)
  local known = lanes[number]
  if known then return known end
  local texts = call('HMGET', key('lane:' .. int(number)), 'pool', 'action', 'tenant', 'parked', 'numbers')
  local was = laneNumbers(texts[5])
  local atLimit = texts[4] ~= '' and texts[4]
  local lane = {
    pool = texts[1], action = texts[2], tenant = texts[3], atLimit = atLimit, wasAtLimit = atLimit,
    heldSince = was[1], turn = was[2], picks = was[3], heldMs = was[4], ready = was[5], returned = was[6], stale = was[7], queued = was[8], waiting = was[9], running = was[10], succeeded = was[11], dead = was[12], discarded = was[13], cancelled = was[14], removed = was[15], p0 = was[16], p1 = was[17], p2 = was[18], p3 = was[19], p4 = was[20], p5 = was[21], p6 = was[22], p7 = was[23], p8 = was[24], p9 = was[25], was = was, number = false, tally = false, listedTurn = false, listedAt = false, limits = false, succeeding = false,
    bytesAdded = 0, group = false, distance = false, sources = false, takenOf = false, taken = false,
  }
  if lane.heldSince == -1 then lane.heldSince = false end
  return keepLane(number, lane)
end
function gateName(action, tenant)
  return '\\r\\n' .. action .. '\\n' .. tenant
end
function scopeNames(lane)
  local names = {}
  for _, pool in ipairs({ '', lane.pool }) do
    for _, action in ipairs({ '', lane.action }) do
      for _, tenant in ipairs({ '', lane.tenant }) do
        names[#names + 1] = pool .. '\\n' .. action .. '\\n' .. tenant
      end
    end
  end
  names[#names + 1] = gateName(lane.action, '')
  names[#names + 1] = gateName(lane.action, lane.tenant)
  return names
end
local function anyHolds()
  return exists('holds')
end
function holdOn(lane)
  if not anyHolds() then return false end
  for _, hold in ipairs(call('HMGET', key('holds'), unpack(scopeNames(lane)))) do
    if hold then return hold end
  end
  return false
end
function applyHold(lane, hold)
  lane.heldSince = tonumber(string.match(hold, '^%d+'))
end
function findLane(pool, action, tenant)
  return tonumber(call('HGET', key('lanes'), pool .. '\\n' .. action .. '\\n' .. tenant))
end
function laneNamed(pool, action, tenant)
  local number = findLane(pool, action, tenant)
  if number then return laneNumbered(number) end
  number = call('HINCRBY', NUMBERS, 'lanes', 1)
  call('HSET', key('lanes'), pool .. '\\n' .. action .. '\\n' .. tenant, number)
  call('HSET', key('lane:' .. number), 'pool', pool, 'action', action, 'tenant', tenant)
  call('SADD', key('actions:' .. pool), action)
  if number == 1 or call('EXISTS', key('pools')) == 1 then call('SADD', key('pools'), pool) end
  return laneNumbered(number)
end
function laneTime(lane)
  return (lane.heldSince or now) - lane.heldMs
end
function wallTime(lane, moment)
  return moment + now - laneTime(lane)
end
function catchUp(lane)
  lane.turn = math.max(lane.turn, poolNamed(lane.pool).virtualTime)
end
function tally(lane, kind, count)
  lane.tally[kind] = (lane.tally[kind] or 0) + (count or 1)
end
function restock(lane)
  if lane.queued > 0 then return end
  local hold = holdOn(lane)
  if hold and not lane.heldSince then
    lane.heldSince = now
  elseif not hold and lane.heldSince then
    lane.heldMs = lane.heldMs + now - lane.heldSince
    lane.heldSince = false
  end
end
function move(lane, from, to, count)
  count = count or 1
  if from then
    lane[from] = lane[from] - count
    if from == 'queued' or from == 'waiting' then backlogChange = backlogChange - count end
  end
  if to then
    lane[to] = lane[to] + count
    if to == 'queued' or to == 'waiting' then backlogChange = backlogChange + count end
  end
end
local function listKey(lane, limitName)
  if limitName then return standingKey(limitName, lane.pool, lane.action) end
  return activeKey(lane.pool, lane.action)
end
function flushActive(lane)
  local turn = lane.ready > 0 and not lane.heldSince and lane.turn
  if not turn then lane.atLimit = false end
  local hasMoved = lane.atLimit ~= lane.listedAt
  if lane.listedTurn == turn and not hasMoved then return end
  if lane.listedTurn and (not turn or hasMoved) then
    call('ZREM', listKey(lane, lane.listedAt), laneMember(lane.number))
  end
  if turn then
    call('ZADD', listKey(lane, lane.atLimit), int(turn), laneMember(lane.number))
    if lane.atLimit and hasMoved then call('SADD', standingsKey(lane.atLimit), lane.pool .. '\\n' .. lane.action) end
  end
  lane.listedTurn = turn
  lane.listedAt = lane.atLimit
end
local function flushLane(lane)
  flushActive(lane)
  local was = lane.was
  local numbers = { lane.heldSince, lane.turn, lane.picks, lane.heldMs, lane.ready, lane.returned, lane.stale, lane.queued, lane.waiting, lane.running, lane.succeeded, lane.dead, lane.discarded, lane.cancelled, lane.removed, lane.p0, lane.p1, lane.p2, lane.p3, lane.p4, lane.p5, lane.p6, lane.p7, lane.p8, lane.p9 }
  numbers[1] = lane.heldSince or -1
  for index = 1, 25 do
    if numbers[index] ~= was[index] then
      call('HSET', key('lane:' .. int(lane.number)), 'numbers', cmsgpack.pack(numbers))
      break
    end
  end
  if lane.bytesAdded ~= 0 then call('HINCRBY', key('lane:' .. int(lane.number)), 'bytes', int(lane.bytesAdded)) end
  if lane.atLimit ~= lane.wasAtLimit then call('HSET', key('lane:' .. int(lane.number)), 'parked', lane.atLimit or '') end
  local member = laneMember(lane.number)
  if (lane.queued > 0) ~= (was[8] > 0) then
    local place = lane.action .. '\\n' .. member
    if lane.queued > 0 then call('ZADD', key('stocked'), '0', place) else call('ZREM', key('stocked'), place) end
  end
  if (lane.running > 0) ~= (was[10] > 0) then
    if lane.running > 0 then call('SADD', key('busy'), member) else call('SREM', key('busy'), member) end
  end
  for kind, count in pairs(lane.tally) do
    local series = key('series:' .. int(MINUTE))
    if call('HINCRBY', series, int(lane.number) .. ':' .. kind, int(count)) == count then
      call('ZADD', key('minutes'), int(MINUTE), int(MINUTE))
    end
  end
end
function flushLanes()
  for _, lane in ipairs(laneList) do flushLane(lane) end
  for name, pool in pairs(pools) do
    if pool.virtualTime ~= pool.was then call('HSET', key('pool:' .. name), 'virtualTime', int(pool.virtualTime)) end
    if pool.hasPromoted then call('HSET', key('pool:' .. name), 'promotedAt', int(pool.promotedAt)) end
  end
  if backlogChange ~= 0 then call('HINCRBY', NUMBERS, 'backlog', int(backlogChange)) end
end
end
local decodeSettings, profileNumbered, profileFor, parseHead, payloadBytes, statusOf, loadTask, stateText, saveState, nextState, waitingMember
do
local profiles
atBegin(function()
  profiles = {}
end)
local decoded, decodedCount = {}, 0
local DECODED_MAX = 1000
local function currentNames(settings)
  if settings.rampMax then
    settings.minFailures, settings.maxOpenMs, settings.maxRamp = settings.failuresMin, settings.openMsMax, settings.rampMax
  end
  return settings
end
function decodeSettings(text)
  local settings = decoded[text]
  if settings then return settings end
  if decodedCount >= DECODED_MAX then decoded, decodedCount = {}, 0 end
  settings = currentNames(cjson.decode(text))
  decoded[text] = settings
  decodedCount = decodedCount + 1
  return settings
end
function profileNumbered(number)
  local known = profiles[number]
  if not known then
    known = decodeSettings(call('HGET', key('profile'), int(number)))
    profiles[number] = known
  end
  return known
end
function profileFor(text)
  local number = call('HGET', key('profiles'), text)
  if number then return number end
  number = int(call('HINCRBY', NUMBERS, 'profiles', '1'))
  call('HSET', key('profiles'), text, number)
  call('HSET', key('profile'), number, text)
  return number
end
function parseHead(text)
  local stop = string.find(text, '\\n', 1, true)
  return cjson.decode(string.sub(text, 1, stop - 2) .. '}')
end
function payloadBytes(text)
  return #text - string.find(text, '\\n', 1, true) - 11
end
function statusOf(record)
  return string.match(record, '^{"status":"(%a+)"')
end
function loadTask(id)
  local values = call('HMGET', taskKey(id), 'task', 'state', '1')
  if not values[1] then return false end
  local head = parseHead(values[1])
  local state
  if values[2] then
    state = cjson.decode(values[2])
  else
    state = { status = 'queued', attempt = 0, generation = 1, before = 0, failures = 0, losses = 0,
      rank = head.seq, since = head.acceptedAt, expires = head.expires }
    if values[3] then
      state.attempt = 1
      state.status = statusOf(values[3])
    end
  end
  return {
    id = id, head = head, state = state, text = values[1], stateText = values[2], first = values[3],
    lane = laneNumbered(head.lane), profile = profileNumbered(head.profile), priority = head.priority or 5,
  }
end
local STATE_FIELDS = {
  'parks', 'deferrals', 'retryReason', 'rank', 'since', 'expires', 'retired', 'returned', 'dueAt', 'reason', 'quota', 'at',
  'fingerprint', 'diedOf', 'keyLost', 'notify', 'policy',
}
for index = 1, #STATE_FIELDS do STATE_FIELDS[STATE_FIELDS[index]] = ',"' .. STATE_FIELDS[index] .. '":' end
function stateText(state)
  local parts, size = { format('{"status":"%s","attempt":%d,"generation":%d,"before":%d,"failures":%d,"losses":%d',
    state.status, state.attempt, state.generation, state.before, state.failures, state.losses) }, 1
  for _, name in ipairs(STATE_FIELDS) do
    local value = state[name]
    if value ~= nil and value ~= cjson.null then
      parts[size + 1], parts[size + 2] = STATE_FIELDS[name], type(value) == 'number' and int(value) or cjson.encode(value)
      size = size + 2
    end
  end
  parts[size + 1] = '}'
  return table.concat(parts)
end
function saveState(task)
  call('HSET', taskKey(task.id), 'state', stateText(task.state))
end
function nextState(state, status)
  return {
    status = status, attempt = state.attempt, generation = state.generation, before = state.before,
    failures = state.failures, losses = state.losses, parks = state.parks, deferrals = state.deferrals,
    retryReason = state.retryReason, rank = state.rank, keyLost = state.keyLost, notify = state.notify,
    policy = state.policy, diedOf = state.fingerprint or state.diedOf,
  }
end
function waitingMember(task)
  return string.format('%016d', task.head.seq) .. task.id
end
end
local LENGTH_ZERO, PLAIN_HEADS, queueKey, returnedKey, PLAIN_TIMEOUT_MAX, plainTimeout, plainEntry, parseEntry, entryText, watchTimes, forgetTimes, enqueue, unready, dequeue, overdue
do
LENGTH_ZERO = 96
PLAIN_HEADS = { 'pa', 'pb', 'pc', 'pd', 'pe', 'pf', 'pg', 'ph', 'pi', 'pj', 'pk', 'pl', 'pm', 'pn', 'po', 'pp' }
local ENTRY_PATTERN = '^x(%d+) (%d+) (%S+) (%S+) (%a) (.+)$'
function queueKey(lane, priority)
  return key('queue:' .. int(lane.number) .. ':' .. priority)
end
function returnedKey(lane, priority)
  return key('returned:' .. int(lane.number) .. ':' .. priority)
end
PLAIN_TIMEOUT_MAX = 999999999999
function plainTimeout(timeoutMs)
  return string.format('%012d', timeoutMs)
end
function plainEntry(rank, timeout, id)
  return PLAIN_HEADS[#rank] .. rank .. timeout .. id
end
local function parsePlain(entry)
  local from = string.byte(entry, 2) - LENGTH_ZERO + 3
  return string.sub(entry, from, from + 11), string.sub(entry, from + 12)
end
function parseEntry(entry)
  if string.byte(entry) ~= 112 then return string.match(entry, ENTRY_PATTERN) end
  local timeoutMs, id = parsePlain(entry)
  return string.sub(entry, 3, string.byte(entry, 2) - LENGTH_ZERO + 2), timeoutMs, '-', '-', 'p', id
end
function entryText(rank, timeoutMs, expires, deadlineAt, kind, id)
  return 'x' .. int(rank) .. ' ' .. int(timeoutMs) .. ' ' .. (expires and int(expires) or '-') .. ' '
    .. (deadlineAt and int(deadlineAt) or '-') .. ' ' .. kind .. ' ' .. id
end
function watchTimes(lane, id, expires, deadlineAt)
  if expires then
    call('ZADD', key('ttl:' .. int(lane.number)), int(expires), id)
    call('ZADD', key('ttl'), 'LT', int(wallTime(lane, expires)), laneMember(lane.number))
  end
  if deadlineAt then call('ZADD', key('deadlines'), int(deadlineAt), id) end
end
function forgetTimes(lane, id, expires, deadlineAt)
  if expires then call('ZREM', key('ttl:' .. int(lane.number)), id) end
  if deadlineAt then call('ZREM', key('deadlines'), id) end
end
local function deadlineOf(task)
  if task.state.generation > 1 then return nil end
  return task.head.deadlineAt
end
function enqueue(task, keepsRank, together)
  local lane = task.lane
  restock(lane)
  move(lane, nil, 'queued')
  local state = nextState(task.state, 'queued')
  if together then
    together.rank = together.rank + 1
    state.rank = together.rank
  elseif not keepsRank or not state.rank then
    state.rank = draw(1)
  end
  if lane.ready == 0 then catchUp(lane) end
  local ttlMs = task.profile.queueTtlMs
  state.since = now
  if ttlMs and ttlMs ~= cjson.null then state.expires = laneTime(lane) + ttlMs end
  task.state = state
  local deadlineAt = deadlineOf(task)
  local entry = entryText(state.rank, task.profile.timeoutMs, state.expires, deadlineAt, 's', task.id)
  if keepsRank then
    state.returned = true
    call('ZADD', returnedKey(lane, task.priority), int(state.rank), entry)
    lane.returned = lane.returned + 1
  elseif together then
    local queue = queueKey(lane, task.priority)
    local entries = together.entries[queue] or {}
    together.entries[queue] = entries
    entries[#entries + 1] = entry
  else
    call('RPUSH', queueKey(lane, task.priority), entry)
  end
  lane.ready = lane.ready + 1
  local slot = SLOTS[task.priority]
  lane[slot] = lane[slot] + 1
  watchTimes(lane, task.id, state.expires, deadlineAt)
  saveState(task)
end
function unready(lane, priority, count)
  local slot = SLOTS[priority]
  lane[slot] = lane[slot] - count
  lane.ready = lane.ready - count
  if lane.ready == 0 then lane.stale = 0 end
  if lane[slot] > 0 then return end
  call('DEL', queueKey(lane, priority))
  if lane.returned > 0 then
    lane.returned = lane.returned - call('ZCARD', returnedKey(lane, priority))
    call('DEL', returnedKey(lane, priority))
  end
end
function dequeue(task)
  local state = task.state
  if not state.retired then
    local lane = task.lane
    if state.returned then
      local entry = entryText(state.rank, task.profile.timeoutMs, state.expires, deadlineOf(task), 's', task.id)
      lane.returned = lane.returned - call('ZREM', returnedKey(lane, task.priority), entry)
    else
      lane.stale = lane.stale + 1
    end
    unready(task.lane, task.priority, 1)
  end
  forgetTimes(task.lane, task.id, state.expires, deadlineOf(task))
end
function overdue(task)
  local deadlineAt = deadlineOf(task)
  if deadlineAt and now >= deadlineAt then return 'deadline', deadlineAt end
  local expires = task.state.expires
  if expires and laneTime(task.lane) >= expires then return 'queue_ttl', wallTime(task.lane, expires) end
  return nil
end
end
local limits, freedLanes, anyLimits, limitNamed, limitsNamed, limitsOn, fullLimit, openLimits, standAt, takeSlot, retakeSlot, freeSlot, eachStanding, activateFreed, flushLimits
do
atBegin(function()
  limits, freedLanes = {}, {}
end)
function anyLimits()
  return exists('limits')
end
function limitNamed(name, text)
  local limit = limits[name]
  if not limit then
    local running = tonumber(call('HGET', key('slots'), name)) or 0
    local number, kind, since = tonumber(text), nil, nil
    if not number then number, kind, since = string.match(text, '^(%d+) (%a+) ?(%d*)$') end
    limit = {
      name = name, concurrency = tonumber(number), shared = kind == 'shared', since = kind == 'since' and tonumber(since),
      running = running, was = running, freed = 0, back = {},
    }
    limits[name] = limit
  end
  return limit
end
function limitsNamed(names)
  local found = {}
  for index, concurrency in ipairs(call('HMGET', key('limits'), unpack(names))) do
    if concurrency then found[#found + 1] = limitNamed(names[index], concurrency) end
  end
  return found
end
function limitsOn(lane)
  if not lane.limits then lane.limits = anyLimits() and limitsNamed(scopeNames(lane)) or {} end
  return lane.limits
end
function fullLimit(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if limit.running >= limit.concurrency then return limit end
  end
  return nil
end
function openLimits(pool, action)
  local open = {}
  if not anyLimits() then return open end
  local names = { '\\n\\n', '\\n' .. action .. '\\n', pool .. '\\n\\n', pool .. '\\n' .. action .. '\\n', gateName(action, '') }
  for _, limit in ipairs(limitsNamed(names)) do
    if limit.running < limit.concurrency then open[#open + 1] = limit end
  end
  return open
end
function standAt(lane, limit)
  lane.atLimit = limit.name
  if limit.shared then call('SADD', key('blocked'), limit.name) end
end
local function isCounted(limit, startedAt)
  return not limit.since or startedAt >= limit.since
end
function takeSlot(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if isCounted(limit, now) then limit.running = limit.running + 1 end
  end
end
function retakeSlot(lane, startedAt)
  for _, limit in ipairs(limitsOn(lane)) do
    if not isCounted(limit, startedAt) and isCounted(limit, now) then limit.running = limit.running + 1 end
  end
end
function freeSlot(lane, startedAt)
  local itsLimits = limitsOn(lane)
  if #itsLimits == 0 then return end
  freedLanes[lane] = (freedLanes[lane] or 0) + 1
  for _, limit in ipairs(itsLimits) do
    if isCounted(limit, startedAt) then
      limit.running = limit.running - 1
      limit.freed = limit.freed + 1
    end
  end
end
function eachStanding(name, visit)
  for _, place in ipairs(call('SMEMBERS', standingsKey(name))) do
    local pool, action = string.match(place, '^(.*)\\n(.*)$')
    local itsKey = standingKey(name, pool, action)
    if call('EXISTS', itsKey) == 1 then visit(pool, action, itsKey) else call('SREM', standingsKey(name), place) end
  end
end
local function isOfTenant(name)
  return string.sub(name, -1) ~= '\\n'
end
function activateFreed()
  for name, limit in pairs(limits) do
    if limit.freed > 0 and limit.running < limit.concurrency and isOfTenant(name) then
      eachStanding(name, function(_, _, itsKey)
        for _, member in ipairs(call('ZRANGE', itsKey, 0, -1)) do
          local lane = laneNumbered(tonumber(member))
          if lane.atLimit == name then
            lane.atLimit = false
            limit.back[#limit.back + 1] = lane
          end
        end
      end)
    end
  end
end
local function stirFreed(limit)
  local count = math.min(limit.freed, limit.concurrency - limit.running)
  if count <= 0 then return end
  for _, lane in ipairs(limit.back) do
    if lane.ready > 0 and not lane.atLimit then stir(lane, math.min(count, lane.ready)) end
  end
  if not isOfTenant(limit.name) then
    eachStanding(limit.name, function(pool, action) stir({ pool = pool, action = action }, count) end)
  end
end
local function stirWanted(limit)
  local wanted = key('wanted:' .. limit.name)
  for _, place in ipairs(call('SMEMBERS', wanted)) do
    local pool, action = string.match(place, '^(.*)\\n(.*)$')
    stir({ pool = pool, action = action }, limit.was - limit.running)
  end
  call('DEL', wanted)
end
local function hasSharedRoom(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if limit.shared and limit.running < limit.was then return true end
  end
  return false
end
function flushLimits()
  activateFreed()
  for name, limit in pairs(limits) do
    stirFreed(limit)
    if limit.shared and limit.running < limit.was then stirWanted(limit) end
    if limit.running ~= limit.was then call('HSET', key('slots'), name, int(limit.running)) end
  end
  for lane, count in pairs(freedLanes) do
    if lane.ready > 0 and not lane.atLimit and not fullLimit(lane) then
      stir(lane, math.min(count, lane.ready))
    elseif hasSharedRoom(lane) then
      stir(lane)
    end
  end
end
end
local ended, flushWake
do
local endedIds
atBegin(function()
  endedIds = {}
end)
function ended(id)
  if exists('watched') then endedIds[#endedIds + 1] = id end
end
local function wakeIdle(idleKey, count, what)
  while count > 0 do
    local popped = call('ZPOPMIN', idleKey)
    if #popped == 0 then return count end
    if call('SPUBLISH', key('wake:' .. popped[1]), 'work\\n' .. what) > 0 then count = count - 1 end
  end
  return 0
end
local function wakeInbox(worker)
  local listening = key('listening:' .. worker)
  for _, channel in ipairs(call('SMEMBERS', listening)) do call('SPUBLISH', key('wake:' .. channel), 'inbox\\n' .. worker) end
  call('DEL', listening)
end
function flushWake()
  for pool, actions in pairs(stirred) do
    call('HINCRBY', key('pool:' .. pool), 'version', '1')
    for action, count in pairs(actions) do
      local what = pool .. '\\n' .. action
      local left = wakeIdle(key('idle:' .. what), count, what)
      wakeIdle(key('idle:' .. pool .. '\\n'), left, what)
    end
  end
  if #endedIds > 0 then
    local messages = {}
    local found = {}
    for index, channels in ipairs(call('HMGET', key('watched'), unpack(endedIds))) do
      if channels then
        found[#found + 1] = endedIds[index]
        for channel in string.gmatch(channels, '%S+') do
          messages[channel] = (messages[channel] and messages[channel] .. '\\n' or '') .. endedIds[index]
        end
      end
    end
    if #found > 0 then call('HDEL', key('watched'), unpack(found)) end
    for channel, ids in pairs(messages) do call('SPUBLISH', key('wake:' .. channel), 'ended\\n' .. ids) end
  end
end
end
local note
do
local function writeNote(number, kind, taskId, attempt, actor, reason, data)
  local text = int(number)
  call('XADD', key('journal'), text .. '-0', 'at', int(now), 'type', kind, 'task', taskId or '',
    'attempt', attempt and int(attempt) or '', 'actor', actor, 'reason', reason, 'data', data)
  if taskId then call('RPUSH', key('journal:' .. taskId), text) end
end
function note(kind, taskId, attempt, actor, reason, data)
  writeNote(call('HINCRBY', NUMBERS, 'journal', 1), kind, taskId, attempt, actor, reason, data)
end
end
local leasesKey, leaseChanges, SUCCESS_TAIL, STARTED, leaseChange, leaseStart, addLease, startsAt, removeLease, parseLease, leaseText, flushLeases, RUNNING_TAIL, runningRecord, recordExtra, endRecord, splitToken
do
function leasesKey(worker)
  return key('leases:' .. worker)
end
atBegin(function()
  leaseChanges = {}
  STARTED = string.format('%013d ', now)
  SUCCESS_TAIL = ',"errorCode":null,"errorMessage":null,"resolvedAt":' .. NOW .. '}'
end)
function leaseChange(worker)
  local change = leaseChanges[worker]
  if not change then
    change = { added = {}, removed = {}, first = nil }
    leaseChanges[worker] = change
  end
  return change
end
local LEASE_PADDING = '             '
function leaseStart(timeoutMs, leaseMs, attempt, stage)
  local timeoutAt = now + timeoutMs
  local untilAt = math.min(now + leaseMs, timeoutAt + 5000)
  if stage == 'd' then untilAt = now + leaseMs end
  return ' ' .. attempt .. ' ' .. int(untilAt) .. ' ' .. int(timeoutAt) .. ' -' .. LEASE_PADDING, untilAt
end
function addLease(change, id, kind, token, start)
  local added = change.added
  local size = #added
  added[size + 1] = id
  added[size + 2] = kind .. STARTED .. token .. start
end
function startsAt(change, untilAt)
  if not change.first or untilAt < change.first then change.first = untilAt end
end
function removeLease(worker, id)
  local removed = leaseChange(worker).removed
  removed[#removed + 1] = id
end
function parseLease(text)
  if not text then return nil end
  local kind, startedAt, token, attempt, untilAt, timeoutAt, renewedAt =
    string.match(text, '^(%a)(%d+) (%S+) (%d+) (%d+) (%d+) (%S+)')
  return {
    token = token, startedAt = tonumber(startedAt), kind = kind, attempt = tonumber(attempt), untilAt = tonumber(untilAt),
    timeoutAt = tonumber(timeoutAt), renewedAt = tonumber(renewedAt), handle = string.match(text, '\\n.*$'),
  }
end
function leaseText(lease)
  return lease.kind .. string.format('%013d ', lease.startedAt) .. lease.token .. ' ' .. int(lease.attempt) .. ' '
    .. int(lease.untilAt) .. ' ' .. int(lease.timeoutAt) .. ' ' .. (lease.renewedAt and int(lease.renewedAt) or '-') .. LEASE_PADDING
    .. (lease.handle or '')
end
function flushLeases()
  for worker, change in pairs(leaseChanges) do
    if #change.removed > 0 then
      call('HDEL', leasesKey(worker), unpack(change.removed))
      if exists('progress') then call('HDEL', key('progress'), unpack(change.removed)) end
      change.removed = {}
    end
    if #change.added > 0 then
      call('HSET', leasesKey(worker), unpack(change.added))
      if change.first then call('ZADD', key('leases'), 'LT', int(change.first), worker) end
      change.added = {}
      change.first = nil
    end
  end
end
RUNNING_TAIL = '}'
function runningRecord(attempt, token, workerJson, extra)
  return '{"status":"running","attempt":' .. attempt .. ',"token":"' .. token .. '","worker":' .. workerJson
    .. ',"dispatchedAt":' .. NOW .. extra .. RUNNING_TAIL
end
function recordExtra(generation, retryReason, build)
  local extra = ''
  if generation > 1 then extra = ',"generation":' .. int(generation) end
  if retryReason then extra = extra .. ',"retryReason":' .. cjson.encode(retryReason) end
  return extra .. build
end
function endRecord(record, status, tail)
  local middle = string.sub(record, 20, -#RUNNING_TAIL - 1)
  if not tail then return '{"status":"' .. status .. '"' .. middle .. SUCCESS_TAIL end
  return '{"status":"' .. status .. '"' .. middle .. tail .. ',"resolvedAt":' .. NOW .. '}'
end
function splitToken(token)
  return string.match(token, '^(%d+%-%d+%.%d+)%.(.*)$')
end
end
local launchesKey, extend, enterLaunches, leaveInbox, leaveStage, rewritten
do
function launchesKey(pool)
  return key('launches:' .. pool)
end
local function isUnderWay(lease)
  return lease.kind == 'd' or lease.kind == 'i'
end
function extend(lease, leaseMs, missedMs)
  local untilAt = now + leaseMs
  if not isUnderWay(lease) then
    lease.timeoutAt = lease.timeoutAt + missedMs
    untilAt = math.min(untilAt, lease.timeoutAt + 5000)
  end
  lease.untilAt = math.max(lease.untilAt, untilAt)
  lease.renewedAt = now
end
function enterLaunches(pool, id)
  if call('ZADD', launchesKey(pool), '0', id) == 1 then call('SADD', key('launching'), pool) end
end
local function enterInbox(worker, id, number)
  call('ZADD', inboxKey(worker.id), number, id)
  call('ZADD', key('inboxes'), 'NX', int(worker.lastBeatAt), worker.id)
  worker.inbox = 1
  worker.assigned = number
  worker.changed = true
end
function leaveInbox(worker, id)
  call('ZREM', inboxKey(worker), id)
  if call('EXISTS', inboxKey(worker)) == 0 then call('ZREM', key('inboxes'), worker) end
end
function leaveStage(kind, worker, id, lane)
  if kind == 'i' then
    leaveInbox(worker, id)
  elseif kind == 'l' then
    call('ZREM', launchesKey(lane.pool), id)
    if call('EXISTS', launchesKey(lane.pool)) == 0 then call('SREM', key('launching'), lane.pool) end
  end
end
function rewritten(record, token, workerJson, startedAt, build)
  local attempt, worker, start, rest =
    string.match(record, '^{"status":"running","attempt":(%d+),"token":"[^"]*","worker":(.-),"dispatchedAt":(%d+)(.*)$')
  return '{"status":"running","attempt":' .. attempt .. ',"token":"' .. token .. '","worker":' .. (workerJson or worker)
    .. ',"dispatchedAt":' .. (startedAt and int(startedAt) or start) .. string.sub(rest, 1, -#RUNNING_TAIL - 1) .. build
    .. RUNNING_TAIL
end
local function startAttempt(task, worker, workerJson, leaseMs, stage)
  local build = stage == 's' and call('HGET', key('worker:' .. worker), 'build') or ''
  local state = nextState(task.state, 'running')
  state.attempt = state.attempt + 1
  task.state = state
  local token = int(draw(1)) .. '-0.' .. int(task.lane.number)
  local attempt = int(state.attempt)
  local record = runningRecord(attempt, token, workerJson, recordExtra(state.generation, state.retryReason, build))
  call('HSET', taskKey(task.id), attempt, record, 'state', stateText(state))
  local change = leaseChange(worker)
  local start, untilAt = leaseStart(task.profile.timeoutMs, leaseMs, attempt, stage)
  if stage == 'l' then enterLaunches(task.lane.pool, task.id) else startsAt(change, untilAt) end
  addLease(change, task.id, stage, token, start)
  return token
end
end
local mayTellMore, proceed, eachStocked, letGo, setOwnLimit, STEPS, continueLifting
do
local LIFT_MAX = 500
local UNFINISHED_MAX = 20
local told
atBegin(function()
  told = 0
end)
function mayTellMore()
  return told < LIFT_MAX
end
function proceed(what, goOnAt)
  if goOnAt then
    call('HSET', key('unfinished'), what, goOnAt)
    nowExists('unfinished')
  else
    call('HDEL', key('unfinished'), what)
  end
  return not goOnAt
end
local function scopeCovers(scopeName, lane)
  for _, name in ipairs(scopeNames(lane)) do
    if name == scopeName then return true end
  end
  return false
end
local function stockByAction()
  local old = call('ZRANGE', key('stocked'), '(0', '+inf', 'BYSCORE', 'LIMIT', 0, LIFT_MAX)
  told = told + #old
  for _, member in ipairs(old) do
    local lane = laneNumbered(tonumber(member))
    call('ZREM', key('stocked'), member)
    if lane.queued > 0 then call('ZADD', key('stocked'), '0', lane.action .. '\\n' .. member) end
  end
  return #old < LIFT_MAX
end
local function eachOfTenant(action, tenant, visit)
  if call('EXISTS', key('pools')) == 0 then return false end
  for _, pool in ipairs(call('SMEMBERS', key('pools'))) do
    local number = findLane(pool, action, tenant)
    local lane = number and laneNumbered(number)
    if lane and lane.queued > 0 then visit(lane) end
  end
  return true
end
function eachStocked(scopeName, cursor, visit)
  local pool, action, tenant = string.match(scopeName, '^(.*)\\n(.*)\\n(.*)$')
  if pool == '\\r' and tenant ~= '' then
    if eachOfTenant(action, tenant, visit) then return nil end
  elseif pool ~= '' and action ~= '' and tenant ~= '' then
    local number = findLane(pool, action, tenant)
    local lane = number and laneNumbered(number)
    if lane and lane.queued > 0 then visit(lane) end
    return nil
  end
  if not stockByAction() then return cursor end
  local first, last = '-', '+'
  if action ~= '' then first, last = '[' .. action .. '\\n', '(' .. action .. '\\n~' end
  if string.find(cursor, '\\n', 1, true) then first = '(' .. cursor end
  local page = call('ZRANGE', key('stocked'), first, last, 'BYLEX', 'LIMIT', 0, LIFT_MAX)
  told = told + #page
  for _, member in ipairs(page) do
    local lane = laneNumbered(tonumber(string.match(member, '%d+$')))
    if scopeCovers(scopeName, lane) then visit(lane) end
  end
  return #page == LIFT_MAX and page[#page] or nil
end
local function countRunning(scopeName)
  local running = 0
  for _, member in ipairs(call('SMEMBERS', key('busy'))) do
    local lane = laneNumbered(tonumber(member))
    if scopeCovers(scopeName, lane) then running = running + lane.running end
  end
  return running
end
local function stirStocked(scopeName)
  eachStocked(scopeName, '', function(lane)
    if lane.ready > 0 and not lane.heldSince then stir(lane) end
  end)
end
function letGo(lane)
  lane.heldMs = lane.heldMs + now - lane.heldSince
  lane.heldSince = false
  catchUp(lane)
  if lane.ready > 0 then stir(lane, lane.ready) end
end
local function beginHold(scopeName, cursor)
  local hold = call('HGET', key('holds'), scopeName)
  local goOnAt = hold and eachStocked(scopeName, cursor, function(lane)
    if not lane.heldSince then applyHold(lane, hold) end
  end)
  return proceed('pause ' .. scopeName, goOnAt)
end
local function endHold(scopeName, cursor)
  local goOnAt = eachStocked(scopeName, cursor, function(lane)
    if lane.heldSince and not holdOn(lane) then letGo(lane) end
  end)
  return proceed('resume ' .. scopeName, goOnAt)
end
local function endLimit(scopeName)
  local what = 'limit ' .. scopeName
  local left = LIFT_MAX
  for _, place in ipairs(call('SMEMBERS', standingsKey(scopeName))) do
    local pool, action = string.match(place, '^(.*)\\n(.*)$')
    local page = call('ZRANGE', standingKey(scopeName, pool, action), 0, left - 1)
    for _, member in ipairs(page) do
      local lane = laneNumbered(tonumber(member))
      if lane.atLimit == scopeName then lane.atLimit = false end
      if not lane.heldSince then stir(lane, lane.ready) end
    end
    told = told + #page
    if #page == left then return proceed(what, '') end
    left = left - #page
    call('SREM', standingsKey(scopeName), place)
  end
  return proceed(what, nil)
end
function setOwnLimit(name, concurrency, since, countThem)
  local before = anyLimits() and call('HGET', key('limits'), name)
  local text = concurrency and int(concurrency) .. ' since ' .. int(since) or false
  if before == text then return true end
  for _, lane in ipairs(laneList) do lane.limits = false end
  if not text then
    limits[name] = nil
    call('HDEL', key('limits'), name)
    call('HDEL', key('slots'), name)
    if mayTellMore() then return endLimit(name) end
    return proceed('limit ' .. name, '')
  end
  local limit = limitNamed(name, before or text)
  if not before or limit.since ~= since then
    limit.running = countThem()
    limit.since = since
  end
  limit.concurrency = concurrency
  call('HSET', key('limits'), name, text)
  nowExists('limits')
  if before then limit.freed = math.max(limit.freed, concurrency - limit.running) end
  return true
end
STEPS = { pause = beginHold, resume = endHold, limit = endLimit }
function continueLifting()
  local some = call('HRANDFIELD', key('unfinished'), UNFINISHED_MAX, 'WITHVALUES')
  for index = 1, #some, 2 do
    if not mayTellMore() then break end
    local kind, name = string.match(some[index], '^(%a+) (.*)$')
    STEPS[kind](name, some[index + 1])
  end
  return call('EXISTS', key('unfinished')) == 1
end
end
local breakers, coverings, onLanes, placeOf, breakerId, blankBreaker, breakerText, breakerNamed, covering, breakersOn, setCovering, fadesAt, isForgotten, isTooMuch, transitions
do
atBegin(function()
  breakers, coverings, onLanes = {}, {}, {}
end)
function placeOf(action, tenant)
  return tenant and tenant ~= '' and action .. '\\n' .. tenant or action
end
breakerId = placeOf
function blankBreaker(id)
  local name, tenant = string.match(id, '^([^\\n]*)\\n?(.*)$')
  return { id = id, name = name, tenant = tenant ~= '' and tenant, actions = {}, state = { status = 'closed' }, buckets = {}, voices = {} }
end
local function parseBreaker(id, text)
  local stop = string.find(text, '\\n', 1, true)
  local breaker = blankBreaker(id)
  for field, value in pairs(cjson.decode(string.sub(text, stop + 1))) do breaker[field] = value end
  breaker.settingsText = string.sub(text, 1, stop - 1)
  breaker.settings = decodeSettings(breaker.settingsText)
  return breaker
end
local function fieldsText(fields)
  local texts = {}
  for name, value in pairs(fields) do
    texts[#texts + 1] = cjson.encode(name) .. ':' .. (type(value) == 'number' and int(value) or cjson.encode(value))
  end
  return '{' .. table.concat(texts, ',') .. '}'
end
local function listText(list, textOf)
  local texts = {}
  for index, item in ipairs(list) do texts[index] = textOf(item) end
  return '[' .. table.concat(texts, ',') .. ']'
end
function breakerText(breaker)
  return breaker.settingsText .. '\\n{"actions":' .. listText(breaker.actions, cjson.encode) .. ',"state":'
    .. fieldsText(breaker.state) .. ',"buckets":' .. listText(breaker.buckets, fieldsText)
    .. ',"voices":' .. listText(breaker.voices, fieldsText) .. '}'
end
function breakerNamed(id)
  local breaker = breakers[id]
  if breaker == nil then
    local text = call('HGET', key('breakers'), id)
    breaker = text and parseBreaker(id, text)
    breakers[id] = breaker
  end
  return breaker
end
function covering(place)
  local ids = coverings[place]
  if not ids then
    ids = {}
    local tenant = string.match(place, '\\n(.*)$')
    for name in string.gmatch(call('HGET', key('covered'), place) or '', '[^\\n]+') do ids[#ids + 1] = breakerId(name, tenant) end
    coverings[place] = ids
  end
  return ids
end
function breakersOn(lane)
  local found = onLanes[lane]
  if not found then
    local ids = {}
    for _, id in ipairs(covering(lane.action)) do ids[#ids + 1] = id end
    for _, id in ipairs(covering(placeOf(lane.action, lane.tenant))) do ids[#ids + 1] = id end
    table.sort(ids)
    found = {}
    for index, id in ipairs(ids) do found[index] = breakerNamed(id) end
    onLanes[lane] = found
  end
  for _, breaker in ipairs(found) do
    if breaker.state.status ~= 'closed' then return found, false end
  end
  return found, true
end
function setCovering(place, ids)
  coverings[place] = ids
  onLanes = {}
  if #ids == 0 then
    call('HDEL', key('covered'), place)
  else
    local names = {}
    for index, id in ipairs(ids) do names[index] = string.match(id, '^[^\\n]*') end
    call('HSET', key('covered'), place, table.concat(names, '\\n'))
  end
end
local function liveBuckets(breaker)
  local kept = {}
  for _, bucket in ipairs(breaker.buckets) do
    if bucket.at + breaker.settings.windowMs > now then kept[#kept + 1] = bucket end
  end
  return kept
end
function fadesAt(breaker)
  local at = 0
  for _, bucket in ipairs(breaker.buckets) do
    if bucket.failed > 0 then at = math.max(at, bucket.at + breaker.settings.windowMs) end
  end
  for _, voice in ipairs(breaker.voices) do
    if voice.failed > 0 then at = math.max(at, voice.since + breaker.settings.windowMs) end
  end
  return at
end
function isForgotten(breaker)
  return breaker.state.status == 'closed' and fadesAt(breaker) <= now
end
local function voiceOf(live, tenant, what)
  for _, voice in ipairs(live) do
    if voice.tenant == tenant then return voice end
  end
  if #live >= 20 then
    local quiet
    for index, voice in ipairs(live) do
      if not quiet and voice.failed == 0 then quiet = index end
    end
    if what == 'ok' or not quiet then return false end
    table.remove(live, quiet)
  end
  local voice = { tenant = tenant, since = now, ok = 0, failed = 0 }
  live[#live + 1] = voice
  return voice
end
local function hear(breaker, what, tenant, count)
  local live = {}
  for _, voice in ipairs(breaker.voices) do
    if voice.since + breaker.settings.windowMs > now then live[#live + 1] = voice end
  end
  local voice = voiceOf(live, tenant, what)
  if voice then voice[what] = voice[what] + count end
  breaker.voices = live
end
local function agree(breaker)
  local settings = breaker.settings
  local most = math.ceil(settings.minFailures / 2)
  local tenants, against, all = 0, 0, 0
  for _, voice in ipairs(breaker.voices) do
    local isAgainst = voice.failed > 0 and voice.failed >= settings.failureRate * (voice.ok + voice.failed)
    local weight = math.min(isAgainst and voice.failed or voice.ok, most)
    all = all + weight
    if isAgainst then
      tenants = tenants + 1
      against = against + weight
    end
  end
  return tenants >= 2 and against >= settings.minFailures and against >= settings.failureRate * all
end
local function countOutcome(breaker, what, tenant, count)
  if not breaker.tenant then return hear(breaker, what, tenant, count) end
  local widthMs = math.max(math.floor(breaker.settings.windowMs / 10), 1)
  local at = math.floor(now / widthMs) * widthMs
  local kept = liveBuckets(breaker)
  local last = kept[#kept]
  if not last or last.at < at then
    last = { at = at, ok = 0, failed = 0 }
    kept[#kept + 1] = last
  end
  last[what] = last[what] + count
  breaker.buckets = kept
end
local function openBreaker(breaker, opens)
  local settings = breaker.settings
  local openMs = math.min(settings.openMs * 2 ^ math.min(opens - 1, 30), settings.maxOpenMs)
  breaker.state = { status = 'open', since = now, ['until'] = now + openMs, opens = opens }
  breaker.buckets, breaker.voices = {}, {}
end
function isTooMuch(breaker)
  if not breaker.tenant then return agree(breaker) end
  local ok, failed = 0, 0
  for _, bucket in ipairs(breaker.buckets) do
    ok = ok + bucket.ok
    failed = failed + bucket.failed
  end
  local settings = breaker.settings
  return failed >= settings.minFailures and failed >= settings.failureRate * (ok + failed)
end
local function countFailure(breaker, tenant, opens)
  countOutcome(breaker, 'failed', tenant, 1)
  if isTooMuch(breaker) then openBreaker(breaker, opens) end
end
local function probeFailed(breaker, tenant)
  local state = breaker.state
  if not breaker.tenant and (state.doubtedBy or tenant) == tenant then
    state.doubtedBy = tenant
  else
    openBreaker(breaker, state.opens + 1)
  end
end
transitions = {}
function transitions.afterFailure(breaker, tenant, startedAt)
  local state = breaker.state
  if state.status == 'closed' then
    countFailure(breaker, tenant, 1)
  elseif state.status ~= 'open' and startedAt >= state.since then
    if state.status == 'half_open' then probeFailed(breaker, tenant) else countFailure(breaker, tenant, state.opens + 1) end
  end
end
function transitions.afterSuccess(breaker, tenant, startedAt, count)
  local state, settings = breaker.state, breaker.settings
  if state.status == 'closed' then return countOutcome(breaker, 'ok', tenant, count) end
  if state.status == 'open' or startedAt < state.since then return end
  local isRamping = state.status == 'ramping'
  if isRamping then countOutcome(breaker, 'ok', tenant, 1) end
  if state.doubtedBy == tenant then state.doubtedBy = nil end
  local wanted = isRamping and state.concurrency or settings.probes
  state.succeeded = state.succeeded + 1
  if state.succeeded < wanted then return end
  breaker.state = { status = 'ramping', since = state.since, opens = state.opens, succeeded = 0, concurrency = wanted * 2 }
  if wanted * 2 >= settings.maxRamp then breaker.state = { status = 'closed' } end
end
function transitions.isOutage(breaker, startedAt)
  local state = breaker.state
  if state.status == 'ramping' then return startedAt < state.since end
  return state.status ~= 'closed'
end
end
local allowedBy, setGates
do
local function gateOf(place)
  local action, tenant = string.match(place, '^([^\\n]*)\\n?(.*)$')
  return gateName(action, tenant)
end
function allowedBy(breaker)
  local state = breaker.state
  if state.status == 'half_open' then return breaker.settings.probes end
  return state.status == 'ramping' and state.concurrency or nil
end
local gateHolds, countedSince
atBegin(function()
  gateHolds, countedSince = {}, {}
end)
local function gateHold(place)
  local hold = gateHolds[place]
  if hold == nil then
    hold = call('HGET', key('holds'), gateOf(place))
    gateHolds[place] = hold
  end
  return hold
end
local function tellLane(lane)
  if lane.queued == 0 then return end
  local hold = gateHold(lane.action) or gateHold(placeOf(lane.action, lane.tenant))
  if not hold then
    if lane.heldSince and not holdOn(lane) then letGo(lane) end
  elseif not lane.heldSince then
    applyHold(lane, hold)
  end
end
local function tellLanes(place, cursor)
  return proceed('gates ' .. place, eachStocked(gateOf(place), cursor, tellLane))
end
STEPS.gates = tellLanes
local function addRunning(counts, since, startedAt, token)
  if tonumber(startedAt) < since then return end
  local lane = laneNumbered(tonumber(string.match(token, '%d+$')))
  local own = placeOf(lane.action, lane.tenant)
  counts[lane.action] = (counts[lane.action] or 0) + 1
  counts[own] = (counts[own] or 0) + 1
end
local function addLaunched(counts, since, ended)
  for _, pool in ipairs(call('SMEMBERS', key('launching'))) do
    for _, id in ipairs(call('ZRANGE', launchesKey(pool), '0', '-1')) do
      local state = not ended[id] and call('HGET', taskKey(id), 'state')
      local record = state and call('HGET', taskKey(id), string.match(state, '"attempt":(%d+)'))
      local _, _, token, _, startedAt = string.match(record or '', '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)')
      if token then addRunning(counts, since, startedAt, token) end
    end
  end
end
local function addLeased(counts, since, ended)
  for _, worker in ipairs(call('ZRANGE', key('leases'), '0', '-1')) do
    local leases = call('HGETALL', leasesKey(worker))
    for index = 1, #leases, 2 do
      local lease = leases[index + 1]
      if part(lease, 1, 1) ~= 'l' and not ended[leases[index]] then
        addRunning(counts, since, part(lease, 2, 14), string.match(lease, '^%S+ (%S+)'))
      end
    end
  end
end
local function runningSince(place, since)
  local ended, size = {}, 0
  for _, change in pairs(leaseChanges) do
    size = size + #change.removed
    for _, id in ipairs(change.removed) do ended[id] = true end
  end
  local name = int(since) .. ' ' .. int(size)
  local counts = countedSince[name]
  if not counts then
    counts = {}
    addLaunched(counts, since, ended)
    addLeased(counts, since, ended)
    countedSince[name] = counts
  end
  return counts[place] or 0
end
local function setHold(place)
  gateHolds[place] = nil
  for _, id in ipairs(covering(place)) do
    if breakerNamed(id).state.status == 'open' then
      nowExists('holds')
      return call('HSETNX', key('holds'), gateOf(place), NOW) == 1
    end
  end
  return call('HDEL', key('holds'), gateOf(place)) == 1
end
local function setLimit(place)
  local most
  local since = 0
  for _, id in ipairs(covering(place)) do
    local breaker = breakerNamed(id)
    local number = allowedBy(breaker)
    if number then
      if not most or number < most then most = number end
      since = math.max(since, breaker.state.since)
    end
  end
  return setOwnLimit(gateOf(place), most, since, function() return runningSince(place, since) end)
end
function setGates(places)
  local isChanged = {}
  for _, place in ipairs(places) do isChanged[place] = setHold(place) end
  for _, lane in ipairs(laneList) do
    if isChanged[lane.action] or isChanged[placeOf(lane.action, lane.tenant)] then tellLane(lane) end
  end
  local isTold = true
  for _, place in ipairs(places) do
    if isChanged[place] then
      local isDone
      if mayTellMore() then isDone = tellLanes(place, '') else isDone = proceed('gates ' .. place, '') end
      isTold = isTold and isDone
    end
    if not setLimit(place) then isTold = false end
  end
  return isTold
end
end
local tellFailure, tellSuccess, tellTime, flushBreakers
do
local TURN_MAX = 100
local ENTRY_TYPES, REASONS = { open = 'breaker.opened', half_open = 'breaker.half_open', ramping = 'breaker.ramping', closed = 'breaker.closed' }, { open = 'Too many failures: nothing starts until it has rested.', half_open = 'A few attempts are let through.', ramping = 'The attempts succeeded: more and more are let through.', closed = 'Work goes on as before.' }
local function entryHead(breaker)
  return '{"breaker":' .. cjson.encode(breaker.name) .. ',"tenant":' .. (breaker.tenant and cjson.encode(breaker.tenant) or 'null')
end
local function noteClosed(breaker, actor, reason)
  note(ENTRY_TYPES.closed, nil, nil, actor, reason, entryHead(breaker) .. '}')
end
local function noteStatus(breaker)
  local state = breaker.state
  if state.status == 'closed' then return noteClosed(breaker, 'breaker', 'Work goes on as before.') end
  local untilAt = state['until']
  note(ENTRY_TYPES[state.status], nil, nil, 'breaker', REASONS[state.status],
    entryHead(breaker) .. ',"opens":' .. int(state.opens) .. ',"until":'
    .. (untilAt and int(untilAt) or 'null') .. '}')
end
local function placesOf(breaker)
  local places = {}
  for index, action in ipairs(breaker.actions) do places[index] = placeOf(action, breaker.tenant) end
  return places
end
local function changeBreaker(breaker, apply)
  local before, boundBefore = breaker.state.status, allowedBy(breaker)
  local joined = apply(breaker)
  breaker.changed = true
  local state = breaker.state
  local hasTurned = state.status ~= before
  if hasTurned then
    if state.status == 'open' then
      call('ZADD', key('opened'), int(state['until']), breaker.id)
      call('ZREM', key('fading'), breaker.id)
    elseif before == 'open' then
      call('ZREM', key('opened'), breaker.id)
    end
  end
  if hasTurned or allowedBy(breaker) ~= boundBefore then
    setGates(placesOf(breaker))
  elseif joined and state.status ~= 'closed' then
    setGates({ placeOf(joined, breaker.tenant) })
  end
  if hasTurned then noteStatus(breaker) end
end
local function countOwned(breaker, change)
  if not breaker.tenant then return end
  if call('HINCRBY', key('owned'), breaker.tenant, change) <= 0 then call('HDEL', key('owned'), breaker.tenant) end
end
local function forgetBreaker(breaker)
  breakers[breaker.id] = false
  call('HDEL', key('breakers'), breaker.id)
  call('ZREM', key('opened'), breaker.id)
  call('ZREM', key('fading'), breaker.id)
  countOwned(breaker, '-1')
  local places = placesOf(breaker)
  for _, place in ipairs(places) do
    local kept = {}
    for _, id in ipairs(covering(place)) do
      if id ~= breaker.id then kept[#kept + 1] = id end
    end
    setCovering(place, kept)
  end
  return breaker.state.status == 'closed' or setGates(places)
end
local function cover(breaker, action)
  for _, known in ipairs(breaker.actions) do
    if known == action then return false end
  end
  breaker.actions[#breaker.actions + 1] = action
  local place = placeOf(action, breaker.tenant)
  local ids = { breaker.id }
  for _, id in ipairs(covering(place)) do ids[#ids + 1] = id end
  table.sort(ids)
  setCovering(place, ids)
  return true
end
local made
atBegin(function()
  made = 0
end)
local function mayMake(tenant)
  if call('HLEN', key('breakers')) + made >= 1000 then return false end
  return not tenant or (tonumber(call('HGET', key('owned'), tenant)) or 0) < 100
end
local function breakerToFail(id)
  local breaker = breakerNamed(id)
  if breaker and isForgotten(breaker) then
    forgetBreaker(breaker)
    breaker = false
  end
  if not breaker then
    breaker = blankBreaker(id)
    if not mayMake(breaker.tenant) then return false end
    countOwned(breaker, '1')
    made = made + 1
    breakers[id] = breaker
  end
  return breaker
end
local function mayCover(id, place)
  local ids = covering(place)
  for _, known in ipairs(ids) do
    if known == id then return true end
  end
  return #ids < 100
end
local function failFor(ref, lane, tenant, startedAt)
  local id = breakerId(ref.name, tenant)
  local breaker = mayCover(id, placeOf(lane.action, tenant)) and breakerToFail(id)
  if not breaker then return false end
  changeBreaker(breaker, function()
    breaker.settingsText = ref.settings
    breaker.settings = decodeSettings(ref.settings)
    local hasJoined = cover(breaker, lane.action)
    transitions.afterFailure(breaker, lane.tenant, startedAt)
    return hasJoined and lane.action
  end)
  return breaker
end
function tellFailure(refs, lane, startedAt)
  if not exists('breakers') then nowExists('breakers') end
  local counting = {}
  for _, ref in ipairs(refs) do
    counting[#counting + 1] = failFor(ref, lane, lane.tenant, startedAt) or nil
    counting[#counting + 1] = failFor(ref, lane, false, startedAt) or nil
  end
  for _, breaker in ipairs(counting) do
    if transitions.isOutage(breaker, startedAt) then return true end
  end
  return false
end
function tellSuccess(lane, startedAt, count)
  for _, breaker in ipairs(breakersOn(lane)) do
    if isForgotten(breaker) then
      forgetBreaker(breaker)
    else
      changeBreaker(breaker, function() transitions.afterSuccess(breaker, lane.tenant, startedAt, count) end)
    end
  end
end
function tellTime()
  local due = call('ZRANGE', key('opened'), '-inf', NOW, 'BYSCORE', 'LIMIT', 0, TURN_MAX)
  table.sort(due)
  for _, id in ipairs(due) do
    local breaker = breakerNamed(id)
    changeBreaker(breaker, function()
      breaker.state = { status = 'half_open', since = now, opens = breaker.state.opens, succeeded = 0 }
    end)
  end
  for _, id in ipairs(call('ZRANGE', key('fading'), '-inf', NOW, 'BYSCORE', 'LIMIT', 0, TURN_MAX)) do
    local breaker = breakerNamed(id)
    if isForgotten(breaker) then forgetBreaker(breaker) end
  end
  return tonumber(call('ZRANGE', key('opened'), '0', '0', 'WITHSCORES')[2])
end
function flushBreakers()
  for id, breaker in pairs(breakers) do
    if breaker and breaker.changed and isForgotten(breaker) then
      forgetBreaker(breaker)
    elseif breaker and breaker.changed then
      call('HSET', key('breakers'), id, breakerText(breaker))
      if breaker.state.status == 'closed' then call('ZADD', key('fading'), int(fadesAt(breaker)), id) end
    end
  end
end
end
local placeRetry
do
local PAST_MAX = 500
local KEPT_MS = 3600000
local quotas
atBegin(function()
  quotas = {}
end)
local function parseQuota(text, lane)
  local windowMs, limit, share, place, places, whose, name = string.match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  local itsName = windowMs .. ' ' .. name .. (whose == 'each' and '\\n' .. lane.tenant or '')
  local counted = quotas[itsName]
  if not counted then
    counted = { key = key('windows:' .. itsName), list = key('windowed:' .. itsName), taken = {} }
    quotas[itsName] = counted
  end
  return {
    name = name, windowMs = tonumber(windowMs), limit = tonumber(limit), share = tonumber(share), place = tonumber(place),
    places = tonumber(places), counted = counted,
  }
end
local function takenIn(quota, window)
  local counted = quota.counted
  local taken = counted.taken[window]
  if not taken then
    taken = tonumber(call('HGET', counted.key, int(window))) or 0
    counted.taken[window] = taken
  end
  return taken
end
local function startedLately(lane)
  local stored = quotas[lane]
  if not stored then
    local field = int(lane.number) .. ':started'
    stored = {
      this = tonumber(call('HGET', key('series:' .. int(MINUTE)), field)) or 0,
      before = tonumber(call('HGET', key('series:' .. int(MINUTE - 60000)), field)) or 0,
    }
    quotas[lane] = stored
  end
  return math.max(stored.this + (lane.tally.started or 0), stored.before)
end
local function listWindow(quota, window)
  local list = quota.counted.list
  local past = call('ZRANGE', list, '-inf', '(' .. int(math.floor(now / quota.windowMs)), 'BYSCORE', 'LIMIT', 0, PAST_MAX)
  call('ZADD', list, int(window), int(window))
  if #past > 0 then
    call('HDEL', quota.counted.key, unpack(past))
    call('ZREM', list, unpack(past))
  end
  local keptMs = int(3 * quota.windowMs + KEPT_MS)
  call('PEXPIRE', quota.counted.key, keptMs)
  call('PEXPIRE', list, keptMs)
end
local function roomIn(quota, window, byShare)
  local limit, places = quota.limit, quota.places
  if not limit then return byShare end
  local extra = (window + quota.place) % places < limit % places and 1 or 0
  return math.min(math.floor(limit / places) + extra, byShare)
end
function placeRetry(text, lane, wantedAt)
  local quota = parseQuota(text, lane)
  local byShare = quota.share and math.max(math.floor(quota.share * startedLately(lane)), 1) or math.huge
  local window, dueAt = math.floor(wantedAt / quota.windowMs), wantedAt
  if takenIn(quota, window) >= roomIn(quota, window, byShare) then
    window = window + 1
    local isOver = takenIn(quota, window) >= roomIn(quota, window, byShare)
    dueAt = isOver and wantedAt + quota.windowMs or window * quota.windowMs
  end
  local counted = quota.counted
  local taken = call('HINCRBY', counted.key, int(window), 1)
  counted.taken[window] = taken
  if taken == 1 then listWindow(quota, window) end
  return dueAt, dueAt > wantedAt and quota.name or nil
end
end
local becauseOf, groupKey, rejoinGroup, endExecution
do
function becauseOf(task, attempt, record)
  if not task then return 'unknown' end
  local status = record and statusOf(record)
  if status and status ~= 'running' then return status end
  if status == 'running' then return 'replaced' end
  return task.state.attempt < attempt and 'released' or 'unknown'
end
function groupKey(fingerprint)
  return key('group:' .. fingerprint)
end
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
function rejoinGroup(task, fingerprint)
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
function endExecution(task, attempt, ending)
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
end
local workers, workerKey, workerNamed, inboxDepth, flushWorkers, rosterOf
do
local WORKER_FIELDS, REGISTERED_FIELDS = { 'lastBeatAt', 'queueDepth', 'consecutiveFailures', 'recentOutcomes', 'recentFailures', 'lastFailureAt', 'inFlight', 'loopLagMs', 'maxQuietMs', 'lastProgressAt', 'probeFailures', 'memoryBytes', 'draining', 'inbox', 'assigned', 'outlook', 'failuresBy', 'servedWell', 'policyVersion' }, { 'epoch', 'pools', 'actions', 'host', 'version', 'runtimes', 'endpoint', 'concurrency', 'registeredAt' }
atBegin(function()
  workers = {}
end)
function workerKey(id)
  return key('worker:' .. id)
end
local function packWorker(worker)
  local numbers = { worker.lastBeatAt, worker.queueDepth, worker.consecutiveFailures, worker.recentOutcomes, worker.recentFailures, worker.lastFailureAt, worker.inFlight, worker.loopLagMs, worker.maxQuietMs, worker.lastProgressAt, worker.probeFailures, worker.memoryBytes, worker.draining, worker.inbox, worker.assigned, worker.outlook, worker.failuresBy, worker.servedWell, worker.policyVersion }
  numbers[6] = worker.lastFailureAt or -1
  return cmsgpack.pack(numbers)
end
local function freshWorker(id)
  return {
    id = id, lastBeatAt = now, queueDepth = 0, consecutiveFailures = 0, recentOutcomes = 0, recentFailures = 0,
    lastFailureAt = false, inFlight = 0, loopLagMs = 0, maxQuietMs = 0, lastProgressAt = now, probeFailures = 0, memoryBytes = 0,
    draining = 0, inbox = 0, assigned = 0, outlook = false, failuresBy = {}, servedWell = {},
    policyVersion = false,
  }
end
function workerNamed(id)
  local worker = workers[id]
  if worker ~= nil then return worker end
  local values = call('HMGET', workerKey(id), 'epoch', 'numbers', 'claim', 'build', 'registeredAt')
  local was = values[2] and cmsgpack.unpack(values[2])
  worker = was and {
    id = id, epoch = values[1], claim = values[3], wasClaim = values[3], lastBeatAt = was[1], queueDepth = was[2], consecutiveFailures = was[3], recentOutcomes = was[4], recentFailures = was[5], lastFailureAt = was[6], inFlight = was[7], loopLagMs = was[8], maxQuietMs = was[9], lastProgressAt = was[10], probeFailures = was[11], memoryBytes = was[12], draining = was[13], inbox = was[14], assigned = was[15], outlook = was[16], failuresBy = was[17], servedWell = was[18], policyVersion = was[19], changed = false, roster = false,
    build = values[4] or '', registeredAt = tonumber(values[5]),
  }
  if worker then
    if worker.lastFailureAt == -1 then worker.lastFailureAt = false end
    worker.failuresBy, worker.servedWell = worker.failuresBy or {}, worker.servedWell or {}
    worker.policyVersion = worker.policyVersion or false
  end
  workers[id] = worker
  return worker
end
function inboxDepth(worker)
  return worker.inbox > 0 and call('ZCARD', inboxKey(worker.id)) or 0
end
function flushWorkers()
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
function rosterOf(worker)
  if not worker.roster then
    local values = call('HMGET', workerKey(worker.id), 'pools', 'actions', 'host', 'version')
    worker.roster = { pools = setOf(values[1]), actions = setOf(values[2]), host = values[3], version = values[4] }
  end
  return worker.roster
end
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
end
local assess, progressed, witness, thresholdsText, thresholds, parseThresholds, claimHealth
do
local TENANT, IN_ROW, RECENT, SERVED_AT = 1, 2, 3, 2
local function excused(evidence, what, most)
  local sum = 0
  for _, failures in ipairs(evidence.failuresBy) do
    local isServing = false
    for _, served in ipairs(evidence.servedWell) do
      if served[TENANT] ~= failures[TENANT] and now - served[SERVED_AT] < 60000 then isServing = true end
    end
    if isServing and failures[TENANT] ~= '' then sum = sum + math.max(failures[what] - most, 0) end
  end
  return sum
end
function assess(evidence, limits, inbox)
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
    if string.find(evidence.outlook, 'claims nothing: ', 1, true) == 1 then unhealthy = true else degraded = true end
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
function progressed(id)
  local worker = workerNamed(id)
  if not worker then return end
  worker.lastProgressAt = now
  worker.changed = true
end
local function failuresOf(worker, tenant)
  local list = worker.failuresBy
  local rest
  for _, failures in ipairs(list) do
    if failures[TENANT] == tenant then return failures end
    if failures[TENANT] == '' then rest = failures end
  end
  if rest and #list >= 8 then return rest end
  local failures = { #list < 8 and tenant or '', 0, 0 }
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
function witness(id, tenant, ok, count)
  local worker = workerNamed(id)
  if not worker then return end
  worker.changed = true
  count = count or 1
  local outcomes, failures = worker.recentOutcomes, worker.recentFailures
  for _ = 1, count do
    if outcomes >= 100 then
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
local function hasHelp(worker, limits)
  local served = rosterOf(worker).pools
  for _, id in ipairs(call('ZRANGE', key('workers'), 0, 1000 - 1)) do
    local other = id ~= worker.id and workerNamed(id)
    if other and assess(other, limits, inboxDepth(other)) ~= 'unhealthy' then
      for pool in pairs(rosterOf(other).pools) do
        if served[pool] then return true end
      end
    end
  end
  return false
end
function parseThresholds(text)
  if text ~= thresholdsText then
    thresholds = cjson.decode(text)
    thresholdsText = text
  end
  return thresholds
end
function claimHealth(worker, limits)
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
end
local settle
do
local workerParts
atBegin(function()
  workerParts = {}
end)
local function parseEnding(at, kind)
  local ending = { kind = kind, decision = ARGV[at + 0], delayMs = ARGV[at + 1], reason = ARGV[at + 2], fingerprint = ARGV[at + 3], sentence = ARGV[at + 4], data = ARGV[at + 5], tail = ARGV[at + 6], blames = ARGV[at + 7], quota = ARGV[at + 8] }
  ending.delayMs, ending.blames = tonumber(ending.delayMs), ending.blames == '1'
  ending.quota, ending.quotaText = nil, ending.quota
  return ending
end
local function parseOutage(at)
  local count = tonumber(ARGV[at])
  if count == 0 then return nil end
  at = at + 1
  local outage = { reason = ARGV[at + 0], sentence = ARGV[at + 1], data = ARGV[at + 2], tail = ARGV[at + 3], refs = {} }
  at = at + 4
  for index = 1, count do
    outage.refs[index] = { name = ARGV[at + 0], settings = ARGV[at + 1] }
    at = at + 2
  end
  return outage
end
local function parkInstead(ending, outage)
  ending.decision, ending.blames = 'park', false
  ending.reason, ending.sentence, ending.data, ending.tail = outage.reason, outage.sentence, outage.data, outage.tail
end
local function placeEnding(ending, lane)
  if ending.decision ~= 'retry' then return end
  ending.dueAt = now + ending.delayMs
  if ending.quotaText ~= '' then ending.dueAt, ending.quota = placeRetry(ending.quotaText, lane, ending.dueAt) end
end
local function supersede(kind, id, attempt, because, isKnown)
  if isKnown and (kind == 'succeeded' or kind == 'failed') then
    note('execution.superseded', id, attempt, 'caller', kind .. ' refused: ' .. because,
      '{"kind":"' .. kind .. '","because":"' .. because .. '"}')
  end
  return 'superseded ' .. because
end
local AFTER = { retry = 'waiting', park = 'queued', dead = 'dead' }
local function statusAfter(record)
  if statusOf(record) == 'succeeded' then return 'succeeded' end
  return AFTER[string.match(record, '"decision":{"kind":"(%a+)"')]
end
local function refuseLease(kind, id, attempt, token, isDeferred)
  local task = loadTask(id)
  local record = call('HGET', taskKey(id), int(attempt))
  if record then
    local status, _, itsToken = string.match(record, '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)')
    if task and status == kind and itsToken == token then return 'repeated ' .. statusAfter(record) end
  end
  local because = becauseOf(task, attempt, record)
  if kind == 'released' and because == 'released' then return 'repeated ' .. (isDeferred and 'waiting' or 'queued') end
  return supersede(kind, id, attempt, because, task)
end
local BLANK, ZERO = 32, 48
local function startOf(lease)
  local start = string.sub(lease, 2, 14)
  return string.byte(start) == ZERO and int(tonumber(start)) or start
end
local function workerPart(worker)
  local part = workerParts[worker]
  if part == nil then
    local known = workerNamed(worker)
    part = known and {
      before = '","worker":' .. cjson.encode(worker) .. ',"dispatchedAt":', after = known.build .. SUCCESS_TAIL, since = known.registeredAt,
    }
    workerParts[worker] = part
  end
  return part
end
local function workerPartAt(worker, startedAt)
  local part = workerPart(worker)
  return part and part.since <= startedAt and part
end
local function succeed(id, attempt, token, lease, origin, result)
  local itsKey = taskKey(id)
  local worker = origin.worker
  local isPlain = string.byte(lease) == 112
  local isNotified, state = false, nil
  local startedAt = tonumber(part(lease, 2, 14))
  local written = isPlain and result == '' and workerPartAt(worker, startedAt)
  if written then
    call('HSET', itsKey, '1', '{"status":"succeeded","attempt":1,"token":"' .. token .. written.before .. startOf(lease) .. written.after)
  else
    local values = call('HMGET', itsKey, attempt, 'state')
    local ending = endRecord(values[1], 'succeeded')
    if result ~= '' then ending = string.sub(ending, 1, -2) .. ',\\n"result":' .. result .. '}' end
    if isPlain then
      call('HSET', itsKey, attempt, ending)
    else
      state = nextState(cjson.decode(values[2]), 'succeeded')
      isNotified = state.notify
      state.at = now
      state.deferrals = nil
      call('HSET', itsKey, attempt, ending, 'state', stateText(state))
    end
  end
  removeLease(worker, id)
  local lane = origin.lane or laneNumbered(tonumber(origin.laneText))
  origin.lane = lane
  lane.succeeding = (lane.succeeding or 0) + 1
  if #limitsOn(lane) > 0 then freeSlot(lane, startedAt) end
  if exists('breakers') then tellSuccess(lane, startedAt, 1) end
  ended(id)
  if state and state.retryReason then
    note('task.recovered', id, tonumber(attempt), 'worker:' .. worker, 'The task has succeeded after it had failed.', format('{"action":%s,"reason":%s,"generation":%d,"fingerprint":%s}', cjson.encode(lane.action), cjson.encode(state.retryReason), state.generation, state.diedOf and cjson.encode(state.diedOf) or 'null'))
  end
  if isNotified then
    note('task.succeeded', id, tonumber(attempt), 'worker:' .. worker, 'The task has succeeded.', '{"action":' .. cjson.encode(lane.action) .. '}')
  end
  if part(lease, 1, 1) == 'l' then
    leaveStage('l', worker, id, lane)
    return 'settled succeeded unseen'
  end
  progressed(worker)
  witness(worker, lane.tenant, true)
  return 1
end
local function countSuccesses()
  for _, lane in ipairs(laneList) do
    if lane.succeeding then
      move(lane, 'running', 'succeeded', lane.succeeding)
      tally(lane, 'succeeded', lane.succeeding)
      lane.succeeding = nil
    end
  end
end
local function endRunning(task, worker, startedAt)
  removeLease(worker, task.id)
  freeSlot(task.lane, startedAt)
  move(task.lane, 'running', nil)
end
local function beganAnew(worker, startedAt)
  local registeredAt = tonumber(call('HGET', workerKey(worker), 'registeredAt'))
  return registeredAt and registeredAt > startedAt
end
local function settleBadEnd(id, attempt, worker, ending, stage, outage, startedAt)
  local task = loadTask(id)
  endRunning(task, worker, startedAt)
  if outage and tellFailure(outage.refs, task.lane, startedAt) then parkInstead(ending, outage) end
  placeEnding(ending, task.lane)
  local record = attempt == 1 and task.first or call('HGET', taskKey(id), int(attempt))
  ending.actor = ending.kind == 'lost' and 'sweep' or 'worker:' .. worker
  local isSeen = stage ~= 'l' and not (ending.kind == 'lost' and beganAnew(worker, startedAt))
  if isSeen and ending.kind == 'failed' then progressed(worker) end
  if isSeen and (ending.kind == 'lost' or ending.blames) then witness(worker, task.lane.tenant, false) end
  local status = endExecution(task, attempt, ending)
  call('HSET', taskKey(id), int(attempt), endRecord(record, ending.kind, ending.tail), 'state', stateText(task.state))
  return 'settled ' .. status .. (isSeen and '' or ' unseen')
end
local function defer(task, delayMs, reason)
  local state = nextState(task.state, 'waiting')
  state.deferrals = (state.deferrals or 0) + 1
  state.since = now
  state.dueAt = now + delayMs
  state.reason = reason
  task.state = state
  saveState(task)
  call('ZADD', key('waiting:' .. task.lane.pool), int(state.dueAt), waitingMember(task))
  move(task.lane, nil, 'waiting')
end
local function release(id, attempt, worker, given, stage, startedAt)
  local task = loadTask(id)
  endRunning(task, worker, startedAt)
  if stage == 's' or stage == 'p' then progressed(worker) end
  task.state.attempt = attempt - 1
  call('HDEL', taskKey(id), int(attempt))
  call('HDEL', logKey(id), int(attempt))
  local delayMs = tonumber(given.delayMs)
  if delayMs then defer(task, delayMs, given.waitReason) else enqueue(task, true) end
  stir(task.lane)
  note('execution.released', id, attempt, 'worker:' .. worker, given.reason, '{}')
  return 'settled ' .. task.state.status
end
local function expire(id, attempt, ending)
  local task = loadTask(id)
  if not task then return 'superseded unknown' end
  if task.state.status ~= 'queued' or task.state.attempt + 1 ~= attempt then
    local record = call('HGET', taskKey(id), int(attempt))
    if record then
      local status, _, _, worker = string.match(record, '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)')
      if status == 'failed' and worker == 'null' then return 'repeated ' .. statusAfter(record) end
    end
    return 'superseded ' .. becauseOf(task, attempt, record)
  end
  if not overdue(task) then return 'superseded renewed' end
  dequeue(task)
  move(task.lane, 'queued', nil)
  local token = int(draw(1)) .. '-0.' .. int(task.lane.number)
  local record = runningRecord(int(attempt), token, 'null', recordExtra(task.state.generation, task.state.retryReason, ''))
  ending.actor = 'sweep'
  placeEnding(ending, task.lane)
  local status = endExecution(task, attempt, ending)
  call('HSET', taskKey(id), int(attempt), endRecord(record, 'failed', ending.tail), 'state', stateText(task.state))
  return 'settled ' .. status
end
local SIZES = {
  from = 3, succeeded = 5, released = 7, failed = 14, lost = 14,
  expired = 12,
}
local function sizeAt(at)
  local kind = ARGV[at]
  local breakers = kind == 'failed' and tonumber(ARGV[at + 13]) or 0
  if breakers > 0 then return SIZES.failed + 4 + 2 * breakers end
  return SIZES[kind] or 3 + 2 * tonumber(ARGV[at + 2])
end
local function leasesNamed(at, last)
  local ids = {}
  local list
  while at <= last do
    local kind = ARGV[at]
    if kind == 'from' then
      local worker = ARGV[at + 1]
      list = ids[worker] or {}
      ids[worker] = list
    elseif kind == 'done' then
      local args, size, before = ARGV, #list, at + 2 - 1
      for index = 1, tonumber(args[before + 1]) do list[size + index] = args[before + index * 2] end
    elseif kind ~= 'expired' then
      list[#list + 1] = ARGV[at + 1]
    end
    at = at + sizeAt(at)
  end
  local found = {}
  for worker, names in pairs(ids) do
    local leases = {}
    for index, lease in ipairs(call('HMGET', leasesKey(worker), unpack(names))) do leases[names[index]] = lease end
    found[worker] = leases
  end
  return found
end
local function isLease(lease, attempt, token)
  local stop = 16 + #token
  if part(lease, 16, stop - 1) ~= token or byteAt(lease, stop) ~= BLANK then return false end
  if byteAt(lease) == 112 then return attempt == '1' end
  return string.match(lease, '^%d+', stop + 1) == attempt
end
local function isUnbegun(lease)
  local kind = byteAt(lease)
  return kind == 100 or kind == 105
end
local function settleLease(at, kind, origin)
  local id, attempt, token = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local lease = origin.leases[id]
  if not lease or not isLease(lease, attempt, token) then
    return refuseLease(kind, id, tonumber(attempt), token, kind == 'released' and ARGV[at + 5] ~= '')
  end
  if kind ~= 'released' and isUnbegun(lease) then return supersede(kind, id, tonumber(attempt), 'replaced', true) end
  if kind == 'lost' and ARGV[at + 13] == '' and parseLease(lease).untilAt > now then return 'superseded renewed' end
  origin.leases[id] = false
  if kind == 'succeeded' then return succeed(id, attempt, token, lease, origin, ARGV[at + 4]) end
  local stage = part(lease, 1, 1)
  if byteAt(lease) ~= 112 then leaveStage(stage, origin.worker, id, laneNumbered(tonumber(origin.laneText))) end
  local startedAt = tonumber(part(lease, 2, 14))
  if kind == 'released' then
    return release(id, tonumber(attempt), origin.worker, { kind = ARGV[at + 0], id = ARGV[at + 1], attempt = ARGV[at + 2], token = ARGV[at + 3], reason = ARGV[at + 4], delayMs = ARGV[at + 5], waitReason = ARGV[at + 6] }, stage, startedAt)
  end
  local outage = kind == 'failed' and parseOutage(at + 13) or nil
  return settleBadEnd(id, tonumber(attempt), origin.worker, parseEnding(at + 4, kind), stage, outage, startedAt)
end
local function settleDone(at, origin, answers)
  local args, leases, worker = ARGV, origin.leases, origin.worker
  local find, draw, suffix = string.find, args[at + 1], '.' .. origin.laneText
  local first = at + 3
  local start = leases[args[first]] and part(leases[args[first]], 2, 14)
  local written = start and byteAt(start) ~= ZERO and workerPartAt(worker, tonumber(start))
  local leaseHead = written and 'p' .. start .. ' '
  local recordHead, recordTail = '{"status":"succeeded","attempt":1,"token":"', written and written.before .. start .. written.after
  local removed = leaseChange(worker).removed
  local removedSize, size, successes, inRow = #removed, #answers, 0, 0
  local isWatched, hasBreakers = exists('watched'), exists('breakers')
  local lane, isTold
  for index = first, first + 2 * tonumber(args[at + 2]) - 1, 2 do
    local id = args[index]
    local token = draw .. args[index + 1] .. suffix
    local lease = leases[id]
    local isPlain = lease and leaseHead and find(lease, leaseHead .. token .. ' ', 1, true) == 1
    local isHeld = isPlain or lease and isLease(lease, '1', token)
    local answer = 1
    if isHeld and not lane then
      lane = laneNumbered(tonumber(origin.laneText))
      isTold = hasBreakers and not select(2, breakersOn(lane))
    end
    if not isHeld then
      answer = refuseLease('succeeded', id, 1, token)
    elseif isTold or not isPlain then
      leases[id] = isUnbegun(lease) and lease
      answer = leases[id] and supersede('succeeded', id, 1, 'replaced', true) or succeed(id, '1', token, lease, origin, '')
      removedSize = #removed
    else
      leases[id] = false
      call('HSET', TASK_PREFIX .. id, '1', recordHead .. token .. recordTail)
      removedSize, successes = removedSize + 1, successes + 1
      removed[removedSize] = id
      if isWatched then ended(id) end
    end
    if answer == 1 then
      inRow = inRow + 1
      answers[size + 1] = inRow
    else
      if inRow > 0 then size, inRow = size + 1, 0 end
      size = size + 1
      answers[size] = answer
    end
  end
  if successes == 0 then return end
  lane.succeeding = (lane.succeeding or 0) + successes
  if #limitsOn(lane) > 0 then
    for _ = 1, successes do freeSlot(lane, now) end
  end
  if hasBreakers then tellSuccess(lane, now, successes) end
  progressed(worker)
  witness(worker, lane.tenant, true, successes)
end
function settle(at, last)
  local answers = {}
  local leases = leasesNamed(at, last)
  local origin
  while at <= last do
    local kind = ARGV[at]
    if kind == 'from' then
      local worker, laneText = ARGV[at + 1], ARGV[at + 2]
      origin = { worker = worker, laneText = laneText, lane = false, leases = leases[worker] }
    elseif kind == 'done' then
      settleDone(at, origin, answers)
    elseif kind == 'expired' then
      answers[#answers + 1] = expire(ARGV[at + 1], tonumber(ARGV[at + 2]), parseEnding(at + 3, kind))
    else
      answers[#answers + 1] = settleLease(at, kind, origin)
    end
    at = at + sizeAt(at)
  end
  countSuccesses()
  return answers
end
end
local promoteDue
do
local function isResting(pool)
  return pool.promotedAt and now >= pool.promotedAt and now - pool.promotedAt < 6
end
local function firstDue(pools)
  local first
  for _, name in ipairs(pools) do
    local at = tonumber(call('ZRANGE', key('waiting:' .. name), '0', '0', 'WITHSCORES')[2])
    if at and at <= now then
      local pool = poolNamed(name)
      if isResting(pool) then at = pool.promotedAt + 6 end
    end
    if at and (not first or at < first) then first = at end
  end
  return first
end
local function isEarlier(a, b)
  return a.at < b.at or (a.at == b.at and a.member < b.member)
end
local function dueIn(pools)
  local due, seen = {}, {}
  for _, pool in ipairs(pools) do
    if not seen[pool] and not isResting(poolNamed(pool)) then
      seen[pool] = true
      local page = call('ZRANGE', key('waiting:' .. pool), '-inf', NOW, 'BYSCORE', 'LIMIT', 0, 50, 'WITHSCORES')
      for index = 1, #page, 2 do due[#due + 1] = { member = page[index], at = tonumber(page[index + 1]), pool = pool } end
    end
  end
  if #pools > 1 then table.sort(due, isEarlier) end
  return due
end
function promoteDue(request)
  local first = firstDue(request.pools)
  if not first or first > now then return first end
  local due = dueIn(request.pools)
  local count = math.min(#due, 50)
  local together = { rank = draw(count) - count, entries = {} }
  local taken, ready, seen = {}, {}, {}
  for index = 1, count do
    local item = due[index]
    local task = loadTask(string.sub(item.member, 17))
    move(task.lane, 'waiting', nil)
    enqueue(task, false, together)
    stir(task.lane)
    taken[item.pool] = (taken[item.pool] or 0) + 1
    seen[task.lane] = item.pool
  end
  for lane, pool in pairs(seen) do ready[pool] = (ready[pool] or 0) + lane.ready end
  for queue, entries in pairs(together.entries) do call('RPUSH', queue, unpack(entries)) end
  for pool, amount in pairs(taken) do call('ZREMRANGEBYRANK', key('waiting:' .. pool), '0', int(amount - 1)) end
  for _, name in ipairs(request.pools) do
    local pool = poolNamed(name)
    if (ready[name] or 0) >= 500 and not isResting(pool) and call('ZCOUNT', key('waiting:' .. name), '-inf', NOW) > 0 then
      pool.promotedAt, pool.hasPromoted = now, true
    end
  end
  return firstDue(request.pools)
end
end
local beginAvoiding, avoids, passOver, countPassed, returnPassed
do
local avoider, avoiderLimits, fleet, passedOver
atBegin(function()
  avoider, avoiderLimits, fleet, passedOver = false, false, false, {}
end)
function beginAvoiding(worker, limits)
  avoider, avoiderLimits = worker, limits
end
local function others()
  if not fleet then
    fleet = {}
    for _, id in ipairs(call('ZRANGE', key('workers'), '0', int(100 - 1))) do
      local other = id ~= avoider.id and workerNamed(id)
      if other and other.draining == 0 and assess(other, avoiderLimits, inboxDepth(other)) == 'healthy' then fleet[#fleet + 1] = other end
    end
  end
  return fleet
end
local function failedOn(id, state)
  local record = call('HGET', taskKey(id), int(state.attempt))
  if not record then return nil end
  local status, _, _, workerJson = string.match(record, '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)')
  if (status ~= 'failed' and status ~= 'lost') or workerJson == 'null' then return nil end
  local generation = select(6, string.match(record, '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)' .. ',"generation":(%d+)'))
  if (tonumber(generation) or 1) ~= state.generation then return nil end
  return cjson.decode('[' .. workerJson .. ']')[1]
end
local function likeness(worker, failed, failedRoster)
  if worker.id == failed then return 3 end
  if not failedRoster then return 0 end
  local roster = rosterOf(worker)
  return (roster.host == failedRoster.host and 1 or 0) + (roster.version == failedRoster.version and 1 or 0)
end
function avoids(head, lane)
  local state = head.state
  if not avoider or not state or state.attempt == 0 or now >= state.since + 2000 then return false end
  if #passedOver >= 1000 or #others() == 0 then return false end
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
function passOver(head, entry)
  passedOver[#passedOver + 1] = { head = head, entry = entry, lane = head.source.lane, counts = false }
  head.source.lane.passes = true
end
function countPassed(lane, chosen, takesOldest)
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
function returnPassed()
  local first
  for _, passed in ipairs(passedOver) do
    local head, lane = passed.head, passed.lane
    call('ZADD', returnedKey(lane, head.source.priority), int(head.rank), passed.entry)
    lane.returned = lane.returned + 1
    if not head.state.returned then
      head.state.returned = true
      call('HSET', taskKey(head.id), 'state', stateText(head.state))
      stir(lane)
    end
    local at = head.state.since + 2000
    if passed.counts and (not first or at < first) then first = at end
  end
  return first
end
end
local refillSource, pass, isOverdue, closeSource, sourcesOf, nextEntry
do
local PAGE_MAX = 100
local function newSource(lane, priority, kind)
  return { lane = lane, priority = priority, kind = kind, page = {}, at = 1, consumed = 0, taken = 0, done = false }
end
function refillSource(source, wanted)
  local from = source.consumed
  local to = from + math.max(math.min(wanted, PAGE_MAX), 1) - 1
  if source.kind == 'list' then
    source.page = call('LRANGE', queueKey(source.lane, source.priority), int(from), int(to))
  else
    source.page = call('ZRANGE', returnedKey(source.lane, source.priority), int(from), int(to))
  end
  source.at = 1
  source.done = #source.page == 0
end
function pass(source)
  source.head = nil
  source.at = source.at + 1
  source.consumed = source.consumed + 1
end
local function checkHead(head, lane)
  if head.kind == 'p' and lane.stale == 0 then return true end
  local values = call('HMGET', taskKey(head.id), 'task', 'state')
  local state = values[2] and cjson.decode(values[2])
  head.text = values[1]
  head.state = state
  if state then
    local isHere = not state.returned == (head.source.kind == 'list')
    if state.status == 'queued' and state.rank == head.rank and isHere and not state.retired then return true end
  elseif values[1] and tonumber((string.match(values[1], '^{"seq":(%d+),"acceptedAt":(%d+),"lane":(%d+)'))) == head.rank then
    return true
  end
  if lane.stale > 0 then lane.stale = lane.stale - 1 end
  return false
end
function isOverdue(head, lane)
  return (head.deadlineAt and now >= head.deadlineAt) or (head.expires and laneTime(lane) >= head.expires)
end
local function headOf(source, wanted)
  if source.head then return source.head end
  while not source.done do
    if source.at > #source.page then refillSource(source, wanted) end
    local entry = source.page[source.at]
    if not entry then return nil end
    local rank, timeoutMs, expires, deadlineAt, kind, id = parseEntry(entry)
    local head = {
      rank = tonumber(rank), timeoutMs = timeoutMs, expires = tonumber(expires), deadlineAt = tonumber(deadlineAt),
      kind = kind, id = id, source = source,
    }
    if checkHead(head, source.lane) then
      if isOverdue(head, source.lane) or not avoids(head, source.lane) then
        source.head = head
        return head
      end
      passOver(head, entry)
    end
    pass(source)
  end
  return nil
end
function closeSource(source)
  local lane = source.lane
  if source.consumed == 0 then return end
  if source.kind == 'list' then
    call('LTRIM', queueKey(lane, source.priority), int(source.consumed), '-1')
  else
    lane.returned = lane.returned - call('ZREMRANGEBYRANK', returnedKey(lane, source.priority), '0', int(source.consumed - 1))
  end
  if source.taken > 0 then unready(lane, source.priority, source.taken) end
end
local function earlier(a, b)
  if not a or not b then return a or b end
  return a.rank < b.rank and a or b
end
function sourcesOf(lane, priority)
  local sources = lane.sources[priority]
  if not sources then
    sources = { newSource(lane, priority, 'list') }
    if lane.returned > 0 then sources[2] = newSource(lane, priority, 'zset') end
    lane.sources[priority] = sources
  end
  return sources
end
local function firstOf(lane, priority, wanted)
  local sources = sourcesOf(lane, priority)
  local head = headOf(sources[1], wanted)
  if sources[2] then head = earlier(head, headOf(sources[2], wanted)) end
  return head
end
local function leftOf(lane, priority)
  return lane[SLOTS[priority]] - (lane.takenOf[priority] or 0)
end
function nextEntry(lane, wanted)
  local takesOldest = lane.picks % 8 == 8 - 1
  local oldest
  for priority = 9, 0, -1 do
    local count = leftOf(lane, priority)
    if count > 0 then
      local head = firstOf(lane, priority, math.min(wanted, count))
      oldest = earlier(oldest, head)
      if (head and not takesOldest) or count == lane.ready - lane.taken then break end
    end
  end
  if lane.passes then countPassed(lane, oldest, takesOldest) end
  return oldest
end
end
local NUMBERED, newStarter, plainLeaseStart, started, startedUnusually, RUNNING_HEAD, startEntry, retire
do
NUMBERED = {}
for index = 1, 1000 do NUMBERED[index] = '-' .. index end
function newStarter(request, claimed)
  local build = request.stage == 's' and workerNamed(request.worker).build or ''
  local drawn, beginning = draw(1, true)
  return {
    request = request, build = build, claimed = claimed, stage = request.stage, change = leaseChange(request.worker), draw = int(drawn), beginning = beginning, count = 0, starts = {},
    plainTail = '","worker":' .. request.workerJson .. ',"dispatchedAt":' .. NOW .. build .. RUNNING_TAIL,
  }
end
function plainLeaseStart(starter, timeoutMs)
  local start = starter.starts[timeoutMs]
  if not start then
    local untilAt
    start, untilAt = leaseStart(tonumber(timeoutMs), starter.request.leaseMs, '1')
    startsAt(starter.change, untilAt)
    starter.starts[timeoutMs] = start
  end
  return start
end
function started(claimed, id, text)
  local size = #claimed
  claimed[size + 1] = id
  claimed[size + 2] = text
end
function startedUnusually(claimed, id, token, text, state)
  claimed[#claimed + 1] = '\\n' .. token .. '\\n' .. state
  started(claimed, id, text)
end
RUNNING_HEAD = '{"status":"running","attempt":1,"token":"'
local function startPlain(starter, laneSuffix, id, timeoutMs)
  starter.count = starter.count + 1
  local token = starter.draw .. NUMBERED[starter.count] .. laneSuffix
  local itsKey = taskKey(id)
  local text = call('HGET', itsKey, 'task')
  call('HSET', itsKey, '1', RUNNING_HEAD .. token .. starter.plainTail)
  addLease(starter.change, id, 'p', token, plainLeaseStart(starter, timeoutMs))
  started(starter.claimed, id, text)
end
local function makeStored(head)
  local task = loadTask(head.id)
  head.state = task.state
  head.text = task.text
end
function startEntry(starter, lane, head)
  local id = head.id
  if head.expires or head.deadlineAt then forgetTimes(lane, id, head.expires, head.deadlineAt) end
  if not head.state then
    if starter.stage == 's' then return startPlain(starter, '.' .. int(lane.number), id, head.timeoutMs) end
    makeStored(head)
  end
  starter.count = starter.count + 1
  local token = starter.draw .. NUMBERED[starter.count] .. '.' .. int(lane.number)
  local state = nextState(head.state, 'running')
  state.attempt = state.attempt + 1
  local attempt = int(state.attempt)
  local newState = stateText(state)
  local record = runningRecord(attempt, token, starter.request.workerJson, recordExtra(state.generation, state.retryReason, starter.build))
  call('HSET', taskKey(id), attempt, record, 'state', newState)
  local start, untilAt = leaseStart(tonumber(head.timeoutMs), starter.request.leaseMs, attempt, starter.stage)
  if starter.stage == 'l' then enterLaunches(lane.pool, id) else startsAt(starter.change, untilAt) end
  addLease(starter.change, id, starter.stage, token, start)
  startedUnusually(starter.claimed, id, token, head.text, newState)
end
function retire(head)
  local state = head.state or loadTask(head.id).state
  state.retired = true
  call('HSET', taskKey(head.id), 'state', stateText(state))
end
end
local takeEntries
do
local LOOK_MAX = 2000
local LANES_PER_PAGE = 100
local function newGroup(pool, action, limit)
  local itsKey = limit and standingKey(limit.name, pool.name, action) or activeKey(pool.name, action)
  return { pool = pool, action = action, key = itsKey, limit = limit, offset = 0, live = 0, served = 0, done = false }
end
local function insertSorted(candidates, lane)
  local at = #candidates + 1
  while at > 1 do
    local before = candidates[at - 1]
    if before.distance < lane.distance or (before.distance == lane.distance and before.number < lane.number) then break end
    candidates[at] = before
    at = at - 1
  end
  candidates[at] = lane
end
local function refillGroup(group, candidates, wanted, look)
  if group.limit then wanted = math.min(wanted, group.served + group.limit.concurrency - group.limit.running) end
  while not group.done and group.live < wanted and look.left > 0 do
    local size = math.min(wanted - group.live, LANES_PER_PAGE)
    local page = call('ZRANGE', group.key, int(group.offset), int(group.offset + size - 1))
    group.offset = group.offset + #page
    group.done = #page < size
    for _, member in ipairs(page) do
      look.left = look.left - 1
      local lane = laneNumbered(tonumber(member))
      local hold = holdOn(lane)
      local full = fullLimit(lane)
      if hold then
        applyHold(lane, hold)
      elseif full then
        standAt(lane, full)
      else
        lane.group = group
        lane.distance = lane.turn - group.pool.atStart
        lane.sources = {}
        lane.takenOf = {}
        lane.taken = 0
        group.live = group.live + 1
        insertSorted(candidates, lane)
      end
    end
  end
end
local function serve(lane, count)
  local pool = lane.group.pool
  lane.group.served = lane.group.served + count
  pool.virtualTime = math.max(pool.virtualTime, lane.turn + count - 1)
  lane.turn = lane.turn + count
  lane.picks = lane.picks + count
  move(lane, 'queued', 'running', count)
  tally(lane, 'started', count)
end
local function takePage(starter, lane, wanted)
  if lane.returned > 0 or lane.stale > 0 or #limitsOn(lane) > 0 or starter.stage ~= 's' then return 0 end
  local priority = 0
  while lane[SLOTS[priority]] == 0 do priority = priority + 1 end
  if lane[SLOTS[priority]] ~= lane.ready then return 0 end
  local source = sourcesOf(lane, priority)[1]
  if source.head then return 0 end
  if source.at > #source.page then refillSource(source, math.min(wanted, lane.ready - lane.taken)) end
  local page, at, count = source.page, source.at, 0
  local claimed, claimedSize = starter.claimed, #starter.claimed
  local added, addedSize = starter.change.added, #starter.change.added
  local draw, number, suffix, tail = starter.draw, starter.count, '.' .. int(lane.number), starter.plainTail
  local leaseHead, lastTimeout, leaseTail = 'p' .. STARTED, '', ''
  local lastHead, from = '', 0
  while count < wanted do
    local entry = page[at]
    if not entry then break end
    local head = part(entry, 1, 2)
    if head ~= lastHead then
      if byteAt(head) ~= 112 then break end
      lastHead, from = head, byteAt(head, 2) - LENGTH_ZERO + 3
    end
    local timeoutMs, id = part(entry, from, from + 11), part(entry, from + 12)
    if timeoutMs ~= lastTimeout then
      lastTimeout, leaseTail = timeoutMs, plainLeaseStart(starter, timeoutMs)
    end
    number = number + 1
    local token = draw .. NUMBERED[number] .. suffix
    local itsKey = TASK_PREFIX .. id
    local text = call('HGET', itsKey, 'task')
    call('HSET', itsKey, '1', RUNNING_HEAD .. token .. tail)
    added[addedSize + 1], added[addedSize + 2] = id, leaseHead .. token .. leaseTail
    addedSize = addedSize + 2
    claimed[claimedSize + 1], claimed[claimedSize + 2] = id, text
    claimedSize = claimedSize + 2
    at = at + 1
    count = count + 1
  end
  starter.count = number
  source.at = at
  source.consumed = source.consumed + count
  source.taken = source.taken + count
  lane.takenOf[priority] = (lane.takenOf[priority] or 0) + count
  lane.taken = lane.taken + count
  if count > 0 then serve(lane, count) end
  return count
end
local function groupsOf(request)
  local groups = {}
  local seen = {}
  for _, name in ipairs(request.pools) do
    if not seen[name] then
      seen[name] = true
      local pool = poolNamed(name)
      pool.atStart = pool.virtualTime
      for _, action in ipairs(request.actions or call('SMEMBERS', key('actions:' .. name))) do
        groups[#groups + 1] = newGroup(pool, action)
        for _, limit in ipairs(openLimits(name, action)) do groups[#groups + 1] = newGroup(pool, action, limit) end
      end
    end
  end
  return groups
end
local function stirUnseen(groups)
  for _, group in ipairs(groups) do
    if not group.done then stir({ pool = group.pool.name, action = group.action }) end
  end
end
function takeEntries(request, limit, claimed, starter)
  local candidates = {}
  local look = { left = LOOK_MAX }
  local groups = groupsOf(request)
  for _, group in ipairs(groups) do refillGroup(group, candidates, limit, look) end
  if #candidates == 0 then
    if look.left <= 0 then stirUnseen(groups) end
    return nil
  end
  starter = starter or newStarter(request, claimed)
  local taken, retired = 0, 0
  local function drop(lane)
    table.remove(candidates, 1)
    lane.group.live = lane.group.live - 1
    refillGroup(lane.group, candidates, limit, look)
  end
  while taken < limit and retired < 1000 do
    local lane = candidates[1]
    if not lane then break end
    local paged = #candidates == 1 and lane.ready > lane.taken and takePage(starter, lane, limit - taken) or 0
    taken = taken + paged
    if paged == 0 then
      local full = fullLimit(lane)
      local head
      if not full and lane.ready > lane.taken then head = nextEntry(lane, math.ceil((limit - taken) / #candidates)) end
      if not head then
        if full then standAt(lane, full) end
        drop(lane)
      else
        local source = head.source
        pass(source)
        source.taken = source.taken + 1
        lane.takenOf[source.priority] = (lane.takenOf[source.priority] or 0) + 1
        lane.taken = lane.taken + 1
        if isOverdue(head, lane) then
          retire(head)
          retired = retired + 1
        else
          taken = taken + 1
          startEntry(starter, lane, head)
          takeSlot(lane)
          serve(lane, 1)
          lane.distance = lane.distance + 1
          table.remove(candidates, 1)
          insertSorted(candidates, lane)
        end
      end
    end
  end
  if look.left <= 0 then stirUnseen(groups) end
  if retired >= 1000 and candidates[1] then stir(candidates[1]) end
  for _, lane in ipairs(laneList) do
    for _, sources in pairs(lane.sources or {}) do
      for _, source in ipairs(sources) do closeSource(source) end
    end
    lane.sources = nil
  end
  return taken > 0 and starter or nil, returnPassed()
end
end
local collectInbox
do
local INBOX_PAGE = 100
local function collectOne(starter, worker, id, lease)
  local attempt = int(lease.attempt)
  local values = call('HMGET', taskKey(id), 'task', 'state', attempt)
  starter.count = starter.count + 1
  lease.token = starter.draw .. NUMBERED[starter.count] .. string.match(lease.token, '%.%d+$')
  lease.kind = 's'
  if exists('breakers') then retakeSlot(laneNumbered(tonumber(string.match(lease.token, '%d+$'))), lease.startedAt) end
  lease.startedAt = now
  lease.renewedAt = nil
  lease.timeoutAt = now + profileNumbered(parseHead(values[1]).profile).timeoutMs
  lease.untilAt = math.min(now + starter.request.leaseMs, lease.timeoutAt + 5000)
  call('HSET', taskKey(id), attempt, rewritten(values[3], lease.token, nil, now, ''))
  local added = starter.change.added
  added[#added + 1] = id
  added[#added + 1] = leaseText(lease)
  startsAt(starter.change, lease.untilAt)
  leaveInbox(worker.id, id)
  startedUnusually(starter.claimed, id, lease.token, values[1], values[2])
end
local function isAskedFor(request, lease)
  if not request.isAny or not request.actions then return true end
  local action = laneNumbered(tonumber(string.match(lease.token, '%d+$'))).action
  for _, asked in ipairs(request.actions) do
    if asked == action then return true end
  end
  return false
end
function collectInbox(worker, request, limit, claimed)
  local starter
  local passed = 0
  while true do
    local ids = call('ZRANGE', inboxKey(worker.id), int(passed), int(passed + INBOX_PAGE - 1))
    if #ids == 0 then break end
    for index, text in ipairs(call('HMGET', leasesKey(worker.id), unpack(ids))) do
      if starter and starter.count >= limit then return starter end
      local lease = parseLease(text)
      if not lease or lease.kind ~= 'i' then
        leaveInbox(worker.id, ids[index])
      elseif lease.untilAt > now and isAskedFor(request, lease) then
        starter = starter or newStarter(request, claimed)
        collectOne(starter, worker, ids[index], lease)
      else
        passed = passed + 1
      end
    end
  end
  if passed == 0 then
    worker.inbox = 0
    worker.changed = true
  end
  return starter
end
end
local parseClaim, claim
do
function parseClaim(at)
  local request = { worker = ARGV[at + 0], workerJson = ARGV[at + 1], epoch = ARGV[at + 2], limit = ARGV[at + 3], leaseMs = ARGV[at + 4], thresholds = ARGV[at + 5], id = ARGV[at + 6], stage = ARGV[at + 7], pools = {}, actions = false }
  request.limit, request.leaseMs = tonumber(request.limit), tonumber(request.leaseMs)
  at = at + 8
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
local function drawnBefore(worker, request)
  local _, stop = string.find(' ' .. (worker.claim or ''), ' ' .. request .. ' ', 1, true)
  return stop and string.match(worker.claim, '^%d+', stop)
end
local function rememberClaim(worker, request, drawn)
  local before = worker.claim
  if before then before = string.match(before, '^%S+ %d+ %S+ %d+ %S+ %d+') or before end
  worker.claim = request .. ' ' .. drawn .. (before and ' ' .. before or '')
end
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
function claim(request)
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
    if request.stage == 's' then
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
      local failedAt = worker.lastFailureAt
      if failedAt and now - worker.lastBeatAt >= 10000 and failedAt > worker.lastBeatAt and failedAt > worker.lastProgressAt then
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
end
local blockedBy
do
local BLOCKED_MAX = 20
local function contains(list, item)
  for _, one in ipairs(list) do
    if one == item then return true end
  end
  return false
end
function blockedBy(request)
  if not anyLimits() then return '' end
  local lines = ''
  for _, name in ipairs(call('SRANDMEMBER', key('blocked'), BLOCKED_MAX)) do
    local isStanding, place = false, nil
    eachStanding(name, function(pool, action)
      isStanding = true
      if contains(request.pools, pool) and (not request.actions or contains(request.actions, action)) then
        place = pool .. '\\n' .. action
      end
    end)
    local limit = limitsNamed({ name })[1]
    if not isStanding or not limit then
      call('SREM', key('blocked'), name)
    elseif place and limit.running >= limit.concurrency then
      lines = lines .. '\\n' .. name .. '\\n' .. place .. '\\n' .. (call('HGET', key('quota:' .. name), 'version') or '0')
    end
  end
  return lines
end
end
local CHUNK, textOf
do
CHUNK = 256
local function orderKey(chunk)
  return key('order:' .. int(chunk))
end
local function seqOf(text)
  return tonumber((string.match(text, '^{"seq":(%d+),"acceptedAt":(%d+),"lane":(%d+)')))
end
function textOf(id)
  return call('HGET', taskKey(id), 'task')
end
local function placeAfter(ids, seq)
  local low, high = 1, #ids + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if seqOf(textOf(ids[middle])) <= seq then low = middle + 1 else high = middle end
  end
  return low
end
end
local dedupe
do
local TICKET = 10
local TICKET_MS_MAX = 600000
local BAR_MS = 86400000
dedupe = {}
local CAN_COME_BACK = { dead = true, discarded = true }
local LIVING = { queued = true, waiting = true, running = true }
function dedupe.name(tenant, action, dedupeKey)
  return tenant .. '\\n' .. action .. '\\n' .. dedupeKey
end
function dedupe.bar(ticket)
  call('SET', key('barred:' .. ticket), '1', 'PX', BAR_MS)
end
function dedupe.isHeldBy(task)
  local untilAt = task.head.keyUntil
  if untilAt then return now < untilAt end
  return LIVING[task.state.status] and not task.state.keyLost
end
function dedupe.life(dedupeMs)
  return dedupeMs and ',"keyUntil":' .. int(math.min(now + dedupeMs, 9007199254740991)) or ''
end
function dedupe.holder(name, dedupeKey)
  if string.byte(dedupeKey) ~= TICKET then
    local id = call('HGET', key('dedupe'), name)
    local task = id and loadTask(id)
    return task and dedupe.isHeldBy(task) and task
  end
  local takenAt, ticket = string.match(dedupeKey, '^\\n(%d+) (%S+)$')
  local isGood = ticket and now - tonumber(takenAt) < TICKET_MS_MAX and call('EXISTS', key('barred:' .. ticket)) == 0
  return not isGood and '\\r'
end
function dedupe.lose(id)
  local task = loadTask(id)
  if not task or not CAN_COME_BACK[task.state.status] or task.head.keyUntil then return end
  task.state.keyLost = true
  saveState(task)
end
function dedupe.keep(name, dedupeKey, id)
  local ticket = string.match(dedupeKey, '^\\n%d+ (%S+)$')
  if ticket then
    call('HSET', key('tickets'), id, ticket)
    return
  end
  local before = call('HGET', key('dedupe'), name)
  call('HSET', key('dedupe'), name, id)
  if before then dedupe.lose(before) end
end
function dedupe.drop(name, id)
  local ticket = call('HGET', key('tickets'), id)
  if not ticket then
    if call('HGET', key('dedupe'), name) == id then call('HDEL', key('dedupe'), name) end
    return
  end
  call('HDEL', key('tickets'), id)
  dedupe.bar(ticket)
  call('HSET', key('freeing'), name, ticket .. ' ' .. id)
end
function dedupe.differences(text, action, tenant, rest)
  local lane = string.match(text, '^{"seq":%d+,"acceptedAt":%d+,"lane":(%d+)')
  local names = call('HMGET', key('lane:' .. lane), 'action', 'tenant')
  local isSamePayload = part(text, (string.find(text, '\\n', 1, true))) == part(rest, (string.find(rest, '\\n', 1, true)))
  return (isSamePayload and '' or 'p')
    .. (names[1] == action and '' or 'a')
    .. (names[2] == tenant and '' or 't')
end
end
local past
do
past = {}
function past.split(extra)
  local json, rest = string.match(extra, '^\\f([^\\f]*)\\f(.*)$')
  if not json then return nil, extra end
  return cjson.decode(json), rest
end
function past.state(brought, status, notify)
  local spent = brought.spent
  return {
    status = status, attempt = spent.attempt, generation = spent.generation, before = spent.before, failures = spent.failures,
    losses = spent.losses, parks = spent.parks, retryReason = spent.retryReason, notify = notify,
    diedOf = not brought.isDead and brought.died and brought.died.fingerprint or nil,
  }
end
function past.record(id, lane, brought)
  local records = brought.records
  if #records == 0 then return end
  local head, tail = int(draw(1)) .. '-', '.' .. int(lane.number)
  local fields = {}
  for index, record in ipairs(records) do
    fields[index * 2 - 1] = int(record.attempt)
    fields[index * 2] = record.head .. head .. index .. tail .. record.tail
  end
  call('HSET', taskKey(id), unpack(fields))
end
function past.know(task, died)
  local itsKey = groupKey(died.fingerprint)
  if call('HSETNX', itsKey, 'action', task.lane.action) == 0 then return end
  call('HSET', itsKey, 'number', int(call('HINCRBY', NUMBERS, 'groups', 1)), 'firstAt', int(died.at), 'lastAt', int(died.at),
    'lastTask', task.id, 'sample', died.sample)
end
function past.join(task, died)
  past.know(task, died)
  local itsKey = groupKey(died.fingerprint)
  local known = call('HMGET', itsKey, 'firstAt', 'lastAt')
  if died.at < tonumber(known[1]) then call('HSET', itsKey, 'firstAt', int(died.at)) end
  if died.at >= tonumber(known[2]) then
    call('HSET', itsKey, 'lastAt', int(died.at), 'lastTask', task.id, 'sample', died.sample)
  end
  rejoinGroup(task, died.fingerprint)
end
function past.note(id, brought, status)
  local attempt = brought.spent.attempt
  note('task.imported', id, attempt > 0 and attempt, brought.actor, brought.reason, brought.data[status])
end
end
redis.register_function{ function_name = 'reprise_40dccf840783_claim', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local request = parseClaim(2)
local answer, refused = claim(request)
if not answer then return refuse(refused) end
flushBreakers()
flushLimits()
flushLeases()
flushWorkers()
flushLanes()
if request.health then answer[4] = answer[4] .. blockedBy(request) end
flushWake()
return answer
end }
redis.register_function{ function_name = 'reprise_40dccf840783_renew', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local leaseMs = tonumber(ARGV[2])
local function saveLog(id, attempt, log)
  call('HSET', logKey(id), attempt, log)
  local outdated = tonumber(attempt) - 10
  if outdated < 1 then return end
  for _, other in ipairs(call('HKEYS', logKey(id))) do
    if tonumber(other) <= outdated then call('HDEL', logKey(id), other) end
  end
end
local function renew(at)
  local id, attempt, token = ARGV[at + 0], ARGV[at + 1], ARGV[at + 2]
  local progress, handle = ARGV[at + 3], ARGV[at + 4]
  local shortToken, worker = splitToken(token)
  local lease = worker and parseLease(call('HGET', leasesKey(worker), id))
  if not lease or lease.attempt ~= tonumber(attempt) or lease.token ~= shortToken then
    return 'superseded ' .. becauseOf(loadTask(id), tonumber(attempt), call('HGET', taskKey(id), attempt))
  end
  extend(lease, leaseMs, math.max(now - (lease.renewedAt or lease.startedAt) - leaseMs, 0))
  if handle ~= '' then lease.handle = '\\n' .. string.sub(handle, 2) end
  call('HSET', leasesKey(worker), id, leaseText(lease))
  if progress ~= '' then call('HSET', key('progress'), id, progress) end
  local log = ARGV[at + 5]
  if log ~= '' then saveLog(id, attempt, log) end
  return int(lease.untilAt)
end
local answers = {}
for at = 3, #ARGV, 6 do answers[#answers + 1] = renew(at) end
return answers
end }
redis.register_function{ function_name = 'reprise_40dccf840783_settle', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local answers = settle(2, #ARGV)
flushBreakers()
flushLimits()
flushLeases()
flushWorkers()
flushLanes()
flushWake()
return answers
end }
redis.register_function{ function_name = 'reprise_40dccf840783_settle_and_claim', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local claimAt = tonumber(ARGV[2])
local answers = settle(3, claimAt - 1)
activateFreed()
flushLeases()
local request = parseClaim(claimAt)
local claimed = claim(request)
flushBreakers()
flushLimits()
flushLeases()
flushWorkers()
flushLanes()
if request.health and claimed then claimed[4] = claimed[4] .. blockedBy(request) end
flushWake()
return { answers, claimed or { NOW, '', '', '', '' } }
end }
redis.register_function{ function_name = 'reprise_40dccf840783_submit', flags = {}, callback = function(keys, args)
begin(keys, args)
local maxBacklog = tonumber(ARGV[2])
local classCount = tonumber(ARGV[3])
local callCount = tonumber(ARGV[4])
local function parseExtra(extra)
  if extra == '' then return 0, 0 end
  local delayMs, dueAt, deadlineAt, deadlineMs, dedupeMs, dedupeKey = string.match(extra, '^(%S+) (%S+) (%S+) (%S+) (%S+) ?(.*)$')
  return tonumber(delayMs) or 0, tonumber(dueAt) or 0, tonumber(deadlineAt), tonumber(deadlineMs), tonumber(dedupeMs),
    dedupeKey ~= '' and dedupeKey
end
local function actionOf(class)
  return ARGV[5 + (class - 1) * 5 + 1]
end
local function tenantOf(class)
  return ARGV[5 + (class - 1) * 5 + 2]
end
local function holder(id, name, dedupeKey)
  local text = call('HGET', taskKey(id), 'task')
  if text then return id, text end
  local task = dedupeKey and dedupe.holder(name, dedupeKey)
  if task == '\\r' then return task end
  if task then return task.id, task.text end
end
local function repeatOf(id, text, classNumber, rest)
  local differs = dedupe.differences(text, actionOf(classNumber), tenantOf(classNumber), rest)
  return differs == '' and id or '\\t' .. differs .. ' ' .. id
end
local function eachRun(at, visit)
  local runs = tonumber(ARGV[at])
  at = at + 1
  for _ = 1, runs do
    local count = tonumber(ARGV[at + 2])
    visit(tonumber(ARGV[at]), ARGV[at + 1], at + 4, count, tonumber(ARGV[at + 3]))
    at = at + 4 + count * 2
  end
  return at
end
local function countNew(callAt)
  local seen = {}
  local new = 0
  eachRun(callAt, function(classNumber, extra, at, count)
    local dedupeKey = extra ~= '' and select(6, parseExtra(select(2, past.split(extra))))
    local name = dedupeKey and dedupe.name(tenantOf(classNumber), actionOf(classNumber), dedupeKey)
    local named = name and '\\n' .. name
    for index = at, at + count * 2 - 1, 2 do
      local id = ARGV[index]
      if not seen[id] and not (named and seen[named]) and not holder(id, name, dedupeKey) then
        new = new + 1
        seen[id] = true
        if named then seen[named] = true end
      end
    end
  end)
  return new
end
local queues = {}
local function queueOf(lane, priority)
  local name = queueKey(lane, priority)
  local queue = queues[name]
  if not queue then
    queue = { lane = lane, priority = priority, entries = {} }
    queues[name] = queue
  end
  return queue
end
local classes = {}
local function classNumbered(number)
  local class = classes[number]
  if class then return class end
  local at = 5 + (number - 1) * 5
  local lane = laneNamed(ARGV[at], ARGV[at + 1], ARGV[at + 2])
  restock(lane)
  local profile = profileFor(ARGV[at + 4])
  local settings = decodeSettings(ARGV[at + 4])
  local ttlMs = settings.queueTtlMs ~= cjson.null and settings.queueTtlMs
  class = {
    lane = lane,
    timeoutMs = settings.timeoutMs,
    ttlMs = ttlMs,
    isPlain = not ttlMs and not settings.notify and settings.timeoutMs <= PLAIN_TIMEOUT_MAX,
    notify = settings.notify,
    middle = ',"acceptedAt":' .. int(now) .. ',"lane":' .. int(lane.number) .. ',"profile":' .. profile,
    timeout = plainTimeout(settings.timeoutMs),
    entries = queueOf(lane, ARGV[at + 3]).entries,
  }
  classes[number] = class
  return class
end
local backlog = tonumber(call('HGET', NUMBERS, 'backlog')) or 0
local sequence
local beginning
local chunks = {}
local answers = {}
local answered = 0
local function answer(text)
  if text then
    answers[#answers + 1] = answered
    answers[#answers + 1] = text
  end
  answered = answered + 1
end
local function chunkOf(number)
  local chunk = math.floor(number / CHUNK)
  local ids = chunks[chunk]
  if not ids then
    ids = {}
    chunks[chunk] = ids
  end
  return ids
end
local function acceptPast(class, id, brought, due, expires, deadlineAt)
  local lane = class.lane
  past.record(id, lane, brought)
  local died, dead = brought.died, brought.isDead
  local status = dead and 'dead' or due <= now and 'queued' or 'waiting'
  local state = past.state(brought, status, class.notify)
  if dead then
    state.at, state.reason, state.fingerprint = died.at, died.reason, died.fingerprint
    past.join({ id = id, lane = lane, head = { seq = sequence } }, died)
    move(lane, nil, 'dead')
    ended(id)
  elseif status == 'queued' then
    state.rank, state.since, state.expires = sequence, now, expires or nil
    if state.generation > 1 then deadlineAt = nil end
    class.entries[#class.entries + 1] = entryText(sequence, class.timeoutMs, expires, deadlineAt, 's', id)
    watchTimes(lane, id, expires, deadlineAt)
  else
    state.since, state.dueAt, state.reason = now, due, state.retryReason or 'delayed'
    call('ZADD', key('waiting:' .. lane.pool), int(due), string.format('%016d', sequence) .. id)
    move(lane, nil, 'waiting')
    stir(lane)
  end
  if died and not dead then past.know({ id = id, lane = lane }, died) end
  call('HSET', taskKey(id), 'state', stateText(state))
  past.note(id, brought, status)
  return not dead
end
local function acceptNew(class, id, due, expires, deadlineAt)
  local lane = class.lane
  if due <= now then
    local entries = class.entries
    if class.notify then
      local state = { status = 'queued', attempt = 0, generation = 1, before = 0, failures = 0, losses = 0, rank = sequence,
        since = now, expires = expires or nil, notify = true }
      call('HSET', taskKey(id), 'state', stateText(state))
      entries[#entries + 1] = entryText(sequence, class.timeoutMs, expires, deadlineAt, 's', id)
      watchTimes(lane, id, expires, deadlineAt)
    elseif expires or deadlineAt or not class.isPlain then
      entries[#entries + 1] = entryText(sequence, class.timeoutMs, expires, deadlineAt, 'p', id)
      watchTimes(lane, id, expires, deadlineAt)
    else
      entries[#entries + 1] = plainEntry(int(sequence), class.timeout, id)
    end
  else
    local state = { status = 'waiting', attempt = 0, generation = 1, before = 0, failures = 0, losses = 0,
      since = now, dueAt = due, reason = 'delayed', notify = class.notify }
    call('HSET', taskKey(id), 'state', stateText(state))
    call('ZADD', key('waiting:' .. lane.pool), int(due), string.format('%016d', sequence) .. id)
    move(lane, nil, 'waiting')
    stir(lane)
  end
end
local function accept(classNumber, extra, id, rest)
  local brought
  brought, extra = past.split(extra)
  local delayMs, dueAt, deadlineAt, deadlineMs, dedupeMs, dedupeKey = parseExtra(extra)
  if deadlineMs and (not deadlineAt or now + deadlineMs < deadlineAt) then deadlineAt = now + deadlineMs end
  local name = dedupeKey and dedupe.name(tenantOf(classNumber), actionOf(classNumber), dedupeKey)
  local taken, itsText = holder(id, name, dedupeKey)
  if itsText then return repeatOf(taken, itsText, classNumber, rest) end
  if taken then return taken end
  local class = classNumbered(classNumber)
  local lane = class.lane
  local due = math.max(dueAt, now + delayMs)
  local expires = class.ttlMs and due <= now and laneTime(lane) + class.ttlMs
  local text = '{"seq":' .. int(sequence) .. class.middle
  if expires then text = text .. ',"expires":' .. int(expires) end
  if deadlineAt then text = text .. ',"deadlineAt":' .. int(deadlineAt) end
  if dedupeKey then text = text .. dedupe.life(dedupeMs) end
  call('HSET', taskKey(id), 'task', text .. rest)
  if dedupeKey then dedupe.keep(name, dedupeKey, id) end
  local isLive = true
  if brought then isLive = acceptPast(class, id, brought, due, expires, deadlineAt)
  else acceptNew(class, id, due, expires, deadlineAt) end
  tally(lane, 'accepted')
  lane.bytesAdded = lane.bytesAdded + payloadBytes(rest)
  local ids = chunkOf(sequence)
  ids[#ids + 1] = id
  return nil, isLive
end
local function acceptPlain(class, classNumber, at, count, bytes)
  local args, middle, timeout, entries = ARGV, class.middle, class.timeout, class.entries
  local size, accepted, number = #entries, 0, sequence
  local ids, idsSize, nextChunk = nil, 0, -1
  for index = at, at + count * 2 - 1, 2 do
    local id, numeral = args[index], format('%d', number)
    if call('HSETNX', TASK_PREFIX .. id, 'task', '{"seq":' .. numeral .. middle .. args[index + 1]) == 1 then
      size = size + 1
      entries[size] = PLAIN_HEADS[#numeral] .. numeral .. timeout .. id
      if number >= nextChunk then
        ids = chunkOf(number)
        idsSize = #ids
        nextChunk = (math.floor(number / CHUNK) + 1) * CHUNK
      end
      idsSize = idsSize + 1
      ids[idsSize] = id
      accepted = accepted + 1
    else
      bytes = bytes - payloadBytes(args[index + 1])
      answers[#answers + 1] = answered
      answers[#answers + 1] = repeatOf(id, call('HGET', TASK_PREFIX .. id, 'task'), classNumber, args[index + 1])
    end
    answered = answered + 1
    number = number + 1
  end
  sequence = number
  tally(class.lane, 'accepted', accepted)
  class.lane.bytesAdded = class.lane.bytesAdded + bytes
  backlog = backlog + accepted
end
local function acceptRun(classNumber, extra, at, count, bytes)
  local last, noted = draw(count, beginning == nil)
  beginning = beginning or noted
  sequence = last - count + 1
  local stop = at + count * 2
  while at < stop do
    local class = classes[classNumber]
    if class and extra == '' and class.isPlain then return acceptPlain(class, classNumber, at, (stop - at) / 2, bytes) end
    local taken, isLive = accept(classNumber, extra, ARGV[at], ARGV[at + 1])
    if isLive then backlog = backlog + 1 end
    bytes = bytes - payloadBytes(ARGV[at + 1])
    answer(taken)
    sequence = sequence + 1
    at = at + 2
  end
end
local at = 5 + classCount * 5
for _ = 1, callCount do
  local size = 0
  eachRun(at, function(_, _, _, count) size = size + count end)
  local refusal
  if backlog + size > maxBacklog then
    local new = countNew(at)
    if new > 0 and backlog + new > maxBacklog then refusal = '\\n' .. int(backlog) .. ' ' .. int(new) end
  end
  at = eachRun(at, refusal and function(_, _, _, count)
    for _ = 1, count do answer(refusal) end
  end or acceptRun)
end
for name, queue in pairs(queues) do
  local count = #queue.entries
  if count > 0 then
    local lane = queue.lane
    if lane.ready == 0 then catchUp(lane) end
    call('RPUSH', name, unpack(queue.entries))
    local slot = SLOTS[tonumber(queue.priority)]
    lane[slot] = lane[slot] + count
    lane.ready = lane.ready + count
    move(lane, nil, 'queued', count)
    stir(lane, count)
  end
end
for chunk, ids in pairs(chunks) do
  if call('RPUSH', key('order:' .. chunk), unpack(ids)) == #ids then call('ZADD', key('order'), chunk, chunk) end
end
flushLanes()
flushWake()
if beginning then
  answers[#answers + 1] = -1
  answers[#answers + 1] = int(sequence - 1) .. ' ' .. NOW .. ' ' .. beginning
end
return answers
end }`,
}

export const claimScript: Script = { name: 'reprise_40dccf840783_claim', library: hotLibrary, readOnly: false }
export const renewScript: Script = { name: 'reprise_40dccf840783_renew', library: hotLibrary, readOnly: false }
export const settleScript: Script = { name: 'reprise_40dccf840783_settle', library: hotLibrary, readOnly: false }
export const settleAndClaimScript: Script = { name: 'reprise_40dccf840783_settle_and_claim', library: hotLibrary, readOnly: false }
export const submitScript: Script = { name: 'reprise_40dccf840783_submit', library: hotLibrary, readOnly: false }

export const gatesLibrary: Library = {
  name: 'reprise_9b75bd67a216',
  text: `#!lua name=reprise_9b75bd67a216
local KEYS, ARGV
local beginnings = {}
local function atBegin(start)
  beginnings[#beginnings + 1] = start
end
local function begin(keys, args)
  KEYS, ARGV = keys, args
  for index = 1, #beginnings do beginnings[index]() end
end
local call, byteAt, part, format, PREFIX, NUMBERS, TASK_PREFIX, META_PREFIX, now, NOW, MINUTE, int, taskKey, key, inboxKey, draw, exists, nowExists
do
function int(number)
  return format('%d', number)
end
atBegin(function()
  call, byteAt, part, format = redis.call, string.byte, string.sub, string.format
  NUMBERS = KEYS[1]
  PREFIX = string.sub(NUMBERS, 1, -9)
  TASK_PREFIX = PREFIX .. ':'
  META_PREFIX = PREFIX .. '/'
  now = tonumber(ARGV[1])
  if not now then
    local time = call('TIME')
    now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  NOW = int(now)
  MINUTE = now - now % 60000
end)
function taskKey(id)
  return TASK_PREFIX .. id
end
function key(name)
  return META_PREFIX .. name
end
function inboxKey(worker)
  return key('inbox:' .. worker)
end
local function logKey(id)
  return key('log:' .. id)
end
local serverRun
local lastDrawn = {}
local function runOfServer()
  if not serverRun then
    local info = redis.pcall('INFO', 'server')
    serverRun = type(info) == 'string' and string.match(info, 'run_id:(%x%x%x%x%x%x%x%x%x%x%x%x)') or ''
  end
  return serverRun
end
local function beginningAt(before)
  local mine = lastDrawn[NUMBERS]
  local history = call('HGET', NUMBERS, 'history') or ''
  local isMine = mine and mine.history == history
  if not isMine or before < mine.last then
    local run = runOfServer()
    if run == '' then return '' end
    local last = string.match(history, '%S+$') or ''
    if isMine or string.match(last, '^%x+') ~= run then
      last = run .. ':' .. int(before) .. ':' .. NOW
      local kept = {}
      for beginning in string.gmatch(history, '%S+') do kept[#kept + 1] = beginning end
      kept[#kept + 1] = last
      history = table.concat(kept, ' ', math.max(1, #kept - 16 + 1))
      call('HSET', NUMBERS, 'history', history)
    end
    mine = { history = history, beginning = last }
    lastDrawn[NUMBERS] = mine
  end
  return mine.beginning
end
function draw(count, asksForBeginning)
  local last = call('HINCRBY', NUMBERS, 'sequence', int(count))
  if not asksForBeginning then return last end
  local beginning = beginningAt(last - count)
  if lastDrawn[NUMBERS] then lastDrawn[NUMBERS].last = last end
  return last, beginning
end
local UNUSUAL = { 'holds', 'limits', 'watched', 'progress', 'breakers', 'unfinished' }
local unusual
atBegin(function()
  unusual = nil
end)
function exists(name)
  if unusual == nil then
    local keys = {}
    for index, unusualName in ipairs(UNUSUAL) do keys[index] = key(unusualName) end
    unusual = call('EXISTS', unpack(keys)) > 0 and {}
  end
  if not unusual then return false end
  if unusual[name] == nil then unusual[name] = call('EXISTS', key(name)) == 1 end
  return unusual[name]
end
function nowExists(name)
  unusual = unusual or {}
  unusual[name] = true
end
local function refuse(text)
  return redis.error_reply('REPRISE ' .. text)
end
end
local recall, remember
do
local ANSWER_KEPT_MS = 60000
function recall(request)
  local kept = call('GET', key('answer:' .. request))
  return kept and cmsgpack.unpack(kept) or nil
end
function remember(request, answer)
  call('SET', key('answer:' .. request), cmsgpack.pack(answer), 'PX', ANSWER_KEPT_MS)
  return answer
end
end
local lanes, laneList, pools, backlogChange, standingKey, standingsKey, stirred, stir, laneNumbered, gateName, scopeNames, holdOn, applyHold, findLane, catchUp, flushLanes
do
local FRESH_NUMBERS = {}
for index = 1, 25 do FRESH_NUMBERS[index] = 0 end
FRESH_NUMBERS[1] = -1
local SLOTS, COUNTED = {}, { 'p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9' }
for index = 1, #COUNTED do SLOTS[index - 1] = COUNTED[index] end
local function laneNumbers(text)
  return text and cmsgpack.unpack(text) or FRESH_NUMBERS
end
atBegin(function()
  lanes, laneList, pools, backlogChange = {}, {}, {}, 0
end)
local function activeKey(pool, action)
  return key('active:' .. pool .. '\\n' .. action)
end
function standingKey(limitName, pool, action)
  return key('parked:' .. limitName .. '\\n' .. pool .. '\\n' .. action)
end
function standingsKey(limitName)
  return key('parkings:' .. limitName)
end
atBegin(function()
  stirred = {}
end)
function stir(lane, count)
  local actions = stirred[lane.pool]
  if not actions then
    actions = {}
    stirred[lane.pool] = actions
  end
  actions[lane.action] = (actions[lane.action] or 0) + (count or 1)
end
local function laneMember(number)
  return string.format('%010d', number)
end
local function poolNamed(name)
  local pool = pools[name]
  if not pool then
    local values = call('HMGET', key('pool:' .. name), 'virtualTime', 'version', 'promotedAt')
    local virtualTime = tonumber(values[1]) or 0
    pool = { name = name, virtualTime = virtualTime, was = virtualTime, version = values[2] or '0', promotedAt = tonumber(values[3]) }
    pools[name] = pool
  end
  return pool
end
local function keepLane(number, lane)
  lane.number = number
  lane.tally = {}
  lane.listedTurn = lane.ready > 0 and not lane.heldSince and lane.turn
  lane.listedAt = lane.atLimit
  lanes[number] = lane
  laneList[#laneList + 1] = lane
  return lane
end
function laneNumbered(number)
  local known = lanes[number]
  if known then return known end
  local texts = call('HMGET', key('lane:' .. int(number)), 'pool', 'action', 'tenant', 'parked', 'numbers')
  local was = laneNumbers(texts[5])
  local atLimit = texts[4] ~= '' and texts[4]
  local lane = {
    pool = texts[1], action = texts[2], tenant = texts[3], atLimit = atLimit, wasAtLimit = atLimit,
    heldSince = was[1], turn = was[2], picks = was[3], heldMs = was[4], ready = was[5], returned = was[6], stale = was[7], queued = was[8], waiting = was[9], running = was[10], succeeded = was[11], dead = was[12], discarded = was[13], cancelled = was[14], removed = was[15], p0 = was[16], p1 = was[17], p2 = was[18], p3 = was[19], p4 = was[20], p5 = was[21], p6 = was[22], p7 = was[23], p8 = was[24], p9 = was[25], was = was, number = false, tally = false, listedTurn = false, listedAt = false, limits = false, succeeding = false,
    bytesAdded = 0, group = false, distance = false, sources = false, takenOf = false, taken = false,
  }
  if lane.heldSince == -1 then lane.heldSince = false end
  return keepLane(number, lane)
end
function gateName(action, tenant)
  return '\\r\\n' .. action .. '\\n' .. tenant
end
function scopeNames(lane)
  local names = {}
  for _, pool in ipairs({ '', lane.pool }) do
    for _, action in ipairs({ '', lane.action }) do
      for _, tenant in ipairs({ '', lane.tenant }) do
        names[#names + 1] = pool .. '\\n' .. action .. '\\n' .. tenant
      end
    end
  end
  names[#names + 1] = gateName(lane.action, '')
  names[#names + 1] = gateName(lane.action, lane.tenant)
  return names
end
local function anyHolds()
  return exists('holds')
end
function holdOn(lane)
  if not anyHolds() then return false end
  for _, hold in ipairs(call('HMGET', key('holds'), unpack(scopeNames(lane)))) do
    if hold then return hold end
  end
  return false
end
function applyHold(lane, hold)
  lane.heldSince = tonumber(string.match(hold, '^%d+'))
end
function findLane(pool, action, tenant)
  return tonumber(call('HGET', key('lanes'), pool .. '\\n' .. action .. '\\n' .. tenant))
end
local function laneNamed(pool, action, tenant)
  local number = findLane(pool, action, tenant)
  if number then return laneNumbered(number) end
  number = call('HINCRBY', NUMBERS, 'lanes', 1)
  call('HSET', key('lanes'), pool .. '\\n' .. action .. '\\n' .. tenant, number)
  call('HSET', key('lane:' .. number), 'pool', pool, 'action', action, 'tenant', tenant)
  call('SADD', key('actions:' .. pool), action)
  if number == 1 or call('EXISTS', key('pools')) == 1 then call('SADD', key('pools'), pool) end
  return laneNumbered(number)
end
local function laneTime(lane)
  return (lane.heldSince or now) - lane.heldMs
end
local function wallTime(lane, moment)
  return moment + now - laneTime(lane)
end
function catchUp(lane)
  lane.turn = math.max(lane.turn, poolNamed(lane.pool).virtualTime)
end
local function tally(lane, kind, count)
  lane.tally[kind] = (lane.tally[kind] or 0) + (count or 1)
end
local function restock(lane)
  if lane.queued > 0 then return end
  local hold = holdOn(lane)
  if hold and not lane.heldSince then
    lane.heldSince = now
  elseif not hold and lane.heldSince then
    lane.heldMs = lane.heldMs + now - lane.heldSince
    lane.heldSince = false
  end
end
local function move(lane, from, to, count)
  count = count or 1
  if from then
    lane[from] = lane[from] - count
    if from == 'queued' or from == 'waiting' then backlogChange = backlogChange - count end
  end
  if to then
    lane[to] = lane[to] + count
    if to == 'queued' or to == 'waiting' then backlogChange = backlogChange + count end
  end
end
local function listKey(lane, limitName)
  if limitName then return standingKey(limitName, lane.pool, lane.action) end
  return activeKey(lane.pool, lane.action)
end
local function flushActive(lane)
  local turn = lane.ready > 0 and not lane.heldSince and lane.turn
  if not turn then lane.atLimit = false end
  local hasMoved = lane.atLimit ~= lane.listedAt
  if lane.listedTurn == turn and not hasMoved then return end
  if lane.listedTurn and (not turn or hasMoved) then
    call('ZREM', listKey(lane, lane.listedAt), laneMember(lane.number))
  end
  if turn then
    call('ZADD', listKey(lane, lane.atLimit), int(turn), laneMember(lane.number))
    if lane.atLimit and hasMoved then call('SADD', standingsKey(lane.atLimit), lane.pool .. '\\n' .. lane.action) end
  end
  lane.listedTurn = turn
  lane.listedAt = lane.atLimit
end
local function flushLane(lane)
  flushActive(lane)
  local was = lane.was
  local numbers = { lane.heldSince, lane.turn, lane.picks, lane.heldMs, lane.ready, lane.returned, lane.stale, lane.queued, lane.waiting, lane.running, lane.succeeded, lane.dead, lane.discarded, lane.cancelled, lane.removed, lane.p0, lane.p1, lane.p2, lane.p3, lane.p4, lane.p5, lane.p6, lane.p7, lane.p8, lane.p9 }
  numbers[1] = lane.heldSince or -1
  for index = 1, 25 do
    if numbers[index] ~= was[index] then
      call('HSET', key('lane:' .. int(lane.number)), 'numbers', cmsgpack.pack(numbers))
      break
    end
  end
  if lane.bytesAdded ~= 0 then call('HINCRBY', key('lane:' .. int(lane.number)), 'bytes', int(lane.bytesAdded)) end
  if lane.atLimit ~= lane.wasAtLimit then call('HSET', key('lane:' .. int(lane.number)), 'parked', lane.atLimit or '') end
  local member = laneMember(lane.number)
  if (lane.queued > 0) ~= (was[8] > 0) then
    local place = lane.action .. '\\n' .. member
    if lane.queued > 0 then call('ZADD', key('stocked'), '0', place) else call('ZREM', key('stocked'), place) end
  end
  if (lane.running > 0) ~= (was[10] > 0) then
    if lane.running > 0 then call('SADD', key('busy'), member) else call('SREM', key('busy'), member) end
  end
  for kind, count in pairs(lane.tally) do
    local series = key('series:' .. int(MINUTE))
    if call('HINCRBY', series, int(lane.number) .. ':' .. kind, int(count)) == count then
      call('ZADD', key('minutes'), int(MINUTE), int(MINUTE))
    end
  end
end
function flushLanes()
  for _, lane in ipairs(laneList) do flushLane(lane) end
  for name, pool in pairs(pools) do
    if pool.virtualTime ~= pool.was then call('HSET', key('pool:' .. name), 'virtualTime', int(pool.virtualTime)) end
    if pool.hasPromoted then call('HSET', key('pool:' .. name), 'promotedAt', int(pool.promotedAt)) end
  end
  if backlogChange ~= 0 then call('HINCRBY', NUMBERS, 'backlog', int(backlogChange)) end
end
end
local decodeSettings, stateText, nextState
do
local profiles
atBegin(function()
  profiles = {}
end)
local decoded, decodedCount = {}, 0
local DECODED_MAX = 1000
local function currentNames(settings)
  if settings.rampMax then
    settings.minFailures, settings.maxOpenMs, settings.maxRamp = settings.failuresMin, settings.openMsMax, settings.rampMax
  end
  return settings
end
function decodeSettings(text)
  local settings = decoded[text]
  if settings then return settings end
  if decodedCount >= DECODED_MAX then decoded, decodedCount = {}, 0 end
  settings = currentNames(cjson.decode(text))
  decoded[text] = settings
  decodedCount = decodedCount + 1
  return settings
end
local function profileNumbered(number)
  local known = profiles[number]
  if not known then
    known = decodeSettings(call('HGET', key('profile'), int(number)))
    profiles[number] = known
  end
  return known
end
local function profileFor(text)
  local number = call('HGET', key('profiles'), text)
  if number then return number end
  number = int(call('HINCRBY', NUMBERS, 'profiles', '1'))
  call('HSET', key('profiles'), text, number)
  call('HSET', key('profile'), number, text)
  return number
end
local function parseHead(text)
  local stop = string.find(text, '\\n', 1, true)
  return cjson.decode(string.sub(text, 1, stop - 2) .. '}')
end
local function payloadBytes(text)
  return #text - string.find(text, '\\n', 1, true) - 11
end
local function statusOf(record)
  return string.match(record, '^{"status":"(%a+)"')
end
local function loadTask(id)
  local values = call('HMGET', taskKey(id), 'task', 'state', '1')
  if not values[1] then return false end
  local head = parseHead(values[1])
  local state
  if values[2] then
    state = cjson.decode(values[2])
  else
    state = { status = 'queued', attempt = 0, generation = 1, before = 0, failures = 0, losses = 0,
      rank = head.seq, since = head.acceptedAt, expires = head.expires }
    if values[3] then
      state.attempt = 1
      state.status = statusOf(values[3])
    end
  end
  return {
    id = id, head = head, state = state, text = values[1], stateText = values[2], first = values[3],
    lane = laneNumbered(head.lane), profile = profileNumbered(head.profile), priority = head.priority or 5,
  }
end
local STATE_FIELDS = {
  'parks', 'deferrals', 'retryReason', 'rank', 'since', 'expires', 'retired', 'returned', 'dueAt', 'reason', 'quota', 'at',
  'fingerprint', 'diedOf', 'keyLost', 'notify', 'policy',
}
for index = 1, #STATE_FIELDS do STATE_FIELDS[STATE_FIELDS[index]] = ',"' .. STATE_FIELDS[index] .. '":' end
function stateText(state)
  local parts, size = { format('{"status":"%s","attempt":%d,"generation":%d,"before":%d,"failures":%d,"losses":%d',
    state.status, state.attempt, state.generation, state.before, state.failures, state.losses) }, 1
  for _, name in ipairs(STATE_FIELDS) do
    local value = state[name]
    if value ~= nil and value ~= cjson.null then
      parts[size + 1], parts[size + 2] = STATE_FIELDS[name], type(value) == 'number' and int(value) or cjson.encode(value)
      size = size + 2
    end
  end
  parts[size + 1] = '}'
  return table.concat(parts)
end
local function saveState(task)
  call('HSET', taskKey(task.id), 'state', stateText(task.state))
end
function nextState(state, status)
  return {
    status = status, attempt = state.attempt, generation = state.generation, before = state.before,
    failures = state.failures, losses = state.losses, parks = state.parks, deferrals = state.deferrals,
    retryReason = state.retryReason, rank = state.rank, keyLost = state.keyLost, notify = state.notify,
    policy = state.policy, diedOf = state.fingerprint or state.diedOf,
  }
end
local function waitingMember(task)
  return string.format('%016d', task.head.seq) .. task.id
end
end
local limits, freedLanes, anyLimits, limitNamed, limitsNamed, flushLimits
do
atBegin(function()
  limits, freedLanes = {}, {}
end)
function anyLimits()
  return exists('limits')
end
function limitNamed(name, text)
  local limit = limits[name]
  if not limit then
    local running = tonumber(call('HGET', key('slots'), name)) or 0
    local number, kind, since = tonumber(text), nil, nil
    if not number then number, kind, since = string.match(text, '^(%d+) (%a+) ?(%d*)$') end
    limit = {
      name = name, concurrency = tonumber(number), shared = kind == 'shared', since = kind == 'since' and tonumber(since),
      running = running, was = running, freed = 0, back = {},
    }
    limits[name] = limit
  end
  return limit
end
function limitsNamed(names)
  local found = {}
  for index, concurrency in ipairs(call('HMGET', key('limits'), unpack(names))) do
    if concurrency then found[#found + 1] = limitNamed(names[index], concurrency) end
  end
  return found
end
local function limitsOn(lane)
  if not lane.limits then lane.limits = anyLimits() and limitsNamed(scopeNames(lane)) or {} end
  return lane.limits
end
local function fullLimit(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if limit.running >= limit.concurrency then return limit end
  end
  return nil
end
local function openLimits(pool, action)
  local open = {}
  if not anyLimits() then return open end
  local names = { '\\n\\n', '\\n' .. action .. '\\n', pool .. '\\n\\n', pool .. '\\n' .. action .. '\\n', gateName(action, '') }
  for _, limit in ipairs(limitsNamed(names)) do
    if limit.running < limit.concurrency then open[#open + 1] = limit end
  end
  return open
end
local function standAt(lane, limit)
  lane.atLimit = limit.name
  if limit.shared then call('SADD', key('blocked'), limit.name) end
end
local function isCounted(limit, startedAt)
  return not limit.since or startedAt >= limit.since
end
local function takeSlot(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if isCounted(limit, now) then limit.running = limit.running + 1 end
  end
end
local function retakeSlot(lane, startedAt)
  for _, limit in ipairs(limitsOn(lane)) do
    if not isCounted(limit, startedAt) and isCounted(limit, now) then limit.running = limit.running + 1 end
  end
end
local function freeSlot(lane, startedAt)
  local itsLimits = limitsOn(lane)
  if #itsLimits == 0 then return end
  freedLanes[lane] = (freedLanes[lane] or 0) + 1
  for _, limit in ipairs(itsLimits) do
    if isCounted(limit, startedAt) then
      limit.running = limit.running - 1
      limit.freed = limit.freed + 1
    end
  end
end
local function eachStanding(name, visit)
  for _, place in ipairs(call('SMEMBERS', standingsKey(name))) do
    local pool, action = string.match(place, '^(.*)\\n(.*)$')
    local itsKey = standingKey(name, pool, action)
    if call('EXISTS', itsKey) == 1 then visit(pool, action, itsKey) else call('SREM', standingsKey(name), place) end
  end
end
local function isOfTenant(name)
  return string.sub(name, -1) ~= '\\n'
end
local function activateFreed()
  for name, limit in pairs(limits) do
    if limit.freed > 0 and limit.running < limit.concurrency and isOfTenant(name) then
      eachStanding(name, function(_, _, itsKey)
        for _, member in ipairs(call('ZRANGE', itsKey, 0, -1)) do
          local lane = laneNumbered(tonumber(member))
          if lane.atLimit == name then
            lane.atLimit = false
            limit.back[#limit.back + 1] = lane
          end
        end
      end)
    end
  end
end
local function stirFreed(limit)
  local count = math.min(limit.freed, limit.concurrency - limit.running)
  if count <= 0 then return end
  for _, lane in ipairs(limit.back) do
    if lane.ready > 0 and not lane.atLimit then stir(lane, math.min(count, lane.ready)) end
  end
  if not isOfTenant(limit.name) then
    eachStanding(limit.name, function(pool, action) stir({ pool = pool, action = action }, count) end)
  end
end
local function stirWanted(limit)
  local wanted = key('wanted:' .. limit.name)
  for _, place in ipairs(call('SMEMBERS', wanted)) do
    local pool, action = string.match(place, '^(.*)\\n(.*)$')
    stir({ pool = pool, action = action }, limit.was - limit.running)
  end
  call('DEL', wanted)
end
local function hasSharedRoom(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if limit.shared and limit.running < limit.was then return true end
  end
  return false
end
function flushLimits()
  activateFreed()
  for name, limit in pairs(limits) do
    stirFreed(limit)
    if limit.shared and limit.running < limit.was then stirWanted(limit) end
    if limit.running ~= limit.was then call('HSET', key('slots'), name, int(limit.running)) end
  end
  for lane, count in pairs(freedLanes) do
    if lane.ready > 0 and not lane.atLimit and not fullLimit(lane) then
      stir(lane, math.min(count, lane.ready))
    elseif hasSharedRoom(lane) then
      stir(lane)
    end
  end
end
end
local ended, flushWake
do
local endedIds
atBegin(function()
  endedIds = {}
end)
function ended(id)
  if exists('watched') then endedIds[#endedIds + 1] = id end
end
local function wakeIdle(idleKey, count, what)
  while count > 0 do
    local popped = call('ZPOPMIN', idleKey)
    if #popped == 0 then return count end
    if call('SPUBLISH', key('wake:' .. popped[1]), 'work\\n' .. what) > 0 then count = count - 1 end
  end
  return 0
end
local function wakeInbox(worker)
  local listening = key('listening:' .. worker)
  for _, channel in ipairs(call('SMEMBERS', listening)) do call('SPUBLISH', key('wake:' .. channel), 'inbox\\n' .. worker) end
  call('DEL', listening)
end
function flushWake()
  for pool, actions in pairs(stirred) do
    call('HINCRBY', key('pool:' .. pool), 'version', '1')
    for action, count in pairs(actions) do
      local what = pool .. '\\n' .. action
      local left = wakeIdle(key('idle:' .. what), count, what)
      wakeIdle(key('idle:' .. pool .. '\\n'), left, what)
    end
  end
  if #endedIds > 0 then
    local messages = {}
    local found = {}
    for index, channels in ipairs(call('HMGET', key('watched'), unpack(endedIds))) do
      if channels then
        found[#found + 1] = endedIds[index]
        for channel in string.gmatch(channels, '%S+') do
          messages[channel] = (messages[channel] and messages[channel] .. '\\n' or '') .. endedIds[index]
        end
      end
    end
    if #found > 0 then call('HDEL', key('watched'), unpack(found)) end
    for channel, ids in pairs(messages) do call('SPUBLISH', key('wake:' .. channel), 'ended\\n' .. ids) end
  end
end
end
local leasesKey, leaseChanges, SUCCESS_TAIL, STARTED, leaseChange, leaseStart, addLease, startsAt, RUNNING_TAIL, runningRecord, recordExtra
do
function leasesKey(worker)
  return key('leases:' .. worker)
end
atBegin(function()
  leaseChanges = {}
  STARTED = string.format('%013d ', now)
  SUCCESS_TAIL = ',"errorCode":null,"errorMessage":null,"resolvedAt":' .. NOW .. '}'
end)
function leaseChange(worker)
  local change = leaseChanges[worker]
  if not change then
    change = { added = {}, removed = {}, first = nil }
    leaseChanges[worker] = change
  end
  return change
end
local LEASE_PADDING = '             '
function leaseStart(timeoutMs, leaseMs, attempt, stage)
  local timeoutAt = now + timeoutMs
  local untilAt = math.min(now + leaseMs, timeoutAt + 5000)
  if stage == 'd' then untilAt = now + leaseMs end
  return ' ' .. attempt .. ' ' .. int(untilAt) .. ' ' .. int(timeoutAt) .. ' -' .. LEASE_PADDING, untilAt
end
function addLease(change, id, kind, token, start)
  local added = change.added
  local size = #added
  added[size + 1] = id
  added[size + 2] = kind .. STARTED .. token .. start
end
function startsAt(change, untilAt)
  if not change.first or untilAt < change.first then change.first = untilAt end
end
local function removeLease(worker, id)
  local removed = leaseChange(worker).removed
  removed[#removed + 1] = id
end
local function parseLease(text)
  if not text then return nil end
  local kind, startedAt, token, attempt, untilAt, timeoutAt, renewedAt =
    string.match(text, '^(%a)(%d+) (%S+) (%d+) (%d+) (%d+) (%S+)')
  return {
    token = token, startedAt = tonumber(startedAt), kind = kind, attempt = tonumber(attempt), untilAt = tonumber(untilAt),
    timeoutAt = tonumber(timeoutAt), renewedAt = tonumber(renewedAt), handle = string.match(text, '\\n.*$'),
  }
end
local function leaseText(lease)
  return lease.kind .. string.format('%013d ', lease.startedAt) .. lease.token .. ' ' .. int(lease.attempt) .. ' '
    .. int(lease.untilAt) .. ' ' .. int(lease.timeoutAt) .. ' ' .. (lease.renewedAt and int(lease.renewedAt) or '-') .. LEASE_PADDING
    .. (lease.handle or '')
end
local function flushLeases()
  for worker, change in pairs(leaseChanges) do
    if #change.removed > 0 then
      call('HDEL', leasesKey(worker), unpack(change.removed))
      if exists('progress') then call('HDEL', key('progress'), unpack(change.removed)) end
      change.removed = {}
    end
    if #change.added > 0 then
      call('HSET', leasesKey(worker), unpack(change.added))
      if change.first then call('ZADD', key('leases'), 'LT', int(change.first), worker) end
      change.added = {}
      change.first = nil
    end
  end
end
RUNNING_TAIL = '}'
function runningRecord(attempt, token, workerJson, extra)
  return '{"status":"running","attempt":' .. attempt .. ',"token":"' .. token .. '","worker":' .. workerJson
    .. ',"dispatchedAt":' .. NOW .. extra .. RUNNING_TAIL
end
function recordExtra(generation, retryReason, build)
  local extra = ''
  if generation > 1 then extra = ',"generation":' .. int(generation) end
  if retryReason then extra = extra .. ',"retryReason":' .. cjson.encode(retryReason) end
  return extra .. build
end
local function endRecord(record, status, tail)
  local middle = string.sub(record, 20, -#RUNNING_TAIL - 1)
  if not tail then return '{"status":"' .. status .. '"' .. middle .. SUCCESS_TAIL end
  return '{"status":"' .. status .. '"' .. middle .. tail .. ',"resolvedAt":' .. NOW .. '}'
end
local function splitToken(token)
  return string.match(token, '^(%d+%-%d+%.%d+)%.(.*)$')
end
end
local launchesKey
do
function launchesKey(pool)
  return key('launches:' .. pool)
end
local function isUnderWay(lease)
  return lease.kind == 'd' or lease.kind == 'i'
end
local function extend(lease, leaseMs, missedMs)
  local untilAt = now + leaseMs
  if not isUnderWay(lease) then
    lease.timeoutAt = lease.timeoutAt + missedMs
    untilAt = math.min(untilAt, lease.timeoutAt + 5000)
  end
  lease.untilAt = math.max(lease.untilAt, untilAt)
  lease.renewedAt = now
end
local function enterLaunches(pool, id)
  if call('ZADD', launchesKey(pool), '0', id) == 1 then call('SADD', key('launching'), pool) end
end
local function enterInbox(worker, id, number)
  call('ZADD', inboxKey(worker.id), number, id)
  call('ZADD', key('inboxes'), 'NX', int(worker.lastBeatAt), worker.id)
  worker.inbox = 1
  worker.assigned = number
  worker.changed = true
end
local function leaveInbox(worker, id)
  call('ZREM', inboxKey(worker), id)
  if call('EXISTS', inboxKey(worker)) == 0 then call('ZREM', key('inboxes'), worker) end
end
local function leaveStage(kind, worker, id, lane)
  if kind == 'i' then
    leaveInbox(worker, id)
  elseif kind == 'l' then
    call('ZREM', launchesKey(lane.pool), id)
    if call('EXISTS', launchesKey(lane.pool)) == 0 then call('SREM', key('launching'), lane.pool) end
  end
end
local function rewritten(record, token, workerJson, startedAt, build)
  local attempt, worker, start, rest =
    string.match(record, '^{"status":"running","attempt":(%d+),"token":"[^"]*","worker":(.-),"dispatchedAt":(%d+)(.*)$')
  return '{"status":"running","attempt":' .. attempt .. ',"token":"' .. token .. '","worker":' .. (workerJson or worker)
    .. ',"dispatchedAt":' .. (startedAt and int(startedAt) or start) .. string.sub(rest, 1, -#RUNNING_TAIL - 1) .. build
    .. RUNNING_TAIL
end
local function startAttempt(task, worker, workerJson, leaseMs, stage)
  local build = stage == 's' and call('HGET', key('worker:' .. worker), 'build') or ''
  local state = nextState(task.state, 'running')
  state.attempt = state.attempt + 1
  task.state = state
  local token = int(draw(1)) .. '-0.' .. int(task.lane.number)
  local attempt = int(state.attempt)
  local record = runningRecord(attempt, token, workerJson, recordExtra(state.generation, state.retryReason, build))
  call('HSET', taskKey(task.id), attempt, record, 'state', stateText(state))
  local change = leaseChange(worker)
  local start, untilAt = leaseStart(task.profile.timeoutMs, leaseMs, attempt, stage)
  if stage == 'l' then enterLaunches(task.lane.pool, task.id) else startsAt(change, untilAt) end
  addLease(change, task.id, stage, token, start)
  return token
end
end
local note
do
local function writeNote(number, kind, taskId, attempt, actor, reason, data)
  local text = int(number)
  call('XADD', key('journal'), text .. '-0', 'at', int(now), 'type', kind, 'task', taskId or '',
    'attempt', attempt and int(attempt) or '', 'actor', actor, 'reason', reason, 'data', data)
  if taskId then call('RPUSH', key('journal:' .. taskId), text) end
end
function note(kind, taskId, attempt, actor, reason, data)
  writeNote(call('HINCRBY', NUMBERS, 'journal', 1), kind, taskId, attempt, actor, reason, data)
end
end
local mayTellMore, proceed, eachStocked, countRunning, stirStocked, letGo, beginHold, endHold, endLimit, setOwnLimit, STEPS, continueLifting
do
local LIFT_MAX = 500
local UNFINISHED_MAX = 20
local told
atBegin(function()
  told = 0
end)
function mayTellMore()
  return told < LIFT_MAX
end
function proceed(what, goOnAt)
  if goOnAt then
    call('HSET', key('unfinished'), what, goOnAt)
    nowExists('unfinished')
  else
    call('HDEL', key('unfinished'), what)
  end
  return not goOnAt
end
local function scopeCovers(scopeName, lane)
  for _, name in ipairs(scopeNames(lane)) do
    if name == scopeName then return true end
  end
  return false
end
local function stockByAction()
  local old = call('ZRANGE', key('stocked'), '(0', '+inf', 'BYSCORE', 'LIMIT', 0, LIFT_MAX)
  told = told + #old
  for _, member in ipairs(old) do
    local lane = laneNumbered(tonumber(member))
    call('ZREM', key('stocked'), member)
    if lane.queued > 0 then call('ZADD', key('stocked'), '0', lane.action .. '\\n' .. member) end
  end
  return #old < LIFT_MAX
end
local function eachOfTenant(action, tenant, visit)
  if call('EXISTS', key('pools')) == 0 then return false end
  for _, pool in ipairs(call('SMEMBERS', key('pools'))) do
    local number = findLane(pool, action, tenant)
    local lane = number and laneNumbered(number)
    if lane and lane.queued > 0 then visit(lane) end
  end
  return true
end
function eachStocked(scopeName, cursor, visit)
  local pool, action, tenant = string.match(scopeName, '^(.*)\\n(.*)\\n(.*)$')
  if pool == '\\r' and tenant ~= '' then
    if eachOfTenant(action, tenant, visit) then return nil end
  elseif pool ~= '' and action ~= '' and tenant ~= '' then
    local number = findLane(pool, action, tenant)
    local lane = number and laneNumbered(number)
    if lane and lane.queued > 0 then visit(lane) end
    return nil
  end
  if not stockByAction() then return cursor end
  local first, last = '-', '+'
  if action ~= '' then first, last = '[' .. action .. '\\n', '(' .. action .. '\\n~' end
  if string.find(cursor, '\\n', 1, true) then first = '(' .. cursor end
  local page = call('ZRANGE', key('stocked'), first, last, 'BYLEX', 'LIMIT', 0, LIFT_MAX)
  told = told + #page
  for _, member in ipairs(page) do
    local lane = laneNumbered(tonumber(string.match(member, '%d+$')))
    if scopeCovers(scopeName, lane) then visit(lane) end
  end
  return #page == LIFT_MAX and page[#page] or nil
end
function countRunning(scopeName)
  local running = 0
  for _, member in ipairs(call('SMEMBERS', key('busy'))) do
    local lane = laneNumbered(tonumber(member))
    if scopeCovers(scopeName, lane) then running = running + lane.running end
  end
  return running
end
function stirStocked(scopeName)
  eachStocked(scopeName, '', function(lane)
    if lane.ready > 0 and not lane.heldSince then stir(lane) end
  end)
end
function letGo(lane)
  lane.heldMs = lane.heldMs + now - lane.heldSince
  lane.heldSince = false
  catchUp(lane)
  if lane.ready > 0 then stir(lane, lane.ready) end
end
function beginHold(scopeName, cursor)
  local hold = call('HGET', key('holds'), scopeName)
  local goOnAt = hold and eachStocked(scopeName, cursor, function(lane)
    if not lane.heldSince then applyHold(lane, hold) end
  end)
  return proceed('pause ' .. scopeName, goOnAt)
end
function endHold(scopeName, cursor)
  local goOnAt = eachStocked(scopeName, cursor, function(lane)
    if lane.heldSince and not holdOn(lane) then letGo(lane) end
  end)
  return proceed('resume ' .. scopeName, goOnAt)
end
function endLimit(scopeName)
  local what = 'limit ' .. scopeName
  local left = LIFT_MAX
  for _, place in ipairs(call('SMEMBERS', standingsKey(scopeName))) do
    local pool, action = string.match(place, '^(.*)\\n(.*)$')
    local page = call('ZRANGE', standingKey(scopeName, pool, action), 0, left - 1)
    for _, member in ipairs(page) do
      local lane = laneNumbered(tonumber(member))
      if lane.atLimit == scopeName then lane.atLimit = false end
      if not lane.heldSince then stir(lane, lane.ready) end
    end
    told = told + #page
    if #page == left then return proceed(what, '') end
    left = left - #page
    call('SREM', standingsKey(scopeName), place)
  end
  return proceed(what, nil)
end
function setOwnLimit(name, concurrency, since, countThem)
  local before = anyLimits() and call('HGET', key('limits'), name)
  local text = concurrency and int(concurrency) .. ' since ' .. int(since) or false
  if before == text then return true end
  for _, lane in ipairs(laneList) do lane.limits = false end
  if not text then
    limits[name] = nil
    call('HDEL', key('limits'), name)
    call('HDEL', key('slots'), name)
    if mayTellMore() then return endLimit(name) end
    return proceed('limit ' .. name, '')
  end
  local limit = limitNamed(name, before or text)
  if not before or limit.since ~= since then
    limit.running = countThem()
    limit.since = since
  end
  limit.concurrency = concurrency
  call('HSET', key('limits'), name, text)
  nowExists('limits')
  if before then limit.freed = math.max(limit.freed, concurrency - limit.running) end
  return true
end
STEPS = { pause = beginHold, resume = endHold, limit = endLimit }
function continueLifting()
  local some = call('HRANDFIELD', key('unfinished'), UNFINISHED_MAX, 'WITHVALUES')
  for index = 1, #some, 2 do
    if not mayTellMore() then break end
    local kind, name = string.match(some[index], '^(%a+) (.*)$')
    STEPS[kind](name, some[index + 1])
  end
  return call('EXISTS', key('unfinished')) == 1
end
end
local breakers, coverings, onLanes, placeOf, breakerNamed, covering
do
atBegin(function()
  breakers, coverings, onLanes = {}, {}, {}
end)
function placeOf(action, tenant)
  return tenant and tenant ~= '' and action .. '\\n' .. tenant or action
end
local breakerId = placeOf
local function blankBreaker(id)
  local name, tenant = string.match(id, '^([^\\n]*)\\n?(.*)$')
  return { id = id, name = name, tenant = tenant ~= '' and tenant, actions = {}, state = { status = 'closed' }, buckets = {}, voices = {} }
end
local function parseBreaker(id, text)
  local stop = string.find(text, '\\n', 1, true)
  local breaker = blankBreaker(id)
  for field, value in pairs(cjson.decode(string.sub(text, stop + 1))) do breaker[field] = value end
  breaker.settingsText = string.sub(text, 1, stop - 1)
  breaker.settings = decodeSettings(breaker.settingsText)
  return breaker
end
local function fieldsText(fields)
  local texts = {}
  for name, value in pairs(fields) do
    texts[#texts + 1] = cjson.encode(name) .. ':' .. (type(value) == 'number' and int(value) or cjson.encode(value))
  end
  return '{' .. table.concat(texts, ',') .. '}'
end
local function listText(list, textOf)
  local texts = {}
  for index, item in ipairs(list) do texts[index] = textOf(item) end
  return '[' .. table.concat(texts, ',') .. ']'
end
local function breakerText(breaker)
  return breaker.settingsText .. '\\n{"actions":' .. listText(breaker.actions, cjson.encode) .. ',"state":'
    .. fieldsText(breaker.state) .. ',"buckets":' .. listText(breaker.buckets, fieldsText)
    .. ',"voices":' .. listText(breaker.voices, fieldsText) .. '}'
end
function breakerNamed(id)
  local breaker = breakers[id]
  if breaker == nil then
    local text = call('HGET', key('breakers'), id)
    breaker = text and parseBreaker(id, text)
    breakers[id] = breaker
  end
  return breaker
end
function covering(place)
  local ids = coverings[place]
  if not ids then
    ids = {}
    local tenant = string.match(place, '\\n(.*)$')
    for name in string.gmatch(call('HGET', key('covered'), place) or '', '[^\\n]+') do ids[#ids + 1] = breakerId(name, tenant) end
    coverings[place] = ids
  end
  return ids
end
local function breakersOn(lane)
  local found = onLanes[lane]
  if not found then
    local ids = {}
    for _, id in ipairs(covering(lane.action)) do ids[#ids + 1] = id end
    for _, id in ipairs(covering(placeOf(lane.action, lane.tenant))) do ids[#ids + 1] = id end
    table.sort(ids)
    found = {}
    for index, id in ipairs(ids) do found[index] = breakerNamed(id) end
    onLanes[lane] = found
  end
  for _, breaker in ipairs(found) do
    if breaker.state.status ~= 'closed' then return found, false end
  end
  return found, true
end
local function setCovering(place, ids)
  coverings[place] = ids
  onLanes = {}
  if #ids == 0 then
    call('HDEL', key('covered'), place)
  else
    local names = {}
    for index, id in ipairs(ids) do names[index] = string.match(id, '^[^\\n]*') end
    call('HSET', key('covered'), place, table.concat(names, '\\n'))
  end
end
local function liveBuckets(breaker)
  local kept = {}
  for _, bucket in ipairs(breaker.buckets) do
    if bucket.at + breaker.settings.windowMs > now then kept[#kept + 1] = bucket end
  end
  return kept
end
local function fadesAt(breaker)
  local at = 0
  for _, bucket in ipairs(breaker.buckets) do
    if bucket.failed > 0 then at = math.max(at, bucket.at + breaker.settings.windowMs) end
  end
  for _, voice in ipairs(breaker.voices) do
    if voice.failed > 0 then at = math.max(at, voice.since + breaker.settings.windowMs) end
  end
  return at
end
local function isForgotten(breaker)
  return breaker.state.status == 'closed' and fadesAt(breaker) <= now
end
local function voiceOf(live, tenant, what)
  for _, voice in ipairs(live) do
    if voice.tenant == tenant then return voice end
  end
  if #live >= 20 then
    local quiet
    for index, voice in ipairs(live) do
      if not quiet and voice.failed == 0 then quiet = index end
    end
    if what == 'ok' or not quiet then return false end
    table.remove(live, quiet)
  end
  local voice = { tenant = tenant, since = now, ok = 0, failed = 0 }
  live[#live + 1] = voice
  return voice
end
local function hear(breaker, what, tenant, count)
  local live = {}
  for _, voice in ipairs(breaker.voices) do
    if voice.since + breaker.settings.windowMs > now then live[#live + 1] = voice end
  end
  local voice = voiceOf(live, tenant, what)
  if voice then voice[what] = voice[what] + count end
  breaker.voices = live
end
local function agree(breaker)
  local settings = breaker.settings
  local most = math.ceil(settings.minFailures / 2)
  local tenants, against, all = 0, 0, 0
  for _, voice in ipairs(breaker.voices) do
    local isAgainst = voice.failed > 0 and voice.failed >= settings.failureRate * (voice.ok + voice.failed)
    local weight = math.min(isAgainst and voice.failed or voice.ok, most)
    all = all + weight
    if isAgainst then
      tenants = tenants + 1
      against = against + weight
    end
  end
  return tenants >= 2 and against >= settings.minFailures and against >= settings.failureRate * all
end
local function countOutcome(breaker, what, tenant, count)
  if not breaker.tenant then return hear(breaker, what, tenant, count) end
  local widthMs = math.max(math.floor(breaker.settings.windowMs / 10), 1)
  local at = math.floor(now / widthMs) * widthMs
  local kept = liveBuckets(breaker)
  local last = kept[#kept]
  if not last or last.at < at then
    last = { at = at, ok = 0, failed = 0 }
    kept[#kept + 1] = last
  end
  last[what] = last[what] + count
  breaker.buckets = kept
end
local function openBreaker(breaker, opens)
  local settings = breaker.settings
  local openMs = math.min(settings.openMs * 2 ^ math.min(opens - 1, 30), settings.maxOpenMs)
  breaker.state = { status = 'open', since = now, ['until'] = now + openMs, opens = opens }
  breaker.buckets, breaker.voices = {}, {}
end
local function isTooMuch(breaker)
  if not breaker.tenant then return agree(breaker) end
  local ok, failed = 0, 0
  for _, bucket in ipairs(breaker.buckets) do
    ok = ok + bucket.ok
    failed = failed + bucket.failed
  end
  local settings = breaker.settings
  return failed >= settings.minFailures and failed >= settings.failureRate * (ok + failed)
end
local function countFailure(breaker, tenant, opens)
  countOutcome(breaker, 'failed', tenant, 1)
  if isTooMuch(breaker) then openBreaker(breaker, opens) end
end
local function probeFailed(breaker, tenant)
  local state = breaker.state
  if not breaker.tenant and (state.doubtedBy or tenant) == tenant then
    state.doubtedBy = tenant
  else
    openBreaker(breaker, state.opens + 1)
  end
end
local transitions = {}
function transitions.afterFailure(breaker, tenant, startedAt)
  local state = breaker.state
  if state.status == 'closed' then
    countFailure(breaker, tenant, 1)
  elseif state.status ~= 'open' and startedAt >= state.since then
    if state.status == 'half_open' then probeFailed(breaker, tenant) else countFailure(breaker, tenant, state.opens + 1) end
  end
end
function transitions.afterSuccess(breaker, tenant, startedAt, count)
  local state, settings = breaker.state, breaker.settings
  if state.status == 'closed' then return countOutcome(breaker, 'ok', tenant, count) end
  if state.status == 'open' or startedAt < state.since then return end
  local isRamping = state.status == 'ramping'
  if isRamping then countOutcome(breaker, 'ok', tenant, 1) end
  if state.doubtedBy == tenant then state.doubtedBy = nil end
  local wanted = isRamping and state.concurrency or settings.probes
  state.succeeded = state.succeeded + 1
  if state.succeeded < wanted then return end
  breaker.state = { status = 'ramping', since = state.since, opens = state.opens, succeeded = 0, concurrency = wanted * 2 }
  if wanted * 2 >= settings.maxRamp then breaker.state = { status = 'closed' } end
end
function transitions.isOutage(breaker, startedAt)
  local state = breaker.state
  if state.status == 'ramping' then return startedAt < state.since end
  return state.status ~= 'closed'
end
end

do
local function gateOf(place)
  local action, tenant = string.match(place, '^([^\\n]*)\\n?(.*)$')
  return gateName(action, tenant)
end
local function allowedBy(breaker)
  local state = breaker.state
  if state.status == 'half_open' then return breaker.settings.probes end
  return state.status == 'ramping' and state.concurrency or nil
end
local gateHolds, countedSince
atBegin(function()
  gateHolds, countedSince = {}, {}
end)
local function gateHold(place)
  local hold = gateHolds[place]
  if hold == nil then
    hold = call('HGET', key('holds'), gateOf(place))
    gateHolds[place] = hold
  end
  return hold
end
local function tellLane(lane)
  if lane.queued == 0 then return end
  local hold = gateHold(lane.action) or gateHold(placeOf(lane.action, lane.tenant))
  if not hold then
    if lane.heldSince and not holdOn(lane) then letGo(lane) end
  elseif not lane.heldSince then
    applyHold(lane, hold)
  end
end
local function tellLanes(place, cursor)
  return proceed('gates ' .. place, eachStocked(gateOf(place), cursor, tellLane))
end
STEPS.gates = tellLanes
local function addRunning(counts, since, startedAt, token)
  if tonumber(startedAt) < since then return end
  local lane = laneNumbered(tonumber(string.match(token, '%d+$')))
  local own = placeOf(lane.action, lane.tenant)
  counts[lane.action] = (counts[lane.action] or 0) + 1
  counts[own] = (counts[own] or 0) + 1
end
local function addLaunched(counts, since, ended)
  for _, pool in ipairs(call('SMEMBERS', key('launching'))) do
    for _, id in ipairs(call('ZRANGE', launchesKey(pool), '0', '-1')) do
      local state = not ended[id] and call('HGET', taskKey(id), 'state')
      local record = state and call('HGET', taskKey(id), string.match(state, '"attempt":(%d+)'))
      local _, _, token, _, startedAt = string.match(record or '', '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)')
      if token then addRunning(counts, since, startedAt, token) end
    end
  end
end
local function addLeased(counts, since, ended)
  for _, worker in ipairs(call('ZRANGE', key('leases'), '0', '-1')) do
    local leases = call('HGETALL', leasesKey(worker))
    for index = 1, #leases, 2 do
      local lease = leases[index + 1]
      if part(lease, 1, 1) ~= 'l' and not ended[leases[index]] then
        addRunning(counts, since, part(lease, 2, 14), string.match(lease, '^%S+ (%S+)'))
      end
    end
  end
end
local function runningSince(place, since)
  local ended, size = {}, 0
  for _, change in pairs(leaseChanges) do
    size = size + #change.removed
    for _, id in ipairs(change.removed) do ended[id] = true end
  end
  local name = int(since) .. ' ' .. int(size)
  local counts = countedSince[name]
  if not counts then
    counts = {}
    addLaunched(counts, since, ended)
    addLeased(counts, since, ended)
    countedSince[name] = counts
  end
  return counts[place] or 0
end
local function setHold(place)
  gateHolds[place] = nil
  for _, id in ipairs(covering(place)) do
    if breakerNamed(id).state.status == 'open' then
      nowExists('holds')
      return call('HSETNX', key('holds'), gateOf(place), NOW) == 1
    end
  end
  return call('HDEL', key('holds'), gateOf(place)) == 1
end
local function setLimit(place)
  local most
  local since = 0
  for _, id in ipairs(covering(place)) do
    local breaker = breakerNamed(id)
    local number = allowedBy(breaker)
    if number then
      if not most or number < most then most = number end
      since = math.max(since, breaker.state.since)
    end
  end
  return setOwnLimit(gateOf(place), most, since, function() return runningSince(place, since) end)
end
local function setGates(places)
  local isChanged = {}
  for _, place in ipairs(places) do isChanged[place] = setHold(place) end
  for _, lane in ipairs(laneList) do
    if isChanged[lane.action] or isChanged[placeOf(lane.action, lane.tenant)] then tellLane(lane) end
  end
  local isTold = true
  for _, place in ipairs(places) do
    if isChanged[place] then
      local isDone
      if mayTellMore() then isDone = tellLanes(place, '') else isDone = proceed('gates ' .. place, '') end
      isTold = isTold and isDone
    end
    if not setLimit(place) then isTold = false end
  end
  return isTold
end
end
local isOutranked, keepRank
do
function isOutranked(what, scopeName, rank)
  return rank == 'tenant' and call('HEXISTS', key(what), scopeName) == 1
    and call('HEXISTS', key('ranks:' .. what), scopeName) == 0
end
function keepRank(what, scopeName, rank)
  if rank == 'tenant' then
    call('HSET', key('ranks:' .. what), scopeName, rank)
  else
    call('HDEL', key('ranks:' .. what), scopeName)
  end
end
end
redis.register_function{ function_name = 'reprise_9b75bd67a216_lift', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
continueLifting()
flushLanes()
flushWake()
return call('HLEN', key('unfinished'))
end }
redis.register_function{ function_name = 'reprise_9b75bd67a216_limit', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local concurrency = tonumber(ARGV[6])
local scopeName = ARGV[3] .. '\\n' .. ARGV[4] .. '\\n' .. ARGV[5]
if isOutranked('limits', scopeName, ARGV[9]) then return -2, false end
keepRank('limits', scopeName, concurrency and ARGV[9])
note('lanes.limited', nil, nil, ARGV[7], ARGV[8], ARGV[10])
local isDone = true
local room
if concurrency then
  local running = countRunning(scopeName)
  room = concurrency - running
  call('HSET', key('limits'), scopeName, int(concurrency))
  nowExists('limits')
  call('HSET', key('slots'), scopeName, int(running))
  local limit = limitNamed(scopeName, concurrency)
  if room > 0 then limit.freed = room end
else
  call('HDEL', key('limits'), scopeName)
  call('HDEL', key('slots'), scopeName)
  isDone = endLimit(scopeName)
end
if not room or room > 0 then stirStocked(scopeName) end
flushLimits()
flushLanes()
flushWake()
return isDone and 1 or 0
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_9b75bd67a216_pause', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local scopeName = ARGV[3] .. '\\n' .. ARGV[4] .. '\\n' .. ARGV[5]
if isOutranked('holds', scopeName, ARGV[9]) then return -2, false end
local before = call('HGET', key('holds'), scopeName)
local since = before and string.match(before, '^%d+') or int(now)
call('HSET', key('holds'), scopeName, since .. ' ' .. ARGV[6])
nowExists('holds')
keepRank('holds', scopeName, ARGV[9])
call('HDEL', key('unfinished'), 'resume ' .. scopeName)
if ARGV[10] ~= '' then note('lanes.paused', nil, nil, ARGV[7], ARGV[8], ARGV[10]) end
local isDone = beginHold(scopeName, '')
flushLanes()
return isDone and 1 or 0
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_9b75bd67a216_resume', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local scopeName = ARGV[3] .. '\\n' .. ARGV[4] .. '\\n' .. ARGV[5]
if isOutranked('holds', scopeName, ARGV[8]) then return -2, false end
if call('HDEL', key('holds'), scopeName) == 0 then return -1, false end
keepRank('holds', scopeName, nil)
call('HDEL', key('unfinished'), 'pause ' .. scopeName)
if ARGV[9] ~= '' then note('lanes.resumed', nil, nil, ARGV[6], ARGV[7], ARGV[9]) end
local isDone = endHold(scopeName, '')
flushLanes()
flushWake()
return isDone and 1 or 0
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_9b75bd67a216_share', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local scopeName = ARGV[2] .. '\\n' .. ARGV[3] .. '\\n' .. ARGV[4]
local version, granted, mayKeep, gives, calls = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7] == '1', ARGV[8] == '1', tonumber(ARGV[9])
local shareKey = key('quota:' .. scopeName)
local values = call('HMGET', shareKey, 'version', 'received', 'returned', 'quota', 'called', 'frozen')
local known = tonumber(values[1]) or 0
if known > version then return { int(known) } end
local received, returned, share, called = tonumber(values[2]), tonumber(values[3]), tonumber(values[4]), tonumber(values[5])
local isFrozen = values[6] == '1'
local running = tonumber(call('HGET', key('slots'), scopeName))
if known < version then
  running = countRunning(scopeName)
  received, returned, share, called, isFrozen = running, 0, 0, running, true
  call('HSET', key('slots'), scopeName, int(running))
end
local before = known < version and 0 or share
local function returnCalled()
  local count = math.min(called, share + called - running)
  if count <= 0 then return end
  called = called - count
  returned = returned + count
end
if granted and granted > received then
  share = share + granted - received
  received = granted
end
if mayKeep and isFrozen then
  share = share + called
  called = 0
  isFrozen = false
end
returnCalled()
if gives and share > running then
  local count = math.ceil((share - running) / 2)
  share = share - count
  returned = returned + count
end
if calls > 0 then
  local count = math.min(calls, share)
  share = share - count
  called = called + count
  returnCalled()
end
call('HSET', shareKey, 'version', int(version), 'received', int(received), 'returned', int(returned), 'quota', int(share),
  'called', int(called), 'frozen', isFrozen and '1' or '')
call('HSET', key('limits'), scopeName, int(share) .. ' shared')
nowExists('limits')
for at = 10, #ARGV do call('SADD', key('wanted:' .. scopeName), ARGV[at]) end
if share > before and share > running then
  limitsNamed({ scopeName })[1].freed = math.min(share - before, share - running)
  if mayKeep then stirStocked(scopeName) end
end
flushLimits()
flushLanes()
flushWake()
return { int(version), int(received), int(returned), int(share), int(running), int(called), isFrozen and '1' or '' }
end }
redis.register_function{ function_name = 'reprise_9b75bd67a216_share_end', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local scopeName = ARGV[2] .. '\\n' .. ARGV[3] .. '\\n' .. ARGV[4]
local shareKey = key('quota:' .. scopeName)
if (tonumber(call('HGET', shareKey, 'version')) or 0) > tonumber(ARGV[5]) then return 1 end
call('DEL', shareKey, key('wanted:' .. scopeName))
call('SREM', key('blocked'), scopeName)
call('HDEL', key('limits'), scopeName)
call('HDEL', key('slots'), scopeName)
local isDone = endLimit(scopeName)
stirStocked(scopeName)
flushLanes()
flushWake()
return isDone and 1 or 0
end }
redis.register_function{ function_name = 'reprise_9b75bd67a216_share_limit', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local concurrency = ARGV[6]
local scopeName = ARGV[3] .. '\\n' .. ARGV[4] .. '\\n' .. ARGV[5]
if isOutranked('totals', scopeName, ARGV[9]) then return -2, false end
local ledger = key('ledger:' .. scopeName)
local version = int(draw(1))
call('DEL', ledger)
call('HSET', ledger, 'version', version, 'free', concurrency, 'settled', '')
if concurrency == '' then
  call('HDEL', key('totals'), scopeName)
else
  call('HSET', key('totals'), scopeName, concurrency)
end
keepRank('totals', scopeName, concurrency ~= '' and ARGV[9])
call('SADD', key('unsettled'), scopeName)
note('lanes.limited', nil, nil, ARGV[7], ARGV[8], ARGV[10])
return version
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }`,
}

export const liftScript: Script = { name: 'reprise_9b75bd67a216_lift', library: gatesLibrary, readOnly: false }
export const limitScript: Script = { name: 'reprise_9b75bd67a216_limit', library: gatesLibrary, readOnly: false }
export const pauseScript: Script = { name: 'reprise_9b75bd67a216_pause', library: gatesLibrary, readOnly: false }
export const resumeScript: Script = { name: 'reprise_9b75bd67a216_resume', library: gatesLibrary, readOnly: false }
export const shareScript: Script = { name: 'reprise_9b75bd67a216_share', library: gatesLibrary, readOnly: false }
export const shareEndScript: Script = { name: 'reprise_9b75bd67a216_share_end', library: gatesLibrary, readOnly: false }
export const shareLimitScript: Script = { name: 'reprise_9b75bd67a216_share_limit', library: gatesLibrary, readOnly: false }

export const library: Library = {
  name: 'reprise_cf0add58f9b2',
  text: `#!lua name=reprise_cf0add58f9b2
local KEYS, ARGV
local beginnings = {}
local function atBegin(start)
  beginnings[#beginnings + 1] = start
end
local function begin(keys, args)
  KEYS, ARGV = keys, args
  for index = 1, #beginnings do beginnings[index]() end
end
local call, byteAt, part, format, PREFIX, NUMBERS, TASK_PREFIX, META_PREFIX, now, NOW, MINUTE, int, taskKey, key, inboxKey, logKey, draw, exists, nowExists, refuse
do
function int(number)
  return format('%d', number)
end
atBegin(function()
  call, byteAt, part, format = redis.call, string.byte, string.sub, string.format
  NUMBERS = KEYS[1]
  PREFIX = string.sub(NUMBERS, 1, -9)
  TASK_PREFIX = PREFIX .. ':'
  META_PREFIX = PREFIX .. '/'
  now = tonumber(ARGV[1])
  if not now then
    local time = call('TIME')
    now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  NOW = int(now)
  MINUTE = now - now % 60000
end)
function taskKey(id)
  return TASK_PREFIX .. id
end
function key(name)
  return META_PREFIX .. name
end
function inboxKey(worker)
  return key('inbox:' .. worker)
end
function logKey(id)
  return key('log:' .. id)
end
local serverRun
local lastDrawn = {}
local function runOfServer()
  if not serverRun then
    local info = redis.pcall('INFO', 'server')
    serverRun = type(info) == 'string' and string.match(info, 'run_id:(%x%x%x%x%x%x%x%x%x%x%x%x)') or ''
  end
  return serverRun
end
local function beginningAt(before)
  local mine = lastDrawn[NUMBERS]
  local history = call('HGET', NUMBERS, 'history') or ''
  local isMine = mine and mine.history == history
  if not isMine or before < mine.last then
    local run = runOfServer()
    if run == '' then return '' end
    local last = string.match(history, '%S+$') or ''
    if isMine or string.match(last, '^%x+') ~= run then
      last = run .. ':' .. int(before) .. ':' .. NOW
      local kept = {}
      for beginning in string.gmatch(history, '%S+') do kept[#kept + 1] = beginning end
      kept[#kept + 1] = last
      history = table.concat(kept, ' ', math.max(1, #kept - 16 + 1))
      call('HSET', NUMBERS, 'history', history)
    end
    mine = { history = history, beginning = last }
    lastDrawn[NUMBERS] = mine
  end
  return mine.beginning
end
function draw(count, asksForBeginning)
  local last = call('HINCRBY', NUMBERS, 'sequence', int(count))
  if not asksForBeginning then return last end
  local beginning = beginningAt(last - count)
  if lastDrawn[NUMBERS] then lastDrawn[NUMBERS].last = last end
  return last, beginning
end
local UNUSUAL = { 'holds', 'limits', 'watched', 'progress', 'breakers', 'unfinished' }
local unusual
atBegin(function()
  unusual = nil
end)
function exists(name)
  if unusual == nil then
    local keys = {}
    for index, unusualName in ipairs(UNUSUAL) do keys[index] = key(unusualName) end
    unusual = call('EXISTS', unpack(keys)) > 0 and {}
  end
  if not unusual then return false end
  if unusual[name] == nil then unusual[name] = call('EXISTS', key(name)) == 1 end
  return unusual[name]
end
function nowExists(name)
  unusual = unusual or {}
  unusual[name] = true
end
function refuse(text)
  return redis.error_reply('REPRISE ' .. text)
end
end
local recall, remember
do
local ANSWER_KEPT_MS = 60000
function recall(request)
  local kept = call('GET', key('answer:' .. request))
  return kept and cmsgpack.unpack(kept) or nil
end
function remember(request, answer)
  call('SET', key('answer:' .. request), cmsgpack.pack(answer), 'PX', ANSWER_KEPT_MS)
  return answer
end
end
local SLOTS, COUNTED, laneNumbers, lanes, laneList, pools, backlogChange, standingKey, standingsKey, stirred, stir, laneMember, laneNumbered, gateName, scopeNames, anyHolds, holdOn, applyHold, findLane, laneNamed, laneTime, wallTime, catchUp, tally, restock, move, flushLanes
do
local FRESH_NUMBERS = {}
for index = 1, 25 do FRESH_NUMBERS[index] = 0 end
FRESH_NUMBERS[1] = -1
SLOTS, COUNTED = {}, { 'p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9' }
for index = 1, #COUNTED do SLOTS[index - 1] = COUNTED[index] end
function laneNumbers(text)
  return text and cmsgpack.unpack(text) or FRESH_NUMBERS
end
atBegin(function()
  lanes, laneList, pools, backlogChange = {}, {}, {}, 0
end)
local function activeKey(pool, action)
  return key('active:' .. pool .. '\\n' .. action)
end
function standingKey(limitName, pool, action)
  return key('parked:' .. limitName .. '\\n' .. pool .. '\\n' .. action)
end
function standingsKey(limitName)
  return key('parkings:' .. limitName)
end
atBegin(function()
  stirred = {}
end)
function stir(lane, count)
  local actions = stirred[lane.pool]
  if not actions then
    actions = {}
    stirred[lane.pool] = actions
  end
  actions[lane.action] = (actions[lane.action] or 0) + (count or 1)
end
function laneMember(number)
  return string.format('%010d', number)
end
local function poolNamed(name)
  local pool = pools[name]
  if not pool then
    local values = call('HMGET', key('pool:' .. name), 'virtualTime', 'version', 'promotedAt')
    local virtualTime = tonumber(values[1]) or 0
    pool = { name = name, virtualTime = virtualTime, was = virtualTime, version = values[2] or '0', promotedAt = tonumber(values[3]) }
    pools[name] = pool
  end
  return pool
end
local function keepLane(number, lane)
  lane.number = number
  lane.tally = {}
  lane.listedTurn = lane.ready > 0 and not lane.heldSince and lane.turn
  lane.listedAt = lane.atLimit
  lanes[number] = lane
  laneList[#laneList + 1] = lane
  return lane
end
function laneNumbered(number)
  local known = lanes[number]
  if known then return known end
  local texts = call('HMGET', key('lane:' .. int(number)), 'pool', 'action', 'tenant', 'parked', 'numbers')
  local was = laneNumbers(texts[5])
  local atLimit = texts[4] ~= '' and texts[4]
  local lane = {
    pool = texts[1], action = texts[2], tenant = texts[3], atLimit = atLimit, wasAtLimit = atLimit,
    heldSince = was[1], turn = was[2], picks = was[3], heldMs = was[4], ready = was[5], returned = was[6], stale = was[7], queued = was[8], waiting = was[9], running = was[10], succeeded = was[11], dead = was[12], discarded = was[13], cancelled = was[14], removed = was[15], p0 = was[16], p1 = was[17], p2 = was[18], p3 = was[19], p4 = was[20], p5 = was[21], p6 = was[22], p7 = was[23], p8 = was[24], p9 = was[25], was = was, number = false, tally = false, listedTurn = false, listedAt = false, limits = false, succeeding = false,
    bytesAdded = 0, group = false, distance = false, sources = false, takenOf = false, taken = false,
  }
  if lane.heldSince == -1 then lane.heldSince = false end
  return keepLane(number, lane)
end
function gateName(action, tenant)
  return '\\r\\n' .. action .. '\\n' .. tenant
end
function scopeNames(lane)
  local names = {}
  for _, pool in ipairs({ '', lane.pool }) do
    for _, action in ipairs({ '', lane.action }) do
      for _, tenant in ipairs({ '', lane.tenant }) do
        names[#names + 1] = pool .. '\\n' .. action .. '\\n' .. tenant
      end
    end
  end
  names[#names + 1] = gateName(lane.action, '')
  names[#names + 1] = gateName(lane.action, lane.tenant)
  return names
end
function anyHolds()
  return exists('holds')
end
function holdOn(lane)
  if not anyHolds() then return false end
  for _, hold in ipairs(call('HMGET', key('holds'), unpack(scopeNames(lane)))) do
    if hold then return hold end
  end
  return false
end
function applyHold(lane, hold)
  lane.heldSince = tonumber(string.match(hold, '^%d+'))
end
function findLane(pool, action, tenant)
  return tonumber(call('HGET', key('lanes'), pool .. '\\n' .. action .. '\\n' .. tenant))
end
function laneNamed(pool, action, tenant)
  local number = findLane(pool, action, tenant)
  if number then return laneNumbered(number) end
  number = call('HINCRBY', NUMBERS, 'lanes', 1)
  call('HSET', key('lanes'), pool .. '\\n' .. action .. '\\n' .. tenant, number)
  call('HSET', key('lane:' .. number), 'pool', pool, 'action', action, 'tenant', tenant)
  call('SADD', key('actions:' .. pool), action)
  if number == 1 or call('EXISTS', key('pools')) == 1 then call('SADD', key('pools'), pool) end
  return laneNumbered(number)
end
function laneTime(lane)
  return (lane.heldSince or now) - lane.heldMs
end
function wallTime(lane, moment)
  return moment + now - laneTime(lane)
end
function catchUp(lane)
  lane.turn = math.max(lane.turn, poolNamed(lane.pool).virtualTime)
end
function tally(lane, kind, count)
  lane.tally[kind] = (lane.tally[kind] or 0) + (count or 1)
end
function restock(lane)
  if lane.queued > 0 then return end
  local hold = holdOn(lane)
  if hold and not lane.heldSince then
    lane.heldSince = now
  elseif not hold and lane.heldSince then
    lane.heldMs = lane.heldMs + now - lane.heldSince
    lane.heldSince = false
  end
end
function move(lane, from, to, count)
  count = count or 1
  if from then
    lane[from] = lane[from] - count
    if from == 'queued' or from == 'waiting' then backlogChange = backlogChange - count end
  end
  if to then
    lane[to] = lane[to] + count
    if to == 'queued' or to == 'waiting' then backlogChange = backlogChange + count end
  end
end
local function listKey(lane, limitName)
  if limitName then return standingKey(limitName, lane.pool, lane.action) end
  return activeKey(lane.pool, lane.action)
end
local function flushActive(lane)
  local turn = lane.ready > 0 and not lane.heldSince and lane.turn
  if not turn then lane.atLimit = false end
  local hasMoved = lane.atLimit ~= lane.listedAt
  if lane.listedTurn == turn and not hasMoved then return end
  if lane.listedTurn and (not turn or hasMoved) then
    call('ZREM', listKey(lane, lane.listedAt), laneMember(lane.number))
  end
  if turn then
    call('ZADD', listKey(lane, lane.atLimit), int(turn), laneMember(lane.number))
    if lane.atLimit and hasMoved then call('SADD', standingsKey(lane.atLimit), lane.pool .. '\\n' .. lane.action) end
  end
  lane.listedTurn = turn
  lane.listedAt = lane.atLimit
end
local function flushLane(lane)
  flushActive(lane)
  local was = lane.was
  local numbers = { lane.heldSince, lane.turn, lane.picks, lane.heldMs, lane.ready, lane.returned, lane.stale, lane.queued, lane.waiting, lane.running, lane.succeeded, lane.dead, lane.discarded, lane.cancelled, lane.removed, lane.p0, lane.p1, lane.p2, lane.p3, lane.p4, lane.p5, lane.p6, lane.p7, lane.p8, lane.p9 }
  numbers[1] = lane.heldSince or -1
  for index = 1, 25 do
    if numbers[index] ~= was[index] then
      call('HSET', key('lane:' .. int(lane.number)), 'numbers', cmsgpack.pack(numbers))
      break
    end
  end
  if lane.bytesAdded ~= 0 then call('HINCRBY', key('lane:' .. int(lane.number)), 'bytes', int(lane.bytesAdded)) end
  if lane.atLimit ~= lane.wasAtLimit then call('HSET', key('lane:' .. int(lane.number)), 'parked', lane.atLimit or '') end
  local member = laneMember(lane.number)
  if (lane.queued > 0) ~= (was[8] > 0) then
    local place = lane.action .. '\\n' .. member
    if lane.queued > 0 then call('ZADD', key('stocked'), '0', place) else call('ZREM', key('stocked'), place) end
  end
  if (lane.running > 0) ~= (was[10] > 0) then
    if lane.running > 0 then call('SADD', key('busy'), member) else call('SREM', key('busy'), member) end
  end
  for kind, count in pairs(lane.tally) do
    local series = key('series:' .. int(MINUTE))
    if call('HINCRBY', series, int(lane.number) .. ':' .. kind, int(count)) == count then
      call('ZADD', key('minutes'), int(MINUTE), int(MINUTE))
    end
  end
end
function flushLanes()
  for _, lane in ipairs(laneList) do flushLane(lane) end
  for name, pool in pairs(pools) do
    if pool.virtualTime ~= pool.was then call('HSET', key('pool:' .. name), 'virtualTime', int(pool.virtualTime)) end
    if pool.hasPromoted then call('HSET', key('pool:' .. name), 'promotedAt', int(pool.promotedAt)) end
  end
  if backlogChange ~= 0 then call('HINCRBY', NUMBERS, 'backlog', int(backlogChange)) end
end
end
local decodeSettings, profileNumbered, profileFor, parseHead, payloadBytes, statusOf, loadTask, stateText, saveState, nextState, waitingMember
do
local profiles
atBegin(function()
  profiles = {}
end)
local decoded, decodedCount = {}, 0
local DECODED_MAX = 1000
local function currentNames(settings)
  if settings.rampMax then
    settings.minFailures, settings.maxOpenMs, settings.maxRamp = settings.failuresMin, settings.openMsMax, settings.rampMax
  end
  return settings
end
function decodeSettings(text)
  local settings = decoded[text]
  if settings then return settings end
  if decodedCount >= DECODED_MAX then decoded, decodedCount = {}, 0 end
  settings = currentNames(cjson.decode(text))
  decoded[text] = settings
  decodedCount = decodedCount + 1
  return settings
end
function profileNumbered(number)
  local known = profiles[number]
  if not known then
    known = decodeSettings(call('HGET', key('profile'), int(number)))
    profiles[number] = known
  end
  return known
end
function profileFor(text)
  local number = call('HGET', key('profiles'), text)
  if number then return number end
  number = int(call('HINCRBY', NUMBERS, 'profiles', '1'))
  call('HSET', key('profiles'), text, number)
  call('HSET', key('profile'), number, text)
  return number
end
function parseHead(text)
  local stop = string.find(text, '\\n', 1, true)
  return cjson.decode(string.sub(text, 1, stop - 2) .. '}')
end
function payloadBytes(text)
  return #text - string.find(text, '\\n', 1, true) - 11
end
function statusOf(record)
  return string.match(record, '^{"status":"(%a+)"')
end
function loadTask(id)
  local values = call('HMGET', taskKey(id), 'task', 'state', '1')
  if not values[1] then return false end
  local head = parseHead(values[1])
  local state
  if values[2] then
    state = cjson.decode(values[2])
  else
    state = { status = 'queued', attempt = 0, generation = 1, before = 0, failures = 0, losses = 0,
      rank = head.seq, since = head.acceptedAt, expires = head.expires }
    if values[3] then
      state.attempt = 1
      state.status = statusOf(values[3])
    end
  end
  return {
    id = id, head = head, state = state, text = values[1], stateText = values[2], first = values[3],
    lane = laneNumbered(head.lane), profile = profileNumbered(head.profile), priority = head.priority or 5,
  }
end
local STATE_FIELDS = {
  'parks', 'deferrals', 'retryReason', 'rank', 'since', 'expires', 'retired', 'returned', 'dueAt', 'reason', 'quota', 'at',
  'fingerprint', 'diedOf', 'keyLost', 'notify', 'policy',
}
for index = 1, #STATE_FIELDS do STATE_FIELDS[STATE_FIELDS[index]] = ',"' .. STATE_FIELDS[index] .. '":' end
function stateText(state)
  local parts, size = { format('{"status":"%s","attempt":%d,"generation":%d,"before":%d,"failures":%d,"losses":%d',
    state.status, state.attempt, state.generation, state.before, state.failures, state.losses) }, 1
  for _, name in ipairs(STATE_FIELDS) do
    local value = state[name]
    if value ~= nil and value ~= cjson.null then
      parts[size + 1], parts[size + 2] = STATE_FIELDS[name], type(value) == 'number' and int(value) or cjson.encode(value)
      size = size + 2
    end
  end
  parts[size + 1] = '}'
  return table.concat(parts)
end
function saveState(task)
  call('HSET', taskKey(task.id), 'state', stateText(task.state))
end
function nextState(state, status)
  return {
    status = status, attempt = state.attempt, generation = state.generation, before = state.before,
    failures = state.failures, losses = state.losses, parks = state.parks, deferrals = state.deferrals,
    retryReason = state.retryReason, rank = state.rank, keyLost = state.keyLost, notify = state.notify,
    policy = state.policy, diedOf = state.fingerprint or state.diedOf,
  }
end
function waitingMember(task)
  return string.format('%016d', task.head.seq) .. task.id
end
end
local queueKey, entryText, watchTimes, deadlineOf, enqueue, dequeue, overdue
do
local LENGTH_ZERO = 96
local PLAIN_HEADS = { 'pa', 'pb', 'pc', 'pd', 'pe', 'pf', 'pg', 'ph', 'pi', 'pj', 'pk', 'pl', 'pm', 'pn', 'po', 'pp' }
local ENTRY_PATTERN = '^x(%d+) (%d+) (%S+) (%S+) (%a) (.+)$'
function queueKey(lane, priority)
  return key('queue:' .. int(lane.number) .. ':' .. priority)
end
local function returnedKey(lane, priority)
  return key('returned:' .. int(lane.number) .. ':' .. priority)
end
local PLAIN_TIMEOUT_MAX = 999999999999
local function plainTimeout(timeoutMs)
  return string.format('%012d', timeoutMs)
end
local function plainEntry(rank, timeout, id)
  return PLAIN_HEADS[#rank] .. rank .. timeout .. id
end
local function parsePlain(entry)
  local from = string.byte(entry, 2) - LENGTH_ZERO + 3
  return string.sub(entry, from, from + 11), string.sub(entry, from + 12)
end
local function parseEntry(entry)
  if string.byte(entry) ~= 112 then return string.match(entry, ENTRY_PATTERN) end
  local timeoutMs, id = parsePlain(entry)
  return string.sub(entry, 3, string.byte(entry, 2) - LENGTH_ZERO + 2), timeoutMs, '-', '-', 'p', id
end
function entryText(rank, timeoutMs, expires, deadlineAt, kind, id)
  return 'x' .. int(rank) .. ' ' .. int(timeoutMs) .. ' ' .. (expires and int(expires) or '-') .. ' '
    .. (deadlineAt and int(deadlineAt) or '-') .. ' ' .. kind .. ' ' .. id
end
function watchTimes(lane, id, expires, deadlineAt)
  if expires then
    call('ZADD', key('ttl:' .. int(lane.number)), int(expires), id)
    call('ZADD', key('ttl'), 'LT', int(wallTime(lane, expires)), laneMember(lane.number))
  end
  if deadlineAt then call('ZADD', key('deadlines'), int(deadlineAt), id) end
end
local function forgetTimes(lane, id, expires, deadlineAt)
  if expires then call('ZREM', key('ttl:' .. int(lane.number)), id) end
  if deadlineAt then call('ZREM', key('deadlines'), id) end
end
function deadlineOf(task)
  if task.state.generation > 1 then return nil end
  return task.head.deadlineAt
end
function enqueue(task, keepsRank, together)
  local lane = task.lane
  restock(lane)
  move(lane, nil, 'queued')
  local state = nextState(task.state, 'queued')
  if together then
    together.rank = together.rank + 1
    state.rank = together.rank
  elseif not keepsRank or not state.rank then
    state.rank = draw(1)
  end
  if lane.ready == 0 then catchUp(lane) end
  local ttlMs = task.profile.queueTtlMs
  state.since = now
  if ttlMs and ttlMs ~= cjson.null then state.expires = laneTime(lane) + ttlMs end
  task.state = state
  local deadlineAt = deadlineOf(task)
  local entry = entryText(state.rank, task.profile.timeoutMs, state.expires, deadlineAt, 's', task.id)
  if keepsRank then
    state.returned = true
    call('ZADD', returnedKey(lane, task.priority), int(state.rank), entry)
    lane.returned = lane.returned + 1
  elseif together then
    local queue = queueKey(lane, task.priority)
    local entries = together.entries[queue] or {}
    together.entries[queue] = entries
    entries[#entries + 1] = entry
  else
    call('RPUSH', queueKey(lane, task.priority), entry)
  end
  lane.ready = lane.ready + 1
  local slot = SLOTS[task.priority]
  lane[slot] = lane[slot] + 1
  watchTimes(lane, task.id, state.expires, deadlineAt)
  saveState(task)
end
local function unready(lane, priority, count)
  local slot = SLOTS[priority]
  lane[slot] = lane[slot] - count
  lane.ready = lane.ready - count
  if lane.ready == 0 then lane.stale = 0 end
  if lane[slot] > 0 then return end
  call('DEL', queueKey(lane, priority))
  if lane.returned > 0 then
    lane.returned = lane.returned - call('ZCARD', returnedKey(lane, priority))
    call('DEL', returnedKey(lane, priority))
  end
end
function dequeue(task)
  local state = task.state
  if not state.retired then
    local lane = task.lane
    if state.returned then
      local entry = entryText(state.rank, task.profile.timeoutMs, state.expires, deadlineOf(task), 's', task.id)
      lane.returned = lane.returned - call('ZREM', returnedKey(lane, task.priority), entry)
    else
      lane.stale = lane.stale + 1
    end
    unready(task.lane, task.priority, 1)
  end
  forgetTimes(task.lane, task.id, state.expires, deadlineOf(task))
end
function overdue(task)
  local deadlineAt = deadlineOf(task)
  if deadlineAt and now >= deadlineAt then return 'deadline', deadlineAt end
  local expires = task.state.expires
  if expires and laneTime(task.lane) >= expires then return 'queue_ttl', wallTime(task.lane, expires) end
  return nil
end
end
local limits, freedLanes, anyLimits, limitNamed, fullLimit, takeSlot, freeSlot, flushLimits
do
atBegin(function()
  limits, freedLanes = {}, {}
end)
function anyLimits()
  return exists('limits')
end
function limitNamed(name, text)
  local limit = limits[name]
  if not limit then
    local running = tonumber(call('HGET', key('slots'), name)) or 0
    local number, kind, since = tonumber(text), nil, nil
    if not number then number, kind, since = string.match(text, '^(%d+) (%a+) ?(%d*)$') end
    limit = {
      name = name, concurrency = tonumber(number), shared = kind == 'shared', since = kind == 'since' and tonumber(since),
      running = running, was = running, freed = 0, back = {},
    }
    limits[name] = limit
  end
  return limit
end
local function limitsNamed(names)
  local found = {}
  for index, concurrency in ipairs(call('HMGET', key('limits'), unpack(names))) do
    if concurrency then found[#found + 1] = limitNamed(names[index], concurrency) end
  end
  return found
end
local function limitsOn(lane)
  if not lane.limits then lane.limits = anyLimits() and limitsNamed(scopeNames(lane)) or {} end
  return lane.limits
end
function fullLimit(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if limit.running >= limit.concurrency then return limit end
  end
  return nil
end
local function openLimits(pool, action)
  local open = {}
  if not anyLimits() then return open end
  local names = { '\\n\\n', '\\n' .. action .. '\\n', pool .. '\\n\\n', pool .. '\\n' .. action .. '\\n', gateName(action, '') }
  for _, limit in ipairs(limitsNamed(names)) do
    if limit.running < limit.concurrency then open[#open + 1] = limit end
  end
  return open
end
local function standAt(lane, limit)
  lane.atLimit = limit.name
  if limit.shared then call('SADD', key('blocked'), limit.name) end
end
local function isCounted(limit, startedAt)
  return not limit.since or startedAt >= limit.since
end
function takeSlot(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if isCounted(limit, now) then limit.running = limit.running + 1 end
  end
end
local function retakeSlot(lane, startedAt)
  for _, limit in ipairs(limitsOn(lane)) do
    if not isCounted(limit, startedAt) and isCounted(limit, now) then limit.running = limit.running + 1 end
  end
end
function freeSlot(lane, startedAt)
  local itsLimits = limitsOn(lane)
  if #itsLimits == 0 then return end
  freedLanes[lane] = (freedLanes[lane] or 0) + 1
  for _, limit in ipairs(itsLimits) do
    if isCounted(limit, startedAt) then
      limit.running = limit.running - 1
      limit.freed = limit.freed + 1
    end
  end
end
local function eachStanding(name, visit)
  for _, place in ipairs(call('SMEMBERS', standingsKey(name))) do
    local pool, action = string.match(place, '^(.*)\\n(.*)$')
    local itsKey = standingKey(name, pool, action)
    if call('EXISTS', itsKey) == 1 then visit(pool, action, itsKey) else call('SREM', standingsKey(name), place) end
  end
end
local function isOfTenant(name)
  return string.sub(name, -1) ~= '\\n'
end
local function activateFreed()
  for name, limit in pairs(limits) do
    if limit.freed > 0 and limit.running < limit.concurrency and isOfTenant(name) then
      eachStanding(name, function(_, _, itsKey)
        for _, member in ipairs(call('ZRANGE', itsKey, 0, -1)) do
          local lane = laneNumbered(tonumber(member))
          if lane.atLimit == name then
            lane.atLimit = false
            limit.back[#limit.back + 1] = lane
          end
        end
      end)
    end
  end
end
local function stirFreed(limit)
  local count = math.min(limit.freed, limit.concurrency - limit.running)
  if count <= 0 then return end
  for _, lane in ipairs(limit.back) do
    if lane.ready > 0 and not lane.atLimit then stir(lane, math.min(count, lane.ready)) end
  end
  if not isOfTenant(limit.name) then
    eachStanding(limit.name, function(pool, action) stir({ pool = pool, action = action }, count) end)
  end
end
local function stirWanted(limit)
  local wanted = key('wanted:' .. limit.name)
  for _, place in ipairs(call('SMEMBERS', wanted)) do
    local pool, action = string.match(place, '^(.*)\\n(.*)$')
    stir({ pool = pool, action = action }, limit.was - limit.running)
  end
  call('DEL', wanted)
end
local function hasSharedRoom(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if limit.shared and limit.running < limit.was then return true end
  end
  return false
end
function flushLimits()
  activateFreed()
  for name, limit in pairs(limits) do
    stirFreed(limit)
    if limit.shared and limit.running < limit.was then stirWanted(limit) end
    if limit.running ~= limit.was then call('HSET', key('slots'), name, int(limit.running)) end
  end
  for lane, count in pairs(freedLanes) do
    if lane.ready > 0 and not lane.atLimit and not fullLimit(lane) then
      stir(lane, math.min(count, lane.ready))
    elseif hasSharedRoom(lane) then
      stir(lane)
    end
  end
end
end
local ended, wakeInbox, flushWake
do
local endedIds
atBegin(function()
  endedIds = {}
end)
function ended(id)
  if exists('watched') then endedIds[#endedIds + 1] = id end
end
local function wakeIdle(idleKey, count, what)
  while count > 0 do
    local popped = call('ZPOPMIN', idleKey)
    if #popped == 0 then return count end
    if call('SPUBLISH', key('wake:' .. popped[1]), 'work\\n' .. what) > 0 then count = count - 1 end
  end
  return 0
end
function wakeInbox(worker)
  local listening = key('listening:' .. worker)
  for _, channel in ipairs(call('SMEMBERS', listening)) do call('SPUBLISH', key('wake:' .. channel), 'inbox\\n' .. worker) end
  call('DEL', listening)
end
function flushWake()
  for pool, actions in pairs(stirred) do
    call('HINCRBY', key('pool:' .. pool), 'version', '1')
    for action, count in pairs(actions) do
      local what = pool .. '\\n' .. action
      local left = wakeIdle(key('idle:' .. what), count, what)
      wakeIdle(key('idle:' .. pool .. '\\n'), left, what)
    end
  end
  if #endedIds > 0 then
    local messages = {}
    local found = {}
    for index, channels in ipairs(call('HMGET', key('watched'), unpack(endedIds))) do
      if channels then
        found[#found + 1] = endedIds[index]
        for channel in string.gmatch(channels, '%S+') do
          messages[channel] = (messages[channel] and messages[channel] .. '\\n' or '') .. endedIds[index]
        end
      end
    end
    if #found > 0 then call('HDEL', key('watched'), unpack(found)) end
    for channel, ids in pairs(messages) do call('SPUBLISH', key('wake:' .. channel), 'ended\\n' .. ids) end
  end
end
end
local writeNote, note
do
function writeNote(number, kind, taskId, attempt, actor, reason, data)
  local text = int(number)
  call('XADD', key('journal'), text .. '-0', 'at', int(now), 'type', kind, 'task', taskId or '',
    'attempt', attempt and int(attempt) or '', 'actor', actor, 'reason', reason, 'data', data)
  if taskId then call('RPUSH', key('journal:' .. taskId), text) end
end
function note(kind, taskId, attempt, actor, reason, data)
  writeNote(call('HINCRBY', NUMBERS, 'journal', 1), kind, taskId, attempt, actor, reason, data)
end
end
local leasesKey, leaseChanges, SUCCESS_TAIL, STARTED, leaseChange, leaseStart, addLease, startsAt, removeLease, parseLease, leaseText, flushLeases, RUNNING_TAIL, runningRecord, recordExtra, endRecord, splitToken
do
function leasesKey(worker)
  return key('leases:' .. worker)
end
atBegin(function()
  leaseChanges = {}
  STARTED = string.format('%013d ', now)
  SUCCESS_TAIL = ',"errorCode":null,"errorMessage":null,"resolvedAt":' .. NOW .. '}'
end)
function leaseChange(worker)
  local change = leaseChanges[worker]
  if not change then
    change = { added = {}, removed = {}, first = nil }
    leaseChanges[worker] = change
  end
  return change
end
local LEASE_PADDING = '             '
function leaseStart(timeoutMs, leaseMs, attempt, stage)
  local timeoutAt = now + timeoutMs
  local untilAt = math.min(now + leaseMs, timeoutAt + 5000)
  if stage == 'd' then untilAt = now + leaseMs end
  return ' ' .. attempt .. ' ' .. int(untilAt) .. ' ' .. int(timeoutAt) .. ' -' .. LEASE_PADDING, untilAt
end
function addLease(change, id, kind, token, start)
  local added = change.added
  local size = #added
  added[size + 1] = id
  added[size + 2] = kind .. STARTED .. token .. start
end
function startsAt(change, untilAt)
  if not change.first or untilAt < change.first then change.first = untilAt end
end
function removeLease(worker, id)
  local removed = leaseChange(worker).removed
  removed[#removed + 1] = id
end
function parseLease(text)
  if not text then return nil end
  local kind, startedAt, token, attempt, untilAt, timeoutAt, renewedAt =
    string.match(text, '^(%a)(%d+) (%S+) (%d+) (%d+) (%d+) (%S+)')
  return {
    token = token, startedAt = tonumber(startedAt), kind = kind, attempt = tonumber(attempt), untilAt = tonumber(untilAt),
    timeoutAt = tonumber(timeoutAt), renewedAt = tonumber(renewedAt), handle = string.match(text, '\\n.*$'),
  }
end
function leaseText(lease)
  return lease.kind .. string.format('%013d ', lease.startedAt) .. lease.token .. ' ' .. int(lease.attempt) .. ' '
    .. int(lease.untilAt) .. ' ' .. int(lease.timeoutAt) .. ' ' .. (lease.renewedAt and int(lease.renewedAt) or '-') .. LEASE_PADDING
    .. (lease.handle or '')
end
function flushLeases()
  for worker, change in pairs(leaseChanges) do
    if #change.removed > 0 then
      call('HDEL', leasesKey(worker), unpack(change.removed))
      if exists('progress') then call('HDEL', key('progress'), unpack(change.removed)) end
      change.removed = {}
    end
    if #change.added > 0 then
      call('HSET', leasesKey(worker), unpack(change.added))
      if change.first then call('ZADD', key('leases'), 'LT', int(change.first), worker) end
      change.added = {}
      change.first = nil
    end
  end
end
RUNNING_TAIL = '}'
function runningRecord(attempt, token, workerJson, extra)
  return '{"status":"running","attempt":' .. attempt .. ',"token":"' .. token .. '","worker":' .. workerJson
    .. ',"dispatchedAt":' .. NOW .. extra .. RUNNING_TAIL
end
function recordExtra(generation, retryReason, build)
  local extra = ''
  if generation > 1 then extra = ',"generation":' .. int(generation) end
  if retryReason then extra = extra .. ',"retryReason":' .. cjson.encode(retryReason) end
  return extra .. build
end
function endRecord(record, status, tail)
  local middle = string.sub(record, 20, -#RUNNING_TAIL - 1)
  if not tail then return '{"status":"' .. status .. '"' .. middle .. SUCCESS_TAIL end
  return '{"status":"' .. status .. '"' .. middle .. tail .. ',"resolvedAt":' .. NOW .. '}'
end
function splitToken(token)
  return string.match(token, '^(%d+%-%d+%.%d+)%.(.*)$')
end
end
local launchesKey, isUnderWay, extend, enterInbox, leaveStage, rewritten, startAttempt
do
function launchesKey(pool)
  return key('launches:' .. pool)
end
function isUnderWay(lease)
  return lease.kind == 'd' or lease.kind == 'i'
end
function extend(lease, leaseMs, missedMs)
  local untilAt = now + leaseMs
  if not isUnderWay(lease) then
    lease.timeoutAt = lease.timeoutAt + missedMs
    untilAt = math.min(untilAt, lease.timeoutAt + 5000)
  end
  lease.untilAt = math.max(lease.untilAt, untilAt)
  lease.renewedAt = now
end
local function enterLaunches(pool, id)
  if call('ZADD', launchesKey(pool), '0', id) == 1 then call('SADD', key('launching'), pool) end
end
function enterInbox(worker, id, number)
  call('ZADD', inboxKey(worker.id), number, id)
  call('ZADD', key('inboxes'), 'NX', int(worker.lastBeatAt), worker.id)
  worker.inbox = 1
  worker.assigned = number
  worker.changed = true
end
local function leaveInbox(worker, id)
  call('ZREM', inboxKey(worker), id)
  if call('EXISTS', inboxKey(worker)) == 0 then call('ZREM', key('inboxes'), worker) end
end
function leaveStage(kind, worker, id, lane)
  if kind == 'i' then
    leaveInbox(worker, id)
  elseif kind == 'l' then
    call('ZREM', launchesKey(lane.pool), id)
    if call('EXISTS', launchesKey(lane.pool)) == 0 then call('SREM', key('launching'), lane.pool) end
  end
end
function rewritten(record, token, workerJson, startedAt, build)
  local attempt, worker, start, rest =
    string.match(record, '^{"status":"running","attempt":(%d+),"token":"[^"]*","worker":(.-),"dispatchedAt":(%d+)(.*)$')
  return '{"status":"running","attempt":' .. attempt .. ',"token":"' .. token .. '","worker":' .. (workerJson or worker)
    .. ',"dispatchedAt":' .. (startedAt and int(startedAt) or start) .. string.sub(rest, 1, -#RUNNING_TAIL - 1) .. build
    .. RUNNING_TAIL
end
function startAttempt(task, worker, workerJson, leaseMs, stage)
  local build = stage == 's' and call('HGET', key('worker:' .. worker), 'build') or ''
  local state = nextState(task.state, 'running')
  state.attempt = state.attempt + 1
  task.state = state
  local token = int(draw(1)) .. '-0.' .. int(task.lane.number)
  local attempt = int(state.attempt)
  local record = runningRecord(attempt, token, workerJson, recordExtra(state.generation, state.retryReason, build))
  call('HSET', taskKey(task.id), attempt, record, 'state', stateText(state))
  local change = leaseChange(worker)
  local start, untilAt = leaseStart(task.profile.timeoutMs, leaseMs, attempt, stage)
  if stage == 'l' then enterLaunches(task.lane.pool, task.id) else startsAt(change, untilAt) end
  addLease(change, task.id, stage, token, start)
  return token
end
end
local becauseOf, rejoinGroup, leaveGroup
do
function becauseOf(task, attempt, record)
  if not task then return 'unknown' end
  local status = record and statusOf(record)
  if status and status ~= 'running' then return status end
  if status == 'running' then return 'replaced' end
  return task.state.attempt < attempt and 'released' or 'unknown'
end
local function groupKey(fingerprint)
  return key('group:' .. fingerprint)
end
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
function rejoinGroup(task, fingerprint)
  local group = call('HMGET', groupKey(fingerprint), 'number', 'lastAt')
  call('ZADD', key('groups'), group[2], string.format('%016d', tonumber(group[1])) .. fingerprint)
  call('ZADD', key('dead:' .. fingerprint), int(task.head.seq), task.id)
  call('ZADD', key('dead'), int(task.head.seq), task.id)
end
function leaveGroup(fingerprint, ids)
  call('ZREM', key('dead'), unpack(ids))
  call('ZREM', key('dead:' .. fingerprint), unpack(ids))
  if call('ZCARD', key('dead:' .. fingerprint)) == 0 then
    local number = tonumber(call('HGET', groupKey(fingerprint), 'number'))
    call('ZREM', key('groups'), string.format('%016d', number) .. fingerprint)
  end
end
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
end
local left, requeued, notes, ranks, nextRank, leave, requeue, keyNote, noteTask, flushOperators, operatorRetries
do
atBegin(function()
  left, requeued, notes, ranks = { dead = {}, waiting = {} }, {}, {}, { next = 1, last = 0, block = 1 }
end)
local RANK_BLOCK_MAX = 256
function nextRank()
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
function leave(task)
  local state = task.state
  if state.status == 'dead' then
    collect(left.dead, state.fingerprint, task.id)
  else
    collect(left.waiting, task.lane.pool, waitingMember(task))
  end
end
function requeue(task)
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
  local entry = entryText(state.rank, task.profile.timeoutMs, state.expires, deadlineAt, 's', task.id)
  collect(requeued, queueKey(lane, task.priority), entry)
  local slot = SLOTS[task.priority]
  lane[slot] = lane[slot] + 1
  lane.ready = lane.ready + 1
  watchTimes(lane, task.id, state.expires, deadlineAt)
  saveState(task)
  stir(lane)
end
function keyNote(task)
  return task.state.keyLost and ',"withoutKey":true' or ''
end
function noteTask(kind, task, actor, reason, data)
  local attempt = task.state.attempt
  notes[#notes + 1] = { kind = kind, id = task.id, attempt = attempt > 0 and attempt, actor = actor, reason = reason, data = data }
end
function flushOperators()
  for fingerprint, ids in pairs(left.dead) do leaveGroup(fingerprint, ids) end
  for pool, members in pairs(left.waiting) do call('ZREM', key('waiting:' .. pool), unpack(members)) end
  for queue, entries in pairs(requeued) do call('RPUSH', queue, unpack(entries)) end
  if #notes == 0 then return end
  local number = call('HINCRBY', NUMBERS, 'journal', #notes) - #notes
  for index, item in ipairs(notes) do
    writeNote(number + index, item.kind, item.id, item.attempt, item.actor, item.reason, item.data)
  end
end
function operatorRetries(profile, maxRetries)
  local allowed = profile.maxRetries
  if not allowed or allowed == cjson.null then allowed = 0 end
  return math.max(allowed, maxRetries)
end
end
local CHUNK, orderKey, seqOf, textOf, placeAfter
do
CHUNK = 256
function orderKey(chunk)
  return key('order:' .. int(chunk))
end
function seqOf(text)
  return tonumber((string.match(text, '^{"seq":(%d+),"acceptedAt":(%d+),"lane":(%d+)')))
end
function textOf(id)
  return call('HGET', taskKey(id), 'task')
end
function placeAfter(ids, seq)
  local low, high = 1, #ids + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if seqOf(textOf(ids[middle])) <= seq then low = middle + 1 else high = middle end
  end
  return low
end
end
local partsOf, parseScope, covers, onlyLane
do
local laneParts
atBegin(function()
  laneParts = {}
end)
function partsOf(number)
  local known = laneParts[number]
  if not known then
    known = call('HMGET', key('lane:' .. number), 'pool', 'action', 'tenant', 'numbers')
    local numbers = laneNumbers(known[4])
    known.heldSince = numbers[1] ~= -1 and int(numbers[1])
    known.heldMs = int(numbers[4])
    laneParts[number] = known
  end
  return known
end
function parseScope(at)
  local scope = { isAll = true, isOne = true }
  for index = 1, 3 do
    local part = ARGV[at + index - 1]
    if part == '' then
      scope.isOne = false
    else
      scope.isAll = false
      scope[index] = string.sub(part, 2)
    end
  end
  return scope
end
function covers(scope, number)
  if scope.isAll then return true end
  local parts = partsOf(number)
  for index = 1, 3 do
    if scope[index] and scope[index] ~= parts[index] then return false end
  end
  return true
end
function onlyLane(scope)
  return call('HGET', key('lanes'), scope[1] .. '\\n' .. scope[2] .. '\\n' .. scope[3])
end
end
local countersOf
do
function countersOf(number)
  local numbers = laneNumbers(call('HGET', key('lane:' .. number), 'numbers'))
  local counts = {}
  for index = 1, 8 do counts[index] = int(numbers[7 + index]) end
  return counts
end
end
local documentKey, collectionKey, indexKey, leaveIndexes
do
function documentKey(collection, id)
  return key('document:' .. collection .. '\\n' .. id)
end
function collectionKey(collection)
  return key('collection:' .. collection)
end
function indexKey(collection, index)
  return key('index:' .. collection .. '\\n' .. index)
end
function leaveIndexes(collection, id, indexes)
  for index in string.gmatch(indexes, '[^\\n]+') do call('ZREM', indexKey(collection, index), id) end
end
end
local standing, addTask
do
function standing(state, first)
  if state then return string.match(state, '^{"status":"(%a+)","attempt":(%d+)') end
  if first then return statusOf(first), '1' end
  return 'queued', '0'
end
local EXPIRING = '^{"seq":(%d+),"acceptedAt":(%d+),"lane":(%d+)' .. ',"profile":%d+,"expires":'
local function hasExpiry(state, text)
  if state then return string.find(state, '"expires":', 1, true) end
  return string.find(text, EXPIRING)
end
local function lightText(text)
  local stop = #text > 1024 and string.find(text, '\\n', 1, true)
  if not stop or #text - stop <= 2 * 1024 then return text end
  return string.match(text, '^[^\\n]*\\n"%a+":') .. '}'
end
function addTask(answer, id, text, state, attempt, first, isLight)
  local record, size = attempt == '1' and first or '', 0
  if record == '' and attempt ~= '0' then
    record = call('HGET', taskKey(id), attempt) or ''
    size = #record
  end
  local lease, progress = '', ''
  if record ~= '' and statusOf(record) == 'running' then
    local _, _, _, workerJson = string.match(record, '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)')
    local worker = cjson.decode('[' .. workerJson .. ']')[1]
    lease = call('HGET', leasesKey(worker), id) or ''
    progress = call('HGET', key('progress'), id) or ''
  end
  local lane = hasExpiry(state, text) and partsOf(select(3, string.match(text, '^{"seq":(%d+),"acceptedAt":(%d+),"lane":(%d+)')))
  local last = #answer
  answer[last + 1] = id
  answer[last + 2] = isLight and lightText(text) or text
  answer[last + 3] = state or ''
  answer[last + 4] = isLight and lightText(record) or record
  answer[last + 5] = lease
  answer[last + 6] = progress
  answer[last + 7] = lane and lane.heldSince or ''
  answer[last + 8] = lane and lane.heldMs or '0'
  return size
end
end
local dedupe
do
local TICKET = 10
local TICKET_MS_MAX = 600000
local BAR_MS = 86400000
dedupe = {}
local CAN_COME_BACK = { dead = true, discarded = true }
local LIVING = { queued = true, waiting = true, running = true }
function dedupe.name(tenant, action, dedupeKey)
  return tenant .. '\\n' .. action .. '\\n' .. dedupeKey
end
function dedupe.bar(ticket)
  call('SET', key('barred:' .. ticket), '1', 'PX', BAR_MS)
end
function dedupe.isHeldBy(task)
  local untilAt = task.head.keyUntil
  if untilAt then return now < untilAt end
  return LIVING[task.state.status] and not task.state.keyLost
end
function dedupe.life(dedupeMs)
  return dedupeMs and ',"keyUntil":' .. int(math.min(now + dedupeMs, 9007199254740991)) or ''
end
function dedupe.holder(name, dedupeKey)
  if string.byte(dedupeKey) ~= TICKET then
    local id = call('HGET', key('dedupe'), name)
    local task = id and loadTask(id)
    return task and dedupe.isHeldBy(task) and task
  end
  local takenAt, ticket = string.match(dedupeKey, '^\\n(%d+) (%S+)$')
  local isGood = ticket and now - tonumber(takenAt) < TICKET_MS_MAX and call('EXISTS', key('barred:' .. ticket)) == 0
  return not isGood and '\\r'
end
function dedupe.lose(id)
  local task = loadTask(id)
  if not task or not CAN_COME_BACK[task.state.status] or task.head.keyUntil then return end
  task.state.keyLost = true
  saveState(task)
end
function dedupe.keep(name, dedupeKey, id)
  local ticket = string.match(dedupeKey, '^\\n%d+ (%S+)$')
  if ticket then
    call('HSET', key('tickets'), id, ticket)
    return
  end
  local before = call('HGET', key('dedupe'), name)
  call('HSET', key('dedupe'), name, id)
  if before then dedupe.lose(before) end
end
function dedupe.drop(name, id)
  local ticket = call('HGET', key('tickets'), id)
  if not ticket then
    if call('HGET', key('dedupe'), name) == id then call('HDEL', key('dedupe'), name) end
    return
  end
  call('HDEL', key('tickets'), id)
  dedupe.bar(ticket)
  call('HSET', key('freeing'), name, ticket .. ' ' .. id)
end
function dedupe.differences(text, action, tenant, rest)
  local lane = string.match(text, '^{"seq":%d+,"acceptedAt":%d+,"lane":(%d+)')
  local names = call('HMGET', key('lane:' .. lane), 'action', 'tenant')
  local isSamePayload = part(text, (string.find(text, '\\n', 1, true))) == part(rest, (string.find(rest, '\\n', 1, true)))
  return (isSamePayload and '' or 'p')
    .. (names[1] == action and '' or 'a')
    .. (names[2] == tenant and '' or 't')
end
end
local workers, workerKey, packWorker, freshWorker, workerNamed, inboxDepth, flushWorkers, rosterOf, addWorker
do
local WORKER_FIELDS, REGISTERED_FIELDS = { 'lastBeatAt', 'queueDepth', 'consecutiveFailures', 'recentOutcomes', 'recentFailures', 'lastFailureAt', 'inFlight', 'loopLagMs', 'maxQuietMs', 'lastProgressAt', 'probeFailures', 'memoryBytes', 'draining', 'inbox', 'assigned', 'outlook', 'failuresBy', 'servedWell', 'policyVersion' }, { 'epoch', 'pools', 'actions', 'host', 'version', 'runtimes', 'endpoint', 'concurrency', 'registeredAt' }
atBegin(function()
  workers = {}
end)
function workerKey(id)
  return key('worker:' .. id)
end
function packWorker(worker)
  local numbers = { worker.lastBeatAt, worker.queueDepth, worker.consecutiveFailures, worker.recentOutcomes, worker.recentFailures, worker.lastFailureAt, worker.inFlight, worker.loopLagMs, worker.maxQuietMs, worker.lastProgressAt, worker.probeFailures, worker.memoryBytes, worker.draining, worker.inbox, worker.assigned, worker.outlook, worker.failuresBy, worker.servedWell, worker.policyVersion }
  numbers[6] = worker.lastFailureAt or -1
  return cmsgpack.pack(numbers)
end
function freshWorker(id)
  return {
    id = id, lastBeatAt = now, queueDepth = 0, consecutiveFailures = 0, recentOutcomes = 0, recentFailures = 0,
    lastFailureAt = false, inFlight = 0, loopLagMs = 0, maxQuietMs = 0, lastProgressAt = now, probeFailures = 0, memoryBytes = 0,
    draining = 0, inbox = 0, assigned = 0, outlook = false, failuresBy = {}, servedWell = {},
    policyVersion = false,
  }
end
function workerNamed(id)
  local worker = workers[id]
  if worker ~= nil then return worker end
  local values = call('HMGET', workerKey(id), 'epoch', 'numbers', 'claim', 'build', 'registeredAt')
  local was = values[2] and cmsgpack.unpack(values[2])
  worker = was and {
    id = id, epoch = values[1], claim = values[3], wasClaim = values[3], lastBeatAt = was[1], queueDepth = was[2], consecutiveFailures = was[3], recentOutcomes = was[4], recentFailures = was[5], lastFailureAt = was[6], inFlight = was[7], loopLagMs = was[8], maxQuietMs = was[9], lastProgressAt = was[10], probeFailures = was[11], memoryBytes = was[12], draining = was[13], inbox = was[14], assigned = was[15], outlook = was[16], failuresBy = was[17], servedWell = was[18], policyVersion = was[19], changed = false, roster = false,
    build = values[4] or '', registeredAt = tonumber(values[5]),
  }
  if worker then
    if worker.lastFailureAt == -1 then worker.lastFailureAt = false end
    worker.failuresBy, worker.servedWell = worker.failuresBy or {}, worker.servedWell or {}
    worker.policyVersion = worker.policyVersion or false
  end
  workers[id] = worker
  return worker
end
function inboxDepth(worker)
  return worker.inbox > 0 and call('ZCARD', inboxKey(worker.id)) or 0
end
function flushWorkers()
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
function rosterOf(worker)
  if not worker.roster then
    local values = call('HMGET', workerKey(worker.id), 'pools', 'actions', 'host', 'version')
    worker.roster = { pools = setOf(values[1]), actions = setOf(values[2]), host = values[3], version = values[4] }
  end
  return worker.roster
end
function addWorker(answer, id)
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
end
local assess, witness, parseThresholds
do
local TENANT, IN_ROW, RECENT, SERVED_AT = 1, 2, 3, 2
local function excused(evidence, what, most)
  local sum = 0
  for _, failures in ipairs(evidence.failuresBy) do
    local isServing = false
    for _, served in ipairs(evidence.servedWell) do
      if served[TENANT] ~= failures[TENANT] and now - served[SERVED_AT] < 60000 then isServing = true end
    end
    if isServing and failures[TENANT] ~= '' then sum = sum + math.max(failures[what] - most, 0) end
  end
  return sum
end
function assess(evidence, limits, inbox)
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
    if string.find(evidence.outlook, 'claims nothing: ', 1, true) == 1 then unhealthy = true else degraded = true end
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
local function progressed(id)
  local worker = workerNamed(id)
  if not worker then return end
  worker.lastProgressAt = now
  worker.changed = true
end
local function failuresOf(worker, tenant)
  local list = worker.failuresBy
  local rest
  for _, failures in ipairs(list) do
    if failures[TENANT] == tenant then return failures end
    if failures[TENANT] == '' then rest = failures end
  end
  if rest and #list >= 8 then return rest end
  local failures = { #list < 8 and tenant or '', 0, 0 }
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
function witness(id, tenant, ok, count)
  local worker = workerNamed(id)
  if not worker then return end
  worker.changed = true
  count = count or 1
  local outcomes, failures = worker.recentOutcomes, worker.recentFailures
  for _ = 1, count do
    if outcomes >= 100 then
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
local function hasHelp(worker, limits)
  local served = rosterOf(worker).pools
  for _, id in ipairs(call('ZRANGE', key('workers'), 0, 1000 - 1)) do
    local other = id ~= worker.id and workerNamed(id)
    if other and assess(other, limits, inboxDepth(other)) ~= 'unhealthy' then
      for pool in pairs(rosterOf(other).pools) do
        if served[pool] then return true end
      end
    end
  end
  return false
end
local thresholdsText, thresholds
function parseThresholds(text)
  if text ~= thresholdsText then
    thresholds = cjson.decode(text)
    thresholdsText = text
  end
  return thresholds
end
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
end
local takeOver
do
local TAKE_MAX = 1000
local function takeLease(worker, id, lease)
  local token = int(draw(1)) .. '-0' .. string.match(lease.token, '%.%d+$')
  local attempt = int(lease.attempt)
  local head, tail = string.match(call('HGET', taskKey(id), attempt), '^({"status":"running","attempt":%d+,"token":")[^"]*(.*)$')
  call('HSET', taskKey(id), attempt, head .. token .. tail)
  lease.token = token
  lease.untilAt = now
  call('HSET', leasesKey(worker), id, leaseText(lease))
end
local function takeSome(worker, bound, cursor)
  local looked, taken = 0, 0
  repeat
    local reply = call('HSCAN', leasesKey(worker), cursor, 'COUNT', TAKE_MAX)
    local page = reply[2]
    for index = 1, #page, 2 do
      local lease = parseLease(page[index + 1])
      if lease.kind ~= 'l' and tonumber(string.match(lease.token, '^%d+')) < bound then
        takeLease(worker, page[index], lease)
        taken = taken + 1
      end
    end
    looked = looked + #page / 2
    cursor = reply[1]
  until cursor == '0' or looked >= TAKE_MAX
  if taken > 0 then call('ZADD', key('leases'), 'LT', int(now), worker) end
  return cursor, taken
end
function takeOver(worker, workerJson, bound, cursor, takenBefore, epochTold)
  local goOnAt, taken = takeSome(worker, bound, cursor)
  taken = taken + takenBefore
  if goOnAt ~= '0' then
    call('HSET', key('takeovers'), worker, int(bound) .. ' ' .. goOnAt .. ' ' .. int(taken) .. ' ' .. int(epochTold))
    return 0, taken
  end
  call('HDEL', key('takeovers'), worker)
  if epochTold > 0 then
    note('worker.replaced', nil, nil, 'registry', 'registered again under the same id',
      '{"worker":' .. workerJson .. ',"epoch":' .. int(epochTold) .. ',"leases":' .. int(taken) .. '}')
  end
  return 1, taken
end
end
local noteWorker, forgetDeparted, depart
do
local function departedKey(worker)
  return key('departed:' .. worker)
end
function noteWorker(type, workerJson, epoch, version, host, reason)
  note(type, nil, nil, 'registry', reason, '{"worker":' .. workerJson .. ',"epoch":' .. epoch
    .. ',"version":' .. cjson.encode(version) .. ',"host":' .. cjson.encode(host) .. '}')
end
function forgetDeparted(worker)
  if call('ZREM', key('departures'), worker) == 1 then call('UNLINK', departedKey(worker)) end
end
function depart(worker)
  local itsKey = departedKey(worker)
  call('RENAME', key('worker:' .. worker), itsKey)
  call('HDEL', itsKey, 'numbers', 'claim', 'build')
  call('HSET', itsKey, 'leftAt', NOW)
  call('ZADD', key('departures'), NOW, worker)
  if call('ZCARD', key('departures')) > 10000 then
    forgetDeparted(call('ZRANGE', key('departures'), '0', '0')[1])
  end
end
end
local mayTellMore, proceed, eachStocked, letGo, setOwnLimit, STEPS, continueLifting
do
local LIFT_MAX = 500
local UNFINISHED_MAX = 20
local told
atBegin(function()
  told = 0
end)
function mayTellMore()
  return told < LIFT_MAX
end
function proceed(what, goOnAt)
  if goOnAt then
    call('HSET', key('unfinished'), what, goOnAt)
    nowExists('unfinished')
  else
    call('HDEL', key('unfinished'), what)
  end
  return not goOnAt
end
local function scopeCovers(scopeName, lane)
  for _, name in ipairs(scopeNames(lane)) do
    if name == scopeName then return true end
  end
  return false
end
local function stockByAction()
  local old = call('ZRANGE', key('stocked'), '(0', '+inf', 'BYSCORE', 'LIMIT', 0, LIFT_MAX)
  told = told + #old
  for _, member in ipairs(old) do
    local lane = laneNumbered(tonumber(member))
    call('ZREM', key('stocked'), member)
    if lane.queued > 0 then call('ZADD', key('stocked'), '0', lane.action .. '\\n' .. member) end
  end
  return #old < LIFT_MAX
end
local function eachOfTenant(action, tenant, visit)
  if call('EXISTS', key('pools')) == 0 then return false end
  for _, pool in ipairs(call('SMEMBERS', key('pools'))) do
    local number = findLane(pool, action, tenant)
    local lane = number and laneNumbered(number)
    if lane and lane.queued > 0 then visit(lane) end
  end
  return true
end
function eachStocked(scopeName, cursor, visit)
  local pool, action, tenant = string.match(scopeName, '^(.*)\\n(.*)\\n(.*)$')
  if pool == '\\r' and tenant ~= '' then
    if eachOfTenant(action, tenant, visit) then return nil end
  elseif pool ~= '' and action ~= '' and tenant ~= '' then
    local number = findLane(pool, action, tenant)
    local lane = number and laneNumbered(number)
    if lane and lane.queued > 0 then visit(lane) end
    return nil
  end
  if not stockByAction() then return cursor end
  local first, last = '-', '+'
  if action ~= '' then first, last = '[' .. action .. '\\n', '(' .. action .. '\\n~' end
  if string.find(cursor, '\\n', 1, true) then first = '(' .. cursor end
  local page = call('ZRANGE', key('stocked'), first, last, 'BYLEX', 'LIMIT', 0, LIFT_MAX)
  told = told + #page
  for _, member in ipairs(page) do
    local lane = laneNumbered(tonumber(string.match(member, '%d+$')))
    if scopeCovers(scopeName, lane) then visit(lane) end
  end
  return #page == LIFT_MAX and page[#page] or nil
end
local function countRunning(scopeName)
  local running = 0
  for _, member in ipairs(call('SMEMBERS', key('busy'))) do
    local lane = laneNumbered(tonumber(member))
    if scopeCovers(scopeName, lane) then running = running + lane.running end
  end
  return running
end
local function stirStocked(scopeName)
  eachStocked(scopeName, '', function(lane)
    if lane.ready > 0 and not lane.heldSince then stir(lane) end
  end)
end
function letGo(lane)
  lane.heldMs = lane.heldMs + now - lane.heldSince
  lane.heldSince = false
  catchUp(lane)
  if lane.ready > 0 then stir(lane, lane.ready) end
end
local function beginHold(scopeName, cursor)
  local hold = call('HGET', key('holds'), scopeName)
  local goOnAt = hold and eachStocked(scopeName, cursor, function(lane)
    if not lane.heldSince then applyHold(lane, hold) end
  end)
  return proceed('pause ' .. scopeName, goOnAt)
end
local function endHold(scopeName, cursor)
  local goOnAt = eachStocked(scopeName, cursor, function(lane)
    if lane.heldSince and not holdOn(lane) then letGo(lane) end
  end)
  return proceed('resume ' .. scopeName, goOnAt)
end
local function endLimit(scopeName)
  local what = 'limit ' .. scopeName
  local left = LIFT_MAX
  for _, place in ipairs(call('SMEMBERS', standingsKey(scopeName))) do
    local pool, action = string.match(place, '^(.*)\\n(.*)$')
    local page = call('ZRANGE', standingKey(scopeName, pool, action), 0, left - 1)
    for _, member in ipairs(page) do
      local lane = laneNumbered(tonumber(member))
      if lane.atLimit == scopeName then lane.atLimit = false end
      if not lane.heldSince then stir(lane, lane.ready) end
    end
    told = told + #page
    if #page == left then return proceed(what, '') end
    left = left - #page
    call('SREM', standingsKey(scopeName), place)
  end
  return proceed(what, nil)
end
function setOwnLimit(name, concurrency, since, countThem)
  local before = anyLimits() and call('HGET', key('limits'), name)
  local text = concurrency and int(concurrency) .. ' since ' .. int(since) or false
  if before == text then return true end
  for _, lane in ipairs(laneList) do lane.limits = false end
  if not text then
    limits[name] = nil
    call('HDEL', key('limits'), name)
    call('HDEL', key('slots'), name)
    if mayTellMore() then return endLimit(name) end
    return proceed('limit ' .. name, '')
  end
  local limit = limitNamed(name, before or text)
  if not before or limit.since ~= since then
    limit.running = countThem()
    limit.since = since
  end
  limit.concurrency = concurrency
  call('HSET', key('limits'), name, text)
  nowExists('limits')
  if before then limit.freed = math.max(limit.freed, concurrency - limit.running) end
  return true
end
STEPS = { pause = beginHold, resume = endHold, limit = endLimit }
function continueLifting()
  local some = call('HRANDFIELD', key('unfinished'), UNFINISHED_MAX, 'WITHVALUES')
  for index = 1, #some, 2 do
    if not mayTellMore() then break end
    local kind, name = string.match(some[index], '^(%a+) (.*)$')
    STEPS[kind](name, some[index + 1])
  end
  return call('EXISTS', key('unfinished')) == 1
end
end
local breakers, coverings, onLanes, placeOf, breakerId, blankBreaker, breakerText, breakerNamed, covering, breakersOn, setCovering, fadesAt, isForgotten, isTooMuch, transitions
do
atBegin(function()
  breakers, coverings, onLanes = {}, {}, {}
end)
function placeOf(action, tenant)
  return tenant and tenant ~= '' and action .. '\\n' .. tenant or action
end
breakerId = placeOf
function blankBreaker(id)
  local name, tenant = string.match(id, '^([^\\n]*)\\n?(.*)$')
  return { id = id, name = name, tenant = tenant ~= '' and tenant, actions = {}, state = { status = 'closed' }, buckets = {}, voices = {} }
end
local function parseBreaker(id, text)
  local stop = string.find(text, '\\n', 1, true)
  local breaker = blankBreaker(id)
  for field, value in pairs(cjson.decode(string.sub(text, stop + 1))) do breaker[field] = value end
  breaker.settingsText = string.sub(text, 1, stop - 1)
  breaker.settings = decodeSettings(breaker.settingsText)
  return breaker
end
local function fieldsText(fields)
  local texts = {}
  for name, value in pairs(fields) do
    texts[#texts + 1] = cjson.encode(name) .. ':' .. (type(value) == 'number' and int(value) or cjson.encode(value))
  end
  return '{' .. table.concat(texts, ',') .. '}'
end
local function listText(list, textOf)
  local texts = {}
  for index, item in ipairs(list) do texts[index] = textOf(item) end
  return '[' .. table.concat(texts, ',') .. ']'
end
function breakerText(breaker)
  return breaker.settingsText .. '\\n{"actions":' .. listText(breaker.actions, cjson.encode) .. ',"state":'
    .. fieldsText(breaker.state) .. ',"buckets":' .. listText(breaker.buckets, fieldsText)
    .. ',"voices":' .. listText(breaker.voices, fieldsText) .. '}'
end
function breakerNamed(id)
  local breaker = breakers[id]
  if breaker == nil then
    local text = call('HGET', key('breakers'), id)
    breaker = text and parseBreaker(id, text)
    breakers[id] = breaker
  end
  return breaker
end
function covering(place)
  local ids = coverings[place]
  if not ids then
    ids = {}
    local tenant = string.match(place, '\\n(.*)$')
    for name in string.gmatch(call('HGET', key('covered'), place) or '', '[^\\n]+') do ids[#ids + 1] = breakerId(name, tenant) end
    coverings[place] = ids
  end
  return ids
end
function breakersOn(lane)
  local found = onLanes[lane]
  if not found then
    local ids = {}
    for _, id in ipairs(covering(lane.action)) do ids[#ids + 1] = id end
    for _, id in ipairs(covering(placeOf(lane.action, lane.tenant))) do ids[#ids + 1] = id end
    table.sort(ids)
    found = {}
    for index, id in ipairs(ids) do found[index] = breakerNamed(id) end
    onLanes[lane] = found
  end
  for _, breaker in ipairs(found) do
    if breaker.state.status ~= 'closed' then return found, false end
  end
  return found, true
end
function setCovering(place, ids)
  coverings[place] = ids
  onLanes = {}
  if #ids == 0 then
    call('HDEL', key('covered'), place)
  else
    local names = {}
    for index, id in ipairs(ids) do names[index] = string.match(id, '^[^\\n]*') end
    call('HSET', key('covered'), place, table.concat(names, '\\n'))
  end
end
local function liveBuckets(breaker)
  local kept = {}
  for _, bucket in ipairs(breaker.buckets) do
    if bucket.at + breaker.settings.windowMs > now then kept[#kept + 1] = bucket end
  end
  return kept
end
function fadesAt(breaker)
  local at = 0
  for _, bucket in ipairs(breaker.buckets) do
    if bucket.failed > 0 then at = math.max(at, bucket.at + breaker.settings.windowMs) end
  end
  for _, voice in ipairs(breaker.voices) do
    if voice.failed > 0 then at = math.max(at, voice.since + breaker.settings.windowMs) end
  end
  return at
end
function isForgotten(breaker)
  return breaker.state.status == 'closed' and fadesAt(breaker) <= now
end
local function voiceOf(live, tenant, what)
  for _, voice in ipairs(live) do
    if voice.tenant == tenant then return voice end
  end
  if #live >= 20 then
    local quiet
    for index, voice in ipairs(live) do
      if not quiet and voice.failed == 0 then quiet = index end
    end
    if what == 'ok' or not quiet then return false end
    table.remove(live, quiet)
  end
  local voice = { tenant = tenant, since = now, ok = 0, failed = 0 }
  live[#live + 1] = voice
  return voice
end
local function hear(breaker, what, tenant, count)
  local live = {}
  for _, voice in ipairs(breaker.voices) do
    if voice.since + breaker.settings.windowMs > now then live[#live + 1] = voice end
  end
  local voice = voiceOf(live, tenant, what)
  if voice then voice[what] = voice[what] + count end
  breaker.voices = live
end
local function agree(breaker)
  local settings = breaker.settings
  local most = math.ceil(settings.minFailures / 2)
  local tenants, against, all = 0, 0, 0
  for _, voice in ipairs(breaker.voices) do
    local isAgainst = voice.failed > 0 and voice.failed >= settings.failureRate * (voice.ok + voice.failed)
    local weight = math.min(isAgainst and voice.failed or voice.ok, most)
    all = all + weight
    if isAgainst then
      tenants = tenants + 1
      against = against + weight
    end
  end
  return tenants >= 2 and against >= settings.minFailures and against >= settings.failureRate * all
end
local function countOutcome(breaker, what, tenant, count)
  if not breaker.tenant then return hear(breaker, what, tenant, count) end
  local widthMs = math.max(math.floor(breaker.settings.windowMs / 10), 1)
  local at = math.floor(now / widthMs) * widthMs
  local kept = liveBuckets(breaker)
  local last = kept[#kept]
  if not last or last.at < at then
    last = { at = at, ok = 0, failed = 0 }
    kept[#kept + 1] = last
  end
  last[what] = last[what] + count
  breaker.buckets = kept
end
local function openBreaker(breaker, opens)
  local settings = breaker.settings
  local openMs = math.min(settings.openMs * 2 ^ math.min(opens - 1, 30), settings.maxOpenMs)
  breaker.state = { status = 'open', since = now, ['until'] = now + openMs, opens = opens }
  breaker.buckets, breaker.voices = {}, {}
end
function isTooMuch(breaker)
  if not breaker.tenant then return agree(breaker) end
  local ok, failed = 0, 0
  for _, bucket in ipairs(breaker.buckets) do
    ok = ok + bucket.ok
    failed = failed + bucket.failed
  end
  local settings = breaker.settings
  return failed >= settings.minFailures and failed >= settings.failureRate * (ok + failed)
end
local function countFailure(breaker, tenant, opens)
  countOutcome(breaker, 'failed', tenant, 1)
  if isTooMuch(breaker) then openBreaker(breaker, opens) end
end
local function probeFailed(breaker, tenant)
  local state = breaker.state
  if not breaker.tenant and (state.doubtedBy or tenant) == tenant then
    state.doubtedBy = tenant
  else
    openBreaker(breaker, state.opens + 1)
  end
end
transitions = {}
function transitions.afterFailure(breaker, tenant, startedAt)
  local state = breaker.state
  if state.status == 'closed' then
    countFailure(breaker, tenant, 1)
  elseif state.status ~= 'open' and startedAt >= state.since then
    if state.status == 'half_open' then probeFailed(breaker, tenant) else countFailure(breaker, tenant, state.opens + 1) end
  end
end
function transitions.afterSuccess(breaker, tenant, startedAt, count)
  local state, settings = breaker.state, breaker.settings
  if state.status == 'closed' then return countOutcome(breaker, 'ok', tenant, count) end
  if state.status == 'open' or startedAt < state.since then return end
  local isRamping = state.status == 'ramping'
  if isRamping then countOutcome(breaker, 'ok', tenant, 1) end
  if state.doubtedBy == tenant then state.doubtedBy = nil end
  local wanted = isRamping and state.concurrency or settings.probes
  state.succeeded = state.succeeded + 1
  if state.succeeded < wanted then return end
  breaker.state = { status = 'ramping', since = state.since, opens = state.opens, succeeded = 0, concurrency = wanted * 2 }
  if wanted * 2 >= settings.maxRamp then breaker.state = { status = 'closed' } end
end
function transitions.isOutage(breaker, startedAt)
  local state = breaker.state
  if state.status == 'ramping' then return startedAt < state.since end
  return state.status ~= 'closed'
end
end
local allowedBy, setGates
do
local function gateOf(place)
  local action, tenant = string.match(place, '^([^\\n]*)\\n?(.*)$')
  return gateName(action, tenant)
end
function allowedBy(breaker)
  local state = breaker.state
  if state.status == 'half_open' then return breaker.settings.probes end
  return state.status == 'ramping' and state.concurrency or nil
end
local gateHolds, countedSince
atBegin(function()
  gateHolds, countedSince = {}, {}
end)
local function gateHold(place)
  local hold = gateHolds[place]
  if hold == nil then
    hold = call('HGET', key('holds'), gateOf(place))
    gateHolds[place] = hold
  end
  return hold
end
local function tellLane(lane)
  if lane.queued == 0 then return end
  local hold = gateHold(lane.action) or gateHold(placeOf(lane.action, lane.tenant))
  if not hold then
    if lane.heldSince and not holdOn(lane) then letGo(lane) end
  elseif not lane.heldSince then
    applyHold(lane, hold)
  end
end
local function tellLanes(place, cursor)
  return proceed('gates ' .. place, eachStocked(gateOf(place), cursor, tellLane))
end
STEPS.gates = tellLanes
local function addRunning(counts, since, startedAt, token)
  if tonumber(startedAt) < since then return end
  local lane = laneNumbered(tonumber(string.match(token, '%d+$')))
  local own = placeOf(lane.action, lane.tenant)
  counts[lane.action] = (counts[lane.action] or 0) + 1
  counts[own] = (counts[own] or 0) + 1
end
local function addLaunched(counts, since, ended)
  for _, pool in ipairs(call('SMEMBERS', key('launching'))) do
    for _, id in ipairs(call('ZRANGE', launchesKey(pool), '0', '-1')) do
      local state = not ended[id] and call('HGET', taskKey(id), 'state')
      local record = state and call('HGET', taskKey(id), string.match(state, '"attempt":(%d+)'))
      local _, _, token, _, startedAt = string.match(record or '', '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)')
      if token then addRunning(counts, since, startedAt, token) end
    end
  end
end
local function addLeased(counts, since, ended)
  for _, worker in ipairs(call('ZRANGE', key('leases'), '0', '-1')) do
    local leases = call('HGETALL', leasesKey(worker))
    for index = 1, #leases, 2 do
      local lease = leases[index + 1]
      if part(lease, 1, 1) ~= 'l' and not ended[leases[index]] then
        addRunning(counts, since, part(lease, 2, 14), string.match(lease, '^%S+ (%S+)'))
      end
    end
  end
end
local function runningSince(place, since)
  local ended, size = {}, 0
  for _, change in pairs(leaseChanges) do
    size = size + #change.removed
    for _, id in ipairs(change.removed) do ended[id] = true end
  end
  local name = int(since) .. ' ' .. int(size)
  local counts = countedSince[name]
  if not counts then
    counts = {}
    addLaunched(counts, since, ended)
    addLeased(counts, since, ended)
    countedSince[name] = counts
  end
  return counts[place] or 0
end
local function setHold(place)
  gateHolds[place] = nil
  for _, id in ipairs(covering(place)) do
    if breakerNamed(id).state.status == 'open' then
      nowExists('holds')
      return call('HSETNX', key('holds'), gateOf(place), NOW) == 1
    end
  end
  return call('HDEL', key('holds'), gateOf(place)) == 1
end
local function setLimit(place)
  local most
  local since = 0
  for _, id in ipairs(covering(place)) do
    local breaker = breakerNamed(id)
    local number = allowedBy(breaker)
    if number then
      if not most or number < most then most = number end
      since = math.max(since, breaker.state.since)
    end
  end
  return setOwnLimit(gateOf(place), most, since, function() return runningSince(place, since) end)
end
function setGates(places)
  local isChanged = {}
  for _, place in ipairs(places) do isChanged[place] = setHold(place) end
  for _, lane in ipairs(laneList) do
    if isChanged[lane.action] or isChanged[placeOf(lane.action, lane.tenant)] then tellLane(lane) end
  end
  local isTold = true
  for _, place in ipairs(places) do
    if isChanged[place] then
      local isDone
      if mayTellMore() then isDone = tellLanes(place, '') else isDone = proceed('gates ' .. place, '') end
      isTold = isTold and isDone
    end
    if not setLimit(place) then isTold = false end
  end
  return isTold
end
end
local noteClosed, forgetBreaker, tellTime, flushBreakers
do
local TURN_MAX = 100
local ENTRY_TYPES, REASONS = { open = 'breaker.opened', half_open = 'breaker.half_open', ramping = 'breaker.ramping', closed = 'breaker.closed' }, { open = 'Too many failures: nothing starts until it has rested.', half_open = 'A few attempts are let through.', ramping = 'The attempts succeeded: more and more are let through.', closed = 'Work goes on as before.' }
local function entryHead(breaker)
  return '{"breaker":' .. cjson.encode(breaker.name) .. ',"tenant":' .. (breaker.tenant and cjson.encode(breaker.tenant) or 'null')
end
function noteClosed(breaker, actor, reason)
  note(ENTRY_TYPES.closed, nil, nil, actor, reason, entryHead(breaker) .. '}')
end
local function noteStatus(breaker)
  local state = breaker.state
  if state.status == 'closed' then return noteClosed(breaker, 'breaker', 'Work goes on as before.') end
  local untilAt = state['until']
  note(ENTRY_TYPES[state.status], nil, nil, 'breaker', REASONS[state.status],
    entryHead(breaker) .. ',"opens":' .. int(state.opens) .. ',"until":'
    .. (untilAt and int(untilAt) or 'null') .. '}')
end
local function placesOf(breaker)
  local places = {}
  for index, action in ipairs(breaker.actions) do places[index] = placeOf(action, breaker.tenant) end
  return places
end
local function changeBreaker(breaker, apply)
  local before, boundBefore = breaker.state.status, allowedBy(breaker)
  local joined = apply(breaker)
  breaker.changed = true
  local state = breaker.state
  local hasTurned = state.status ~= before
  if hasTurned then
    if state.status == 'open' then
      call('ZADD', key('opened'), int(state['until']), breaker.id)
      call('ZREM', key('fading'), breaker.id)
    elseif before == 'open' then
      call('ZREM', key('opened'), breaker.id)
    end
  end
  if hasTurned or allowedBy(breaker) ~= boundBefore then
    setGates(placesOf(breaker))
  elseif joined and state.status ~= 'closed' then
    setGates({ placeOf(joined, breaker.tenant) })
  end
  if hasTurned then noteStatus(breaker) end
end
local function countOwned(breaker, change)
  if not breaker.tenant then return end
  if call('HINCRBY', key('owned'), breaker.tenant, change) <= 0 then call('HDEL', key('owned'), breaker.tenant) end
end
function forgetBreaker(breaker)
  breakers[breaker.id] = false
  call('HDEL', key('breakers'), breaker.id)
  call('ZREM', key('opened'), breaker.id)
  call('ZREM', key('fading'), breaker.id)
  countOwned(breaker, '-1')
  local places = placesOf(breaker)
  for _, place in ipairs(places) do
    local kept = {}
    for _, id in ipairs(covering(place)) do
      if id ~= breaker.id then kept[#kept + 1] = id end
    end
    setCovering(place, kept)
  end
  return breaker.state.status == 'closed' or setGates(places)
end
local function cover(breaker, action)
  for _, known in ipairs(breaker.actions) do
    if known == action then return false end
  end
  breaker.actions[#breaker.actions + 1] = action
  local place = placeOf(action, breaker.tenant)
  local ids = { breaker.id }
  for _, id in ipairs(covering(place)) do ids[#ids + 1] = id end
  table.sort(ids)
  setCovering(place, ids)
  return true
end
local made
atBegin(function()
  made = 0
end)
local function mayMake(tenant)
  if call('HLEN', key('breakers')) + made >= 1000 then return false end
  return not tenant or (tonumber(call('HGET', key('owned'), tenant)) or 0) < 100
end
local function breakerToFail(id)
  local breaker = breakerNamed(id)
  if breaker and isForgotten(breaker) then
    forgetBreaker(breaker)
    breaker = false
  end
  if not breaker then
    breaker = blankBreaker(id)
    if not mayMake(breaker.tenant) then return false end
    countOwned(breaker, '1')
    made = made + 1
    breakers[id] = breaker
  end
  return breaker
end
local function mayCover(id, place)
  local ids = covering(place)
  for _, known in ipairs(ids) do
    if known == id then return true end
  end
  return #ids < 100
end
local function failFor(ref, lane, tenant, startedAt)
  local id = breakerId(ref.name, tenant)
  local breaker = mayCover(id, placeOf(lane.action, tenant)) and breakerToFail(id)
  if not breaker then return false end
  changeBreaker(breaker, function()
    breaker.settingsText = ref.settings
    breaker.settings = decodeSettings(ref.settings)
    local hasJoined = cover(breaker, lane.action)
    transitions.afterFailure(breaker, lane.tenant, startedAt)
    return hasJoined and lane.action
  end)
  return breaker
end
local function tellFailure(refs, lane, startedAt)
  if not exists('breakers') then nowExists('breakers') end
  local counting = {}
  for _, ref in ipairs(refs) do
    counting[#counting + 1] = failFor(ref, lane, lane.tenant, startedAt) or nil
    counting[#counting + 1] = failFor(ref, lane, false, startedAt) or nil
  end
  for _, breaker in ipairs(counting) do
    if transitions.isOutage(breaker, startedAt) then return true end
  end
  return false
end
local function tellSuccess(lane, startedAt, count)
  for _, breaker in ipairs(breakersOn(lane)) do
    if isForgotten(breaker) then
      forgetBreaker(breaker)
    else
      changeBreaker(breaker, function() transitions.afterSuccess(breaker, lane.tenant, startedAt, count) end)
    end
  end
end
function tellTime()
  local due = call('ZRANGE', key('opened'), '-inf', NOW, 'BYSCORE', 'LIMIT', 0, TURN_MAX)
  table.sort(due)
  for _, id in ipairs(due) do
    local breaker = breakerNamed(id)
    changeBreaker(breaker, function()
      breaker.state = { status = 'half_open', since = now, opens = breaker.state.opens, succeeded = 0 }
    end)
  end
  for _, id in ipairs(call('ZRANGE', key('fading'), '-inf', NOW, 'BYSCORE', 'LIMIT', 0, TURN_MAX)) do
    local breaker = breakerNamed(id)
    if isForgotten(breaker) then forgetBreaker(breaker) end
  end
  return tonumber(call('ZRANGE', key('opened'), '0', '0', 'WITHSCORES')[2])
end
function flushBreakers()
  for id, breaker in pairs(breakers) do
    if breaker and breaker.changed and isForgotten(breaker) then
      forgetBreaker(breaker)
    elseif breaker and breaker.changed then
      call('HSET', key('breakers'), id, breakerText(breaker))
      if breaker.state.status == 'closed' then call('ZADD', key('fading'), int(fadesAt(breaker)), id) end
    end
  end
end
end
redis.register_function{ function_name = 'reprise_cf0add58f9b2_assign', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local limits = parseThresholds(ARGV[3])
local function isFit(worker, judged)
  if not worker or judged == 'unfit' then return false end
  if judged == 'fit' then return true end
  if worker.draining ~= 0 then return false end
  if judged == 'any' or not limits.enabled then return now - worker.lastBeatAt < limits.heartbeatStaleMs end
  return assess(worker, limits, inboxDepth(worker)) ~= 'unhealthy'
end
local function assign(given)
  local id, attempt, workerId = given.id, given.attempt, given.worker
  local shortToken, dispatcher = splitToken(given.token)
  local lease = dispatcher and parseLease(call('HGET', leasesKey(dispatcher), id))
  local record = call('HGET', taskKey(id), attempt)
  local isHeld = lease and lease.attempt == tonumber(attempt) and lease.token == shortToken
  if not isHeld or lease.kind ~= 'd' then
    return 'superseded ' .. becauseOf(loadTask(id), tonumber(attempt), record)
  end
  local worker = workerNamed(workerId)
  if not isFit(worker, given.judged) then return 'stale' end
  local number = draw(1)
  lease.kind = 'i'
  lease.token = int(number) .. '-0' .. string.match(lease.token, '%.%d+$')
  lease.untilAt = now + tonumber(given.ttlMs)
  call('HSET', taskKey(id), attempt, rewritten(record, lease.token, given.workerJson, nil, worker.build))
  call('HDEL', leasesKey(dispatcher), id)
  call('HSET', leasesKey(workerId), id, leaseText(lease))
  call('ZADD', key('leases'), 'LT', int(lease.untilAt), workerId)
  enterInbox(worker, id, number)
  wakeInbox(workerId)
  return 'assigned'
end
local answers = {}
for at = 4, #ARGV, 7 do answers[#answers + 1] = assign({ id = ARGV[at + 0], attempt = ARGV[at + 1], token = ARGV[at + 2], worker = ARGV[at + 3], workerJson = ARGV[at + 4], ttlMs = ARGV[at + 5], judged = ARGV[at + 6] }) end
flushWorkers()
return answers
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_beat', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local first = 2
local report = { worker = ARGV[first + 0], epoch = ARGV[first + 1], inFlight = ARGV[first + 2], queueDepth = ARGV[first + 3], loopLagMs = ARGV[first + 4], memoryBytes = ARGV[first + 5], maxQuietMs = ARGV[first + 6], draining = ARGV[first + 7], outlook = ARGV[first + 8], policyVersion = ARGV[first + 9] }
local worker = workerNamed(report.worker)
if not worker then return 'unknown' end
if worker.epoch ~= report.epoch then return 'replaced' end
local failedAt = worker.lastFailureAt
if failedAt and now - worker.lastBeatAt >= 10000 and failedAt > worker.lastBeatAt and failedAt > worker.lastProgressAt then
  worker.consecutiveFailures, worker.recentOutcomes, worker.recentFailures = 0, 0, 0
  worker.lastFailureAt, worker.failuresBy = false, {}
end
worker.lastBeatAt = now
for _, name in ipairs({ 'inFlight', 'queueDepth', 'loopLagMs', 'memoryBytes', 'maxQuietMs', 'draining' }) do
  worker[name] = tonumber(report[name]) or 0
end
worker.outlook = report.outlook ~= '' and string.sub(report.outlook, 2)
worker.policyVersion = tonumber(report.policyVersion) or false
if worker.inFlight == 0 then worker.lastProgressAt = now end
worker.changed = true
flushWorkers()
return 'current'
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_change', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local CHUNKS_MAX = 64
local LOOK_MAX = 2000
local BYTES_MAX = 8000000
local kind, actor, reason, limit = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local changed = {}
local bytes = 0
local function isEnough()
  return #changed == limit or bytes >= BYTES_MAX
end
local function finish(task, status)
  local state = nextState(task.state, status)
  state.at = now
  task.state = state
  saveState(task)
  ended(task.id)
end
local function cancelRunning(task)
  local attempt = int(task.state.attempt)
  local record = call('HGET', taskKey(task.id), attempt)
  local _, _, _, workerJson, startedAt = string.match(record, '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)')
  call('HSET', taskKey(task.id), attempt, endRecord(record, 'cancelled'))
  local worker = cjson.decode('[' .. workerJson .. ']')[1]
  local lease = call('HGET', leasesKey(worker), task.id)
  if lease then leaveStage(string.sub(lease, 1, 1), worker, task.id, task.lane) end
  removeLease(worker, task.id)
  freeSlot(task.lane, tonumber(startedAt))
end
local CHANGES = {
  redrive = function(task)
    local state = task.state
    state.generation = state.generation + 1
    state.before = state.attempt
    state.failures = 0
    state.losses = 0
    state.deferrals = nil
    state.parks = nil
    state.policy = nil
    state.retryReason = 'manual'
    requeue(task)
    noteTask('task.redriven', task, actor, reason, '{"generation":' .. int(state.generation) .. keyNote(task) .. '}')
  end,
  discard = function(task)
    leave(task)
    move(task.lane, 'dead', 'discarded')
    finish(task, 'discarded')
    noteTask('task.discarded', task, actor, reason, '{"fingerprint":' .. cjson.encode(task.state.diedOf) .. '}')
  end,
  cancel = function(task)
    local from = task.state.status
    if from == 'running' then cancelRunning(task)
    elseif from == 'waiting' then leave(task)
    else dequeue(task) end
    move(task.lane, from, 'cancelled')
    tally(task.lane, 'cancelled')
    finish(task, 'cancelled')
    local diedOf = task.state.diedOf and ',"diedOf":' .. cjson.encode(task.state.diedOf) or ''
    noteTask('task.cancelled', task, actor, reason, '{"from":"' .. from .. '"' .. diedOf .. '}')
  end,
  promote = function(task)
    requeue(task)
    noteTask('task.promoted', task, actor, reason, '{}')
  end,
  revert = function(task)
    local state = task.state
    local from = state.status
    local last = cjson.decode(call('HGET', taskKey(task.id), int(state.attempt)))
    if from == 'waiting' then leave(task) elseif from == 'queued' then dequeue(task) end
    move(task.lane, from, 'dead')
    local dead = nextState(state, 'dead')
    dead.at = last.resolvedAt
    dead.reason = last.decision.reason
    dead.fingerprint = last.failure.fingerprint
    dead.retryReason = nil
    task.state = dead
    rejoinGroup(task, dead.fingerprint)
    saveState(task)
    ended(task.id)
    noteTask('task.reverted', task, actor, reason, '{"from":"' .. from .. '","fingerprint":' .. cjson.encode(dead.fingerprint) .. '}')
  end,
}
local FROM = {
  redrive = { dead = true },
  discard = { dead = true },
  cancel = { queued = true, waiting = true, running = true },
  promote = { waiting = true },
  revert = { queued = true, waiting = true, discarded = true },
}
local change = CHANGES[kind]
local applies = FROM[kind]
local function canRevert(task)
  local state = task.state
  if state.status ~= 'discarded' and (state.generation == 1 or state.attempt ~= state.before) then return false end
  local record = call('HGET', taskKey(task.id), int(state.attempt))
  return record and string.match(record, '"decision":{"kind":"(%a+)"') == 'dead'
end
local function look(id)
  local task = loadTask(id)
  if task then bytes = bytes + #task.text + (task.first and #task.first or 0) end
  return task
end
local function changeIfApplies(task)
  if not applies[task.state.status] then return end
  if kind == 'revert' and not canRevert(task) then return end
  change(task)
  changed[#changed + 1] = task.id
end
local function goOverIds(first)
  for at = first, #ARGV do
    local task = look(ARGV[at])
    if task then changeIfApplies(task) end
    if isEnough() and at < #ARGV then return at - first + 1 end
  end
  return nil
end
local function goOverFenced(first)
  for at = first, #ARGV, 2 do
    local task = look(ARGV[at])
    if task and task.state.generation == tonumber(ARGV[at + 1]) then changeIfApplies(task) end
    if isEnough() and at + 1 < #ARGV then return (at - first) / 2 + 1 end
  end
  return nil
end
local function goOverDead(after, scope, fingerprint)
  local most = scope.isAll and limit + 1 or LOOK_MAX
  local index = key(fingerprint == '' and 'dead' or 'dead:' .. string.sub(fingerprint, 2))
  local page = call('ZRANGE', index, '(' .. int(after), '+inf', 'BYSCORE', 'LIMIT', 0, most, 'WITHSCORES')
  for at = 1, #page, 2 do
    local task = look(page[at])
    if task and covers(scope, int(task.head.lane)) then changeIfApplies(task) end
    if isEnough() and at + 1 < #page then return tonumber(page[at + 1]) end
  end
  return #page == most * 2 and tonumber(page[#page]) or nil
end
local function statusBefore(id)
  local values = call('HMGET', taskKey(id), 'state', '1')
  if values[1] then return statusOf(values[1]) end
  if not values[2] then return 'queued' end
  bytes = bytes + #values[2]
  return statusOf(values[2])
end
local function goOverAll(after, scope)
  local partial = math.floor(after / CHUNK)
  local chunks = call('ZRANGE', key('order'), int(partial), '+inf', 'BYSCORE', 'LIMIT', 0, CHUNKS_MAX)
  local looked = 0
  for index, member in ipairs(chunks) do
    local chunk = tonumber(member)
    local isLast = index == #chunks and #chunks < CHUNKS_MAX
    local ids = call('LRANGE', orderKey(chunk), 0, -1)
    for at = chunk == partial and placeAfter(ids, after) or 1, #ids do
      local task = applies[statusBefore(ids[at])] and look(ids[at])
      if task and covers(scope, int(task.head.lane)) then changeIfApplies(task) end
      if isEnough() and not (isLast and at == #ids) then return seqOf(textOf(ids[at])) end
    end
    looked = looked + #ids
    if not isLast and (looked >= LOOK_MAX or index == CHUNKS_MAX) then return chunk * CHUNK + CHUNK - 1 end
  end
  return nil
end
local goOnAt
if ARGV[7] == 'ids' then
  goOnAt = goOverIds(8)
elseif ARGV[7] == 'fenced' then
  goOnAt = goOverFenced(8)
elseif kind == 'redrive' or kind == 'discard' then
  goOnAt = goOverDead(tonumber(ARGV[8]), parseScope(9), ARGV[12])
else
  goOnAt = goOverAll(tonumber(ARGV[8]), parseScope(9))
end
local answer = { goOnAt and int(goOnAt) or '', unpack(changed) }
flushOperators()
flushLimits()
flushLeases()
flushLanes()
flushWake()
return answer, #changed > 0
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_count_lanes', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local LOOK_MAX = 2000
local after = tonumber(ARGV[2])
local scope = parseScope(3)
local sums = {}
for index = 1, 8 do sums[index] = 0 end
local function add(number)
  for index, count in ipairs(countersOf(number)) do sums[index] = sums[index] + tonumber(count) end
end
local nextAfter = ''
if scope.isOne then
  local number = onlyLane(scope)
  if number then add(number) end
else
  local last = tonumber(call('HGET', NUMBERS, 'lanes')) or 0
  for number = after + 1, math.min(last, after + LOOK_MAX) do
    if covers(scope, int(number)) then add(int(number)) end
  end
  if last > after + LOOK_MAX then nextAfter = int(after + LOOK_MAX) end
end
local answer = { nextAfter }
for index, sum in ipairs(sums) do answer[index + 1] = int(sum) end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_deregister', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local worker = ARGV[2]
local known = call('HMGET', key('worker:' .. worker), 'epoch', 'version', 'host')
local epoch = known[1]
if not epoch then return call('HEXISTS', key('takeovers'), worker) == 1 and 0 or 1 end
if epoch ~= ARGV[4] then return 1 end
if ARGV[5] ~= '' then
  depart(worker)
  noteWorker('worker.left', ARGV[3], epoch, known[2], known[3], 'said goodbye')
else
  call('DEL', key('worker:' .. worker))
end
call('ZREM', key('workers'), worker)
call('ZADD', key('inboxes'), 'XX', '-inf', worker)
call('DEL', key('listening:' .. worker))
return (takeOver(worker, ARGV[3], draw(1), '0', 0, 0))
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_document_put', flags = {}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local collection, id, version, text = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local known = call('HMGET', documentKey(collection, id), 'version', 'createdAt', 'order', 'indexes')
if version == '' then
  if known[1] then return refuse('taken') end
elseif not known[1] then
  return refuse('missing')
elseif known[1] ~= version then
  return refuse('taken')
end
local newVersion = int((tonumber(known[1]) or 0) + 1)
local createdAt = known[2] or int(now)
local order = known[3]
if order then
  leaveIndexes(collection, id, known[4])
else
  order = int(call('HINCRBY', NUMBERS, 'documents:' .. collection, 1))
  call('ZADD', collectionKey(collection), order, id)
end
local indexes = {}
for at = 7, #ARGV do
  indexes[#indexes + 1] = ARGV[at]
  call('ZADD', indexKey(collection, ARGV[at]), order, id)
end
call('HSET', documentKey(collection, id), 'text', text, 'version', newVersion, 'createdAt', createdAt,
  'updatedAt', int(now), 'order', order, 'indexes', table.concat(indexes, '\\n'))
return { newVersion, createdAt, int(now) }
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_document_remove', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local collection, id, version = ARGV[3], ARGV[4], ARGV[5]
local known = call('HMGET', documentKey(collection, id), 'version', 'indexes')
if not known[1] then return 0, false end
if version ~= '' and known[1] ~= version then return refuse('taken') end
leaveIndexes(collection, id, known[2])
call('ZREM', collectionKey(collection), id)
call('UNLINK', documentKey(collection, id))
return 1
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_draw_epoch', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
return int(draw(1))
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_expired', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local HOLDERS_MAX = 200
local LANES_MAX = 200
local limit = tonumber(ARGV[2])
continueLifting()
local BREAK_MS = 3000
local lookedAt, steadySince = unpack(call('HMGET', NUMBERS, 'lookedAt', 'steadySince'))
if not lookedAt or math.abs(now - tonumber(lookedAt)) > BREAK_MS then steadySince = NOW end
call('HSET', NUMBERS, 'lookedAt', NOW, 'steadySince', steadySince)
local function bySince(a, b)
  return a.since < b.since or (a.since == b.since and a.id < b.id)
end
local staleMs = tonumber(ARGV[3])
local leases = {}
local taken = {}
local function silentSince(id)
  local worker = workerNamed(id)
  if not worker then return now end
  return worker.lastBeatAt + staleMs <= now and worker.lastBeatAt + staleMs
end
local function add(id, worker, lease)
  if taken[id] then return end
  taken[id] = true
  local since = lease.untilAt
  if lease.kind == 'i' and workerNamed(worker) then since = math.min(since, silentSince(worker) or since) end
  leases[#leases + 1] = { id = id, since = since, worker = worker, lease = lease }
end
for _, worker in ipairs(call('ZRANGE', key('inboxes'), '-inf', int(now - staleMs), 'BYSCORE', 'LIMIT', 0, HOLDERS_MAX)) do
  if #leases >= limit then break end
  if silentSince(worker) then
    local ids = call('ZRANGE', inboxKey(worker), '0', int(limit - 1))
    for index, text in ipairs(#ids > 0 and call('HMGET', leasesKey(worker), unpack(ids)) or {}) do
      if text then add(ids[index], worker, parseLease(text)) end
    end
  else
    call('ZADD', key('inboxes'), int(workerNamed(worker).lastBeatAt), worker)
  end
end
for _, worker in ipairs(call('ZRANGE', key('leases'), '-inf', int(now), 'BYSCORE', 'LIMIT', 0, HOLDERS_MAX)) do
  local held = call('HGETALL', leasesKey(worker))
  local first
  for index = 1, #held, 2 do
    local lease = parseLease(held[index + 1])
    if lease.kind ~= 'l' then
      if lease.untilAt <= now then add(held[index], worker, lease) end
      if not first or lease.untilAt < first then first = lease.untilAt end
    end
  end
  if first then call('ZADD', key('leases'), int(first), worker) else call('ZREM', key('leases'), worker) end
  if #leases >= limit then break end
end
table.sort(leases, bySince)
local entries = {}
local seen = {}
local function lookAt(id)
  if seen[id] then return end
  seen[id] = true
  local task = loadTask(id)
  local kind, since = overdue(task)
  if kind then entries[#entries + 1] = { id = id, kind = kind, since = since, task = task } end
end
for _, id in ipairs(call('ZRANGE', key('deadlines'), '-inf', int(now), 'BYSCORE', 'LIMIT', 0, limit)) do lookAt(id) end
for _, member in ipairs(call('ZRANGE', key('ttl'), '-inf', int(now), 'BYSCORE', 'LIMIT', 0, LANES_MAX)) do
  local lane = laneNumbered(tonumber(member))
  local ttlKey = key('ttl:' .. int(lane.number))
  for _, id in ipairs(call('ZRANGE', ttlKey, '-inf', int(laneTime(lane)), 'BYSCORE', 'LIMIT', 0, limit)) do lookAt(id) end
  local first = tonumber(call('ZRANGE', ttlKey, 0, 0, 'WITHSCORES')[2])
  if first then call('ZADD', key('ttl'), int(wallTime(lane, first)), member) else call('ZREM', key('ttl'), member) end
end
table.sort(entries, bySince)
local answer = { NOW, steadySince }
local function push(...)
  for index = 1, select('#', ...) do answer[#answer + 1] = select(index, ...) end
end
for index = 1, math.min(#leases, limit) do
  local id, lease, worker = leases[index].id, leases[index].lease, leases[index].worker
  local values = call('HMGET', taskKey(id), 'task', 'state')
  local isStuck = lease.renewedAt and lease.renewedAt >= lease.timeoutAt
  local kind = isUnderWay(lease) and 'undelivered' or isStuck and 'timeout' or 'lease'
  push(kind, int(leases[index].since), id, int(lease.attempt), lease.token .. '.' .. worker, worker, values[1], values[2] or '',
    int(lease.startedAt))
end
for index = 1, math.min(#entries, limit - math.min(#leases, limit)) do
  local entry = entries[index]
  push(entry.kind, int(entry.since), entry.id, int(entry.task.state.attempt + 1), '', '', entry.task.text, entry.task.stateText or '', '')
end
flushLimits()
flushLanes()
flushWake()
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_find_lanes', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local answer = {}
for at = 2, #ARGV do
  local number = call('HGET', key('lanes'), ARGV[at])
  answer[#answer + 1] = number or ''
  if number then
    for _, count in ipairs(countersOf(number)) do answer[#answer + 1] = count end
  end
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_find_tasks', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local answer = { int(now) }
for at = 3, #ARGV do
  local id = ARGV[at]
  local values = call('HMGET', taskKey(id), 'task', 'state', '1')
  if values[1] then
    local _, attempt = standing(values[2], values[3])
    addTask(answer, id, values[1], values[2], attempt, values[3], ARGV[2] == '1')
  end
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_find_tickets', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local isBarring = ARGV[2] == '1'
local answer = {}
for at = 3, #ARGV, 2 do
  local id, ticket = ARGV[at], ARGV[at + 1]
  local isTaken = call('HGET', key('tickets'), id) == ticket
  local task = isTaken and loadTask(id)
  local isHeld = task and dedupe.isHeldBy(task)
  if isBarring and not isHeld then
    dedupe.bar(ticket)
    if isTaken then
      call('HDEL', key('tickets'), id)
      dedupe.lose(id)
    end
  end
  answer[#answer + 1] = isHeld and '1' or isTaken and not isBarring and '2' or ''
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_find_workers', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local answer = { NOW, '' }
for at = 2, #ARGV do addWorker(answer, ARGV[at]) end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_hold_keys', flags = {}, callback = function(keys, args)
begin(keys, args)
local answer = { NOW }
for at = 2, #ARGV, 3 do
  local name, from, to = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local holder = call('HGET', key('dedupe'), name)
  if holder == to or (to == '' and holder ~= from) then
    answer[#answer + 1] = ''
  elseif not holder or holder == from then
    if to == '' then call('HDEL', key('dedupe'), name) else call('HSET', key('dedupe'), name, to) end
    answer[#answer + 1] = ''
  else
    answer[#answer + 1] = holder
  end
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_idle', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local channel = ARGV[2]
local actionCount = tonumber(ARGV[3])
local firstPool = 4 + math.max(actionCount, 0)
local INBOX = 10
local answer = { '1' }
local function versionOf(name)
  if byteAt(name) ~= INBOX then return call('HGET', key('pool:' .. name), 'version') or '0' end
  local worker = workerNamed(part(name, 2))
  return int(worker and worker.assigned or 0)
end
for at = firstPool, #ARGV, 2 do
  local version = versionOf(ARGV[at])
  answer[#answer + 1] = version
  if ARGV[at + 1] ~= '' and ARGV[at + 1] ~= version then answer[1] = '' end
end
if answer[1] == '' then return answer end
for at = firstPool, #ARGV, 2 do
  local pool = key('idle:' .. ARGV[at] .. '\\n')
  if byteAt(ARGV[at]) == INBOX then
    call('SADD', key('listening:' .. part(ARGV[at], 2)), channel)
  elseif actionCount < 0 then
    call('ZADD', pool, NOW, channel)
  else
    for index = 1, actionCount do call('ZADD', pool .. ARGV[3 + index], NOW, channel) end
  end
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_journal_append', flags = {}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
for at = 3, #ARGV, 6 do
  local taskId = ARGV[at + 1]
  note(ARGV[at], taskId ~= '' and taskId, tonumber(ARGV[at + 2]), ARGV[at + 3], ARGV[at + 4], ARGV[at + 5])
end
return (#ARGV - 2) / 6
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_journal_from', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local moment = tonumber(ARGV[2])
local last = tonumber(call('HGET', NUMBERS, 'journal')) or 0
if moment > now then return int(last) end
local wanted = moment - tonumber(ARGV[3])
local function entryFrom(number)
  local entry = call('XRANGE', key('journal'), int(number) .. '-0', '+', 'COUNT', 1)[1]
  if entry then return tonumber(string.match(entry[1], '^%d+')), tonumber(entry[2][2]) end
end
local low, high = entryFrom(0) or last + 1, last + 1
while low < high do
  local middle = math.floor((low + high) / 2)
  local number, at = entryFrom(middle)
  if not number or at >= wanted then high = middle else low = number + 1 end
end
return int(low - 1)
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_journal_read', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local numbers = key('journal:' .. ARGV[2])
local after = tonumber(ARGV[3])
local wanted = tonumber(ARGV[4])
local low, high = 0, call('LLEN', numbers)
while low < high do
  local middle = math.floor((low + high) / 2)
  if tonumber(call('LINDEX', numbers, middle)) > after then high = middle else low = middle + 1 end
end
local answer = {}
local function add(number)
  local entry = call('XRANGE', key('journal'), number .. '-0', number .. '-0')[1]
  if entry then answer[#answer + 1] = entry end
end
if ARGV[5] ~= '1' then
  for _, number in ipairs(call('LRANGE', numbers, low, low + wanted - 1)) do add(number) end
elseif low > 0 then
  local found = call('LRANGE', numbers, math.max(0, low - wanted), low - 1)
  for index = #found, 1, -1 do add(found[index]) end
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_list_departed', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local departures = key('departures')
local wanted = tonumber(ARGV[4])
local function passedBefore()
  if ARGV[2] == '' then return 0 end
  local score = call('ZSCORE', departures, ARGV[3])
  if score and tonumber(score) == tonumber(ARGV[2]) then return call('ZREVRANK', departures, ARGV[3]) + 1 end
  return call('ZCOUNT', departures, ARGV[2], '+inf')
end
local ids = call('ZRANGE', departures, '+inf', '(' .. int(now - 86400000), 'BYSCORE', 'REV', 'LIMIT', int(passedBefore()), int(wanted + 1))
local answer = { NOW, #ids > wanted and '1' or '' }
for index = 1, math.min(#ids, wanted) do
  local size = #answer
  answer[size + 1] = ids[index]
  for place, value in ipairs(call('HMGET', key('departed:' .. ids[index]), 'leftAt', unpack({ 'epoch', 'pools', 'actions', 'host', 'version', 'runtimes', 'endpoint', 'concurrency', 'registeredAt' }))) do
    answer[size + 1 + place] = value or ''
  end
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_list_documents', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local PAGE_MAX = 100
local BYTES_MAX = 8388608
local collection, index = ARGV[2], ARGV[3]
local from = ARGV[4]
local wanted = tonumber(ARGV[5])
local list = index == '' and collectionKey(collection) or indexKey(collection, index)
local answer = { '' }
local found, bytes = 0, 0
while true do
  local page = call('ZRANGE', list, '(' .. from, '+inf', 'BYSCORE', 'LIMIT', 0, PAGE_MAX)
  for _, id in ipairs(page) do
    local values = call('HMGET', documentKey(collection, id), unpack({ 'order', 'text', 'version', 'createdAt', 'updatedAt' }))
    from = values[1]
    found = found + 1
    bytes = bytes + #values[2]
    for field = 1, 5 do answer[#answer + 1] = values[field] end
    if found >= wanted or bytes >= BYTES_MAX then
      answer[1] = from
      return answer
    end
  end
  if #page < PAGE_MAX then return answer end
end
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_list_executions', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local BYTES_MAX = 8388608
local id = ARGV[2]
local after = tonumber(ARGV[3])
local wanted = tonumber(ARGV[4])
local values = call('HMGET', taskKey(id), 'task', 'state')
if not values[1] then return {} end
local first = not values[2] and call('HGET', taskKey(id), '1')
local latest = tonumber(select(2, standing(values[2], first)))
local count = call('HLEN', taskKey(id)) - (values[2] and 2 or 1)
local attempt = math.max(after + 1, latest - count + 1)
local answer = { values[1], '' }
local bytes = 0
while attempt <= latest do
  local record = call('HGET', taskKey(id), int(attempt))
  if record then
    answer[#answer + 1] = record
    bytes = bytes + #record
    if #answer - 2 >= wanted or bytes >= BYTES_MAX then
      answer[2] = int(attempt)
      break
    end
  end
  attempt = attempt + 1
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_list_groups', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local LOOK_MAX = 1000
local PAGE_MAX = 100
local BYTES_MAX = 8388608
local groups = key('groups')
local lastAt, lastNumber = ARGV[2], tonumber(ARGV[3])
local wanted = tonumber(ARGV[4])
local action = ARGV[5]
local only = ARGV[6]
local function numberOf(member)
  return tonumber(string.sub(member, 1, 16))
end
local function startPlace()
  if lastAt == '' then return 0 end
  local low = call('ZCOUNT', groups, '(' .. lastAt, '+inf')
  local high = low + call('ZCOUNT', groups, lastAt, lastAt)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local member = call('ZRANGE', groups, middle, middle, 'REV')[1]
    if numberOf(member) < lastNumber then high = middle else low = middle + 1 end
  end
  return low
end
local answer = { '', '' }
local found, looked, bytes = 0, 0, 0
local function add(member)
  local fingerprint = string.sub(member, 17)
  local values = call('HMGET', key('group:' .. fingerprint), unpack({ 'action', 'firstAt', 'lastAt', 'lastTask', 'sample' }))
  looked = looked + 1
  if action ~= '' and string.sub(action, 2) ~= values[1] then return end
  found = found + 1
  bytes = bytes + #values[5]
  local size = #answer
  answer[size + 1] = fingerprint
  answer[size + 2] = int(numberOf(member))
  answer[size + 3] = int(call('ZCARD', key('dead:' .. fingerprint)))
  for index = 1, 5 do answer[size + 3 + index] = values[index] end
end
if only ~= '' then
  local fingerprint = string.sub(only, 2)
  local number = call('HGET', key('group:' .. fingerprint), 'number')
  local isListed = number and lastAt == '' and call('EXISTS', key('dead:' .. fingerprint)) == 1
  if isListed then add(string.format('%016d', tonumber(number)) .. fingerprint) end
  return answer
end
local place = startPlace()
while true do
  local page = call('ZRANGE', groups, place, place + PAGE_MAX - 1, 'REV', 'WITHSCORES')
  for index = 1, #page, 2 do
    add(page[index])
    if found >= wanted or looked >= LOOK_MAX or bytes >= BYTES_MAX then
      answer[1] = page[index + 1]
      answer[2] = int(numberOf(page[index]))
      return answer
    end
  end
  if #page < PAGE_MAX * 2 then return answer end
  place = place + PAGE_MAX
end
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_list_lanes', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local LOOK_MAX = 1000
local after = tonumber(ARGV[2])
local wanted = tonumber(ARGV[3])
local scope = parseScope(4)
local answer = { '' }
local found = 0
local function add(number)
  local parts = partsOf(number)
  local size = #answer
  answer[size + 1] = number
  for index = 1, 3 do answer[size + 1 + index] = parts[index] end
  for index, count in ipairs(countersOf(number)) do answer[size + 4 + index] = count end
  found = found + 1
end
if scope.isOne then
  local number = onlyLane(scope)
  if number and tonumber(number) > after then add(number) end
  return answer
end
local last = tonumber(call('HGET', NUMBERS, 'lanes')) or 0
for number = after + 1, math.min(last, after + LOOK_MAX) do
  if covers(scope, int(number)) then add(int(number)) end
  if found >= wanted or number == after + LOOK_MAX then
    answer[1] = number < last and int(number) or ''
    break
  end
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_list_launches', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local BYTES_MAX = 8388608
local wanted = tonumber(ARGV[4])
local from = ARGV[3] == '' and '-' or '(' .. ARGV[3]
local ids = call('ZRANGE', launchesKey(ARGV[2]), from, '+', 'BYLEX', 'LIMIT', 0, wanted + 1)
local answer = { NOW, '' }
local bytes = 0
for index, id in ipairs(ids) do
  if index > wanted or bytes >= BYTES_MAX then
    answer[2] = ids[index - 1]
    break
  end
  local values = call('HMGET', taskKey(id), 'task', 'state')
  local attempt = string.match(values[2], '"attempt":(%d+)')
  local record = call('HGET', taskKey(id), attempt)
  local worker = cjson.decode('[' .. select(4, string.match(record, '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)')) .. ']')[1]
  local size = #answer
  answer[size + 1] = id
  answer[size + 2] = values[1]
  answer[size + 3] = values[2]
  answer[size + 4] = record
  answer[size + 5] = call('HGET', leasesKey(worker), id)
  bytes = bytes + #values[1] + #record
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_list_tasks', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local LOOK_MAX = 1000
local CHUNKS_MAX = 16
local PAGE_MAX = 100
local before = tonumber(ARGV[2])
local wanted = tonumber(ARGV[3])
local status = ARGV[4]
local fingerprint = ARGV[5]
local scope = parseScope(6)
local isLight = ARGV[9] == '1'
local maxBytes = tonumber(ARGV[10])
local answer = { int(now), '' }
local looked, found, bytes = 0, 0, 0
local takesAll = scope.isAll and (status == '' or status == 'dead')
local function read(id)
  if takesAll then
    local values = call('HMGET', taskKey(id), 'task', 'state', '1')
    return values[1], values[2], values[3]
  end
  local text = not scope.isAll and textOf(id)
  if text then
    bytes = bytes + #text
    if not covers(scope, (select(3, string.match(text, '^{"seq":(%d+),"acceptedAt":(%d+),"lane":(%d+)')))) then return false end
  end
  local state = call('HGET', taskKey(id), 'state')
  local first = not state and call('HGET', taskKey(id), '1')
  if status ~= '' and standing(state, first) ~= status then
    bytes = bytes + (first and #first or 0)
    return false
  end
  return text or textOf(id), state, first
end
local function consider(id)
  looked = looked + 1
  local text, state, first = read(id)
  local itsStatus, attempt = standing(state, first)
  if text and (status == '' or itsStatus == status) then
    bytes = bytes + #text + (first and #first or 0) + addTask(answer, id, text, state, attempt, first, isLight)
    found = found + 1
  end
  return found >= wanted or looked >= LOOK_MAX or bytes >= maxBytes
end
local function walkDead(index)
  local from = before and '(' .. int(before) or '+inf'
  local size = takesAll and math.min(wanted, PAGE_MAX) or PAGE_MAX
  while true do
    local page = call('ZRANGE', index, from, '-inf', 'BYSCORE', 'REV', 'LIMIT', '0', int(size), 'WITHSCORES')
    for at = 1, #page, 2 do
      if consider(page[at]) then return page[at + 1] end
      from = '(' .. page[at + 1]
    end
    if #page < size * 2 then return '' end
  end
end
local function walkChunk(chunk, isPartial)
  local size = takesAll and not isPartial and wanted - found or CHUNK
  local to = -1
  repeat
    local ids = call('LRANGE', orderKey(chunk), int(to - size + 1), int(to))
    for at = isPartial and placeAfter(ids, before - 1) - 1 or #ids, 1, -1 do
      if consider(ids[at]) then return ids[at] end
    end
    to = to - size
  until #ids < size or -to > CHUNK
  return nil
end
local function walkAll()
  local partial = before and math.floor(before / CHUNK)
  local from = partial and int(partial) or '+inf'
  while true do
    local chunks = call('ZRANGE', key('order'), from, '-inf', 'BYSCORE', 'REV', 'LIMIT', '0', int(takesAll and 2 or CHUNKS_MAX))
    for _, member in ipairs(chunks) do
      local chunk = tonumber(member)
      local last = walkChunk(chunk, chunk == partial)
      if last then return int(seqOf(textOf(last))) end
      from = '(' .. member
    end
    if #chunks < (takesAll and 2 or CHUNKS_MAX) then return '' end
  end
end
local function runningOnes()
  local list = {}
  local seen = {}
  local function add(ids)
    for _, id in ipairs(ids) do
      local text = not seen[id] and textOf(id)
      seen[id] = true
      if text then
        bytes = bytes + #text
        list[#list + 1] = { id, seqOf(text) }
      end
    end
    return bytes < maxBytes and #list <= LOOK_MAX
  end
  if call('ZCARD', key('leases')) > LOOK_MAX then return nil end
  for _, worker in ipairs(call('ZRANGE', key('leases'), 0, -1)) do
    if #list + call('HLEN', leasesKey(worker)) > LOOK_MAX then return nil end
    if not add(call('HKEYS', leasesKey(worker))) then return nil end
  end
  for _, pool in ipairs(call('SMEMBERS', key('launching'))) do
    if #list + call('ZCARD', launchesKey(pool)) > LOOK_MAX then return nil end
    if not add(call('ZRANGE', launchesKey(pool), '0', '-1')) then return nil end
  end
  return list
end
local function waitingOnes()
  local pools = { scope[1] }
  if not scope[1] then
    local last = tonumber(call('HGET', NUMBERS, 'lanes')) or 0
    if last > LOOK_MAX then return nil end
    local seen = {}
    for number = 1, last do
      local pool = partsOf(int(number))[1]
      if not seen[pool] then pools[#pools + 1] = pool end
      seen[pool] = true
    end
  end
  local list = {}
  for _, pool in ipairs(pools) do
    local waiting = key('waiting:' .. pool)
    if #list + call('ZCARD', waiting) > LOOK_MAX then return nil end
    for _, member in ipairs(call('ZRANGE', waiting, 0, -1)) do
      list[#list + 1] = { string.sub(member, 17), tonumber(string.sub(member, 1, 16)) }
    end
  end
  return list
end
local function walkFew(list)
  bytes = 0
  table.sort(list, function(a, b) return a[2] > b[2] end)
  for _, item in ipairs(list) do
    if (not before or item[2] < before) and consider(item[1]) then return int(item[2]) end
  end
  return ''
end
local few
if status == 'running' then few = runningOnes() elseif status == 'waiting' then few = waitingOnes() end
if few then
  answer[2] = walkFew(few)
elseif fingerprint ~= '' then
  answer[2] = walkDead(key('dead:' .. string.sub(fingerprint, 2)))
elseif status == 'dead' then
  answer[2] = walkDead(key('dead'))
else
  bytes = 0
  answer[2] = walkAll()
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_list_workers', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local wanted = tonumber(ARGV[3])
local ids = call('ZRANGE', key('workers'), ARGV[2] == '' and '-' or '(' .. ARGV[2], '+', 'BYLEX', 'LIMIT', 0, wanted + 1)
local answer = { int(now), #ids > wanted and ids[wanted] or '' }
for index = 1, math.min(#ids, wanted) do addWorker(answer, ids[index]) end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_pass_on', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
stir({ pool = ARGV[2], action = ARGV[3] })
flushWake()
return 0
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_probed', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
for at = 3, #ARGV, 3 do
  local worker = workerNamed(ARGV[at])
  if worker and worker.epoch == ARGV[at + 1] then
    worker.probeFailures = ARGV[at + 2] == '1' and 0 or worker.probeFailures + 1
    worker.changed = true
  end
end
flushWorkers()
return 1
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_register', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local worker, workerJson = ARGV[3], ARGV[4]
local given = tonumber(ARGV[13])
local isTold = ARGV[14] ~= ''
if given and given < (tonumber(call('HGET', workerKey(worker), 'epoch')) or 0) then return { int(given), 1, 0 } end
local wasKnown = call('DEL', workerKey(worker)) == 1
local bound = draw(1)
local epoch = given or bound
local fresh = freshWorker(worker)
fresh.inbox = call('EXISTS', inboxKey(worker))
call('HSET', workerKey(worker), 'epoch', int(epoch), 'pools', ARGV[5], 'actions', ARGV[6], 'host', ARGV[7], 'version', ARGV[8],
  'runtimes', ARGV[9], 'endpoint', ARGV[10], 'concurrency', ARGV[11], 'build', ARGV[12], 'registeredAt', NOW, 'numbers', packWorker(fresh))
call('ZADD', key('workers'), 0, worker)
forgetDeparted(worker)
if isTold and not wasKnown then
  noteWorker('worker.joined', workerJson, int(epoch), ARGV[8], ARGV[7], 'registered')
end
local isDone, taken = takeOver(worker, workerJson, bound, '0', tonumber(ARGV[14]) or 0, isTold and wasKnown and epoch or 0)
return { int(epoch), isDone, taken }
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_reserve', flags = {}, callback = function(keys, args)
begin(keys, args)
local request, id, attempt, maxRetries = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local worker, workerJson, leaseMs = ARGV[6], ARGV[7], tonumber(ARGV[8])
local pool, action, tenant, settings, rest = ARGV[11], ARGV[12], ARGV[13], ARGV[14], ARGV[15]
local deadlineAt, deadlineMs, dedupeKey, stage = tonumber(ARGV[16]), tonumber(ARGV[17]), ARGV[18], ARGV[19]
local dedupeMs = tonumber(ARGV[20])
local before = recall(request)
if before then
  if before[1] == 'dropped' then return before end
  return { before[1], '', '', '', '', '\\n' .. before[2] .. '\\n' .. before[3], id, call('HGET', taskKey(id), 'task') or '' }
end
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
  note('message.dropped', id, attempt, 'caller', ARGV[9] .. int(ceiling) .. ARGV[10], '{"attempt":' .. int(attempt) .. '}')
  return remember(request, { 'dropped', int(ceiling) })
end
local status = task and state.status
local hasEnded = status == 'succeeded' or status == 'cancelled' or status == 'discarded'
local name = dedupe.name(tenant, action, dedupeKey)
local keyTaken = not task and dedupeKey ~= '' and dedupe.holder(name, dedupeKey)
if keyTaken == '\\r' then return refuse('barred') end
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
remember(request, { int(now), token, stateText(task.state) })
flush()
return { NOW, '', '', '', '', '\\n' .. token .. '\\n' .. stateText(task.state), id, task.text }
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_reset_breaker', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local breaker = breakerNamed(ARGV[3])
if not breaker or isForgotten(breaker) then return -1, false end
local isDone = forgetBreaker(breaker)
if ARGV[6] == '1' then noteClosed(breaker, ARGV[4], ARGV[5]) end
flushLimits()
flushLanes()
flushWake()
return isDone and 1 or 0
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_retain', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local BYTES_MAX = 16777216
local CHUNKS_MAX = 16
local WORKERS_MAX = 1000
local limit = tonumber(ARGV[3])
local after = tonumber(ARGV[4])
local kept = { succeeded = tonumber(ARGV[5]), cancelled = tonumber(ARGV[6]), discarded = tonumber(ARGV[7]) }
local journalMs = tonumber(ARGV[8])
local seriesMs = tonumber(ARGV[9])
local bytes = 0
local function endOf(id)
  local state = call('HGET', taskKey(id), 'state')
  if state then return statusOf(state), tonumber(string.match(state, '"at":(%d+)')) end
  local record = call('HGET', taskKey(id), '1')
  if not record then return 'queued' end
  bytes = bytes + #record
  return statusOf(record), tonumber(string.match(record, '"errorMessage":null,"resolvedAt":(%d+)'))
end
local outdated = {}
local function walk()
  local looked = 0
  local last
  local partial = math.floor(after / CHUNK)
  local from = int(partial)
  while true do
    local chunks = call('ZRANGE', key('order'), from, '+inf', 'BYSCORE', 'LIMIT', 0, CHUNKS_MAX)
    for _, member in ipairs(chunks) do
      local chunk = tonumber(member)
      local ids = call('LRANGE', orderKey(chunk), 0, -1)
      for place = chunk == partial and placeAfter(ids, after) or 1, #ids do
        if looked >= limit or bytes >= BYTES_MAX then return int(seqOf(textOf(last))) end
        last = ids[place]
        looked = looked + 1
        local status, at = endOf(last)
        if kept[status] and at and now - at >= kept[status] then
          local text = textOf(last)
          local head = parseHead(text)
          bytes = bytes + #text
          if not head.keyUntil or head.keyUntil <= now then
            outdated[#outdated + 1] = { id = last, status = status, chunk = chunk, head = head, bytes = payloadBytes(text) }
          end
        end
      end
      from = '(' .. member
    end
    if #chunks < CHUNKS_MAX then return '' end
  end
end
local function removeTask(item)
  local lane = laneNumbered(item.head.lane)
  local dedupeKey = item.head.dedupeKey
  if dedupeKey then dedupe.drop(dedupe.name(lane.tenant, lane.action, dedupeKey), item.id) end
  call('UNLINK', taskKey(item.id), logKey(item.id))
  call('LREM', orderKey(item.chunk), 1, item.id)
  if call('EXISTS', orderKey(item.chunk)) == 0 then call('ZREM', key('order'), int(item.chunk)) end
  lane.bytesAdded = lane.bytesAdded - item.bytes
  move(lane, item.status, 'removed')
end
local function field(entry, name)
  for index = 1, #entry[2], 2 do
    if entry[2][index] == name then return entry[2][index + 1] end
  end
end
local function removeEntries()
  local removed = 0
  local keptFrom
  for _, entry in ipairs(call('XRANGE', key('journal'), '-', '+', 'COUNT', limit)) do
    if now - tonumber(field(entry, 'at')) < journalMs then break end
    local number = string.match(entry[1], '^%d+')
    local taskId = field(entry, 'task')
    if taskId ~= '' then call('LREM', key('journal:' .. taskId), 1, number) end
    keptFrom = tonumber(number) + 1
    removed = removed + 1
  end
  if keptFrom then call('XTRIM', key('journal'), 'MINID', '=', int(keptFrom) .. '-0') end
  return removed
end
local function removeMinutes()
  local upTo = int(now - seriesMs - 60000)
  for _, minute in ipairs(call('ZRANGE', key('minutes'), '-inf', upTo, 'BYSCORE', 'LIMIT', 0, limit)) do
    call('UNLINK', key('series:' .. minute))
    call('ZREM', key('minutes'), minute)
  end
end
local function forgetSilentWorkers()
  local from = tonumber(call('HGET', NUMBERS, 'workersLooked')) or 0
  local page = call('ZRANGE', key('workers'), from, from + WORKERS_MAX - 1)
  local forgotten = 0
  for _, worker in ipairs(page) do
    local known = workerNamed(worker)
    if not known or now - known.lastBeatAt >= 86400000 then
      if ARGV[10] ~= '' then
        local was = call('HMGET', key('worker:' .. worker), 'epoch', 'version', 'host')
        if was[1] then noteWorker('worker.left', cjson.encode(worker), was[1], was[2], was[3], 'not heard of for a day') end
      end
      call('DEL', key('worker:' .. worker))
      call('ZREM', key('workers'), worker)
      call('DEL', key('listening:' .. worker))
      forgotten = forgotten + 1
    end
  end
  if #page == WORKERS_MAX then
    call('HSET', NUMBERS, 'workersLooked', int(from + WORKERS_MAX - forgotten))
  elseif from > 0 then
    call('HDEL', NUMBERS, 'workersLooked')
  end
end
local function forgetDepartures()
  local upTo = int(now - 86400000)
  for _, worker in ipairs(call('ZRANGE', key('departures'), '-inf', upTo, 'BYSCORE', 'LIMIT', 0, WORKERS_MAX)) do
    forgetDeparted(worker)
  end
end
local goOn = walk()
for _, item in ipairs(outdated) do removeTask(item) end
local entriesRemoved = journalMs and removeEntries() or 0
if seriesMs then removeMinutes() end
forgetSilentWorkers()
forgetDepartures()
if #outdated > 0 then
  note('tasks.removed', nil, nil, 'retention', 'kept long enough', '{"count":' .. #outdated .. '}')
end
flushLanes()
return { int(#outdated), int(entriesRemoved), goOn }
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_retry', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local id, maxRetries, actor, reason, policy = ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7]
local task = loadTask(id)
local latest = task and call('HGET', taskKey(id), int(task.state.attempt))
if not latest then return { 'not_found', '' } end
local latestStatus = statusOf(latest)
if latestStatus ~= 'failed' then return { 'wrong_status', latestStatus } end
local state = task.state
if state.status ~= 'dead' and state.status ~= 'waiting' then return { 'wrong_status', state.status } end
local budget = operatorRetries(task.profile, maxRetries)
if state.failures > budget then return { 'exhausted', int(budget) } end
local attempt = int(state.attempt + 1)
local policyNote = ''
state.retryReason = 'manual'
if policy ~= '' then
  state.policy = policy
  policyNote = ',"policy":' .. cjson.encode(policy)
end
requeue(task)
noteTask('task.retried', task, actor, reason, '{"attempt":' .. attempt .. policyNote .. keyNote(task) .. '}')
flushOperators()
flushLanes()
flushWake()
return { 'queued', attempt }
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_series', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local FIELDS_MAX = 10000
local FIELDS_PER_SCAN = 1000
local MINUTES_MAX = 100
local KINDS = { 'accepted', 'started', 'succeeded', 'failed', 'lost', 'retried', 'dead', 'cancelled' }
local KIND_INDEX = {}
for index, kind in ipairs(KINDS) do KIND_INDEX[kind] = index end
local scope = parseScope(4)
local only = scope.isOne and onlyLane(scope)
local from = ARGV[7] ~= '' and ARGV[7] or ARGV[2]
local position = ARGV[8]
local answer = { '', '0' }
local looked = 0
local function add(minute, counts)
  local size = #answer
  answer[size + 1] = minute
  for index = 1, #KINDS do answer[size + 1 + index] = int(counts[index] or 0) end
end
local function addOnly(minute)
  local fields = {}
  for index, kind in ipairs(KINDS) do fields[index] = only .. ':' .. kind end
  looked = looked + #KINDS
  local counts = {}
  local isEmpty = true
  for index, count in ipairs(call('HMGET', key('series:' .. minute), unpack(fields))) do
    counts[index] = tonumber(count)
    if count then isEmpty = false end
  end
  if not isEmpty then add(minute, counts) end
  return true
end
local function addMinute(minute)
  local counts = {}
  local isEmpty = true
  repeat
    local page = call('HSCAN', key('series:' .. minute), position, 'COUNT', FIELDS_PER_SCAN)
    position = page[1]
    for index = 1, #page[2], 2 do
      local number, kind = string.match(page[2][index], '^(%d+):(%a+)$')
      if covers(scope, number) then
        local at = KIND_INDEX[kind]
        counts[at] = (counts[at] or 0) + tonumber(page[2][index + 1])
        isEmpty = false
      end
    end
    looked = looked + #page[2] / 2
  until position == '0' or looked >= FIELDS_MAX
  if not isEmpty then add(minute, counts) end
  return position == '0'
end
if scope.isOne and not only then return answer end
local addFrom = only and addOnly or addMinute
while true do
  local minutes = call('ZRANGE', key('minutes'), from, '(' .. ARGV[3], 'BYSCORE', 'LIMIT', 0, MINUTES_MAX)
  for _, minute in ipairs(minutes) do
    if minute ~= ARGV[7] then position = '0' end
    if looked >= FIELDS_MAX or not addFrom(minute) then
      answer[1] = minute
      answer[2] = position
      return answer
    end
    from = '(' .. minute
  end
  if #minutes < MINUTES_MAX then return answer end
end
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_share_slots', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local scopeName = ARGV[2] .. '\\n' .. ARGV[3] .. '\\n' .. ARGV[4]
local ledger = key('ledger:' .. scopeName)
local values = call('HMGET', ledger, 'version', 'free', 'settled')
if not values[1] then return { 'lifted', '0' } end
if values[2] == '' then
  if #ARGV == 5 and values[1] == ARGV[5] then
    call('DEL', ledger)
    call('SREM', key('unsettled'), scopeName)
  end
  return { 'lifted', values[1] }
end
if values[1] ~= ARGV[5] then return { 'newer', values[1] } end
local free, isSettled = tonumber(values[2]), values[3] == '1'
local count = (#ARGV - 5) / 3
local parts = {}
for place = 1, count do
  local at = 6 + (place - 1) * 3
  local booked = call('HMGET', ledger, 'granted:' .. place, 'returned:' .. place)
  local part = { place = place, granted = tonumber(booked[1]), returned = tonumber(booked[2]) or 0, wants = ARGV[at + 2] == '1' }
  if not part.granted then
    part.granted = tonumber(ARGV[at])
    free = free - part.granted
  end
  local returned = tonumber(ARGV[at + 1])
  if returned > part.returned then
    free = free + returned - part.returned
    part.returned = returned
  end
  parts[place] = part
end
local wanting = {}
for _, part in ipairs(parts) do
  if part.wants or not isSettled then wanting[#wanting + 1] = part end
end
if free > 0 and #wanting > 0 then
  table.sort(wanting, function(a, b) return a.granted < b.granted or (a.granted == b.granted and a.place < b.place) end)
  local whole = math.floor(free / #wanting)
  local over = free - whole * #wanting
  for index, part in ipairs(wanting) do part.granted = part.granted + whole + (index <= over and 1 or 0) end
  free = 0
end
local answer = { free >= 0 and 'settled' or 'unsettled' }
local changes = { 'free', int(free) }
for _, part in ipairs(parts) do
  changes[#changes + 1] = 'granted:' .. part.place
  changes[#changes + 1] = int(part.granted)
  changes[#changes + 1] = 'returned:' .. part.place
  changes[#changes + 1] = int(part.returned)
  if free >= 0 then answer[#answer + 1] = int(part.granted) end
end
if free >= 0 and not isSettled then
  changes[#changes + 1] = 'settled'
  changes[#changes + 1] = '1'
  call('SREM', key('unsettled'), scopeName)
end
call('HSET', ledger, unpack(changes))
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_standings', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local BYTES_MAX = 8388608
local answer = { NOW }
local bytes = 0
for at = 2, #ARGV do
  local values = call('HMGET', taskKey(ARGV[at]), 'task', 'state')
  answer[#answer + 1] = values[1] and string.match(values[1], '^[^\\n]*\\n') or ''
  answer[#answer + 1] = values[2] or ''
  bytes = bytes + (values[1] and #values[1] or 0)
  if bytes >= BYTES_MAX then break end
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_statuses', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local BYTES_MAX = 8388608
local answer = {}
local bytes = 0
for at = 2, #ARGV do
  local values = call('HMGET', taskKey(ARGV[at]), 'state', '1')
  local isKnown = values[1] or values[2] or call('HEXISTS', taskKey(ARGV[at]), 'task') == 1
  answer[at - 1] = isKnown and standing(values[1], values[2]) or ''
  bytes = bytes + (values[2] and #values[2] or 0)
  if bytes >= BYTES_MAX then break end
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_take_over', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local worker = ARGV[2]
local bound, cursor, taken, epoch = string.match(call('HGET', key('takeovers'), worker) or '', '^(%d+) (%d+) (%d+) (%d+)$')
if not bound then return { 1, 0 } end
return { takeOver(worker, ARGV[3], tonumber(bound), cursor, tonumber(taken), tonumber(epoch)) }
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_tenant_figures', flags = {'no-writes'}, callback = function(keys, args)
begin(keys, args)
local LOOK_MAX = 2000
local after = tonumber(ARGV[2])
local last = tonumber(call('HGET', NUMBERS, 'lanes')) or 0
local answer = { last > after + LOOK_MAX and int(after + LOOK_MAX) or '' }
local places = {}
local sums = {}
for number = after + 1, math.min(last, after + LOOK_MAX) do
  local values = call('HMGET', key('lane:' .. int(number)), 'tenant', 'numbers', 'bytes')
  local tenant = values[1]
  if tenant then
    local sum = sums[tenant]
    if not sum then
      sum = { tenant = tenant, backlog = 0, running = 0, bytes = 0 }
      sums[tenant] = sum
      places[#places + 1] = sum
    end
    local numbers = laneNumbers(values[2])
    sum.backlog = sum.backlog + numbers[8] + numbers[9] + numbers[10]
    sum.running = sum.running + numbers[10]
    sum.bytes = sum.bytes + math.max(tonumber(values[3]) or 0, 0)
  end
end
for _, sum in ipairs(places) do
  local size = #answer
  answer[size + 1] = sum.tenant
  answer[size + 2] = int(sum.backlog)
  answer[size + 3] = int(sum.running)
  answer[size + 4] = int(sum.bytes)
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_vouch', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local VOUCH_MAX = 500
local first = 2
local asked = { worker = ARGV[first + 0], epoch = ARGV[first + 1], leaseMs = ARGV[first + 2], outlook = ARGV[first + 3], cursor = ARGV[first + 4] }
local worker = workerNamed(asked.worker)
if not worker or worker.epoch ~= asked.epoch then return { '0', 0 } end
worker.outlook = asked.outlook ~= '' and string.sub(asked.outlook, 2)
worker.changed = true
flushWorkers()
local leaseMs = tonumber(asked.leaseMs)
local reply = call('HSCAN', leasesKey(asked.worker), asked.cursor, 'COUNT', VOUCH_MAX)
local renewed = 0
for index = 1, #reply[2], 2 do
  local lease = parseLease(reply[2][index + 1])
  if lease.kind ~= 'l' and not isUnderWay(lease) then
    extend(lease, leaseMs, math.max(now - (lease.renewedAt or lease.startedAt) - leaseMs, 0))
    call('HSET', leasesKey(asked.worker), reply[2][index], leaseText(lease))
    renewed = renewed + 1
  end
end
return { reply[1], renewed }
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_watch', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local ENDS = { succeeded = true, dead = true, discarded = true, cancelled = true }
local answer = ''
for at = 3, #ARGV do
  local id = ARGV[at]
  local values = call('HMGET', taskKey(id), 'state', '1')
  local status = string.match(values[1] or values[2] or '', '^{"status":"(%a+)"')
  if ENDS[status] then
    answer = '1'
  else
    local channels = call('HGET', key('watched'), id) or ''
    if not string.find(' ' .. channels .. ' ', ' ' .. ARGV[2] .. ' ', 1, true) then
      call('HSET', key('watched'), id, channels == '' and ARGV[2] or channels .. ' ' .. ARGV[2])
    end
  end
end
return answer
end }
redis.register_function{ function_name = 'reprise_cf0add58f9b2_witness', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local worker = ARGV[3]
local known = workerNamed(worker)
for at = 4, #ARGV, 3 do
  witness(worker, ARGV[at], ARGV[at + 1] == '1', tonumber(ARGV[at + 2]))
  if known and ARGV[at + 1] ~= '' then known.lastProgressAt = now end
end
flushWorkers()
return 1
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }`,
}

export const assignScript: Script = { name: 'reprise_cf0add58f9b2_assign', library: library, readOnly: false }
export const beatScript: Script = { name: 'reprise_cf0add58f9b2_beat', library: library, readOnly: false }
export const changeScript: Script = { name: 'reprise_cf0add58f9b2_change', library: library, readOnly: false }
export const countLanesScript: Script = { name: 'reprise_cf0add58f9b2_count_lanes', library: library, readOnly: true }
export const deregisterScript: Script = { name: 'reprise_cf0add58f9b2_deregister', library: library, readOnly: false }
export const documentPutScript: Script = { name: 'reprise_cf0add58f9b2_document_put', library: library, readOnly: false }
export const documentRemoveScript: Script = { name: 'reprise_cf0add58f9b2_document_remove', library: library, readOnly: false }
export const drawEpochScript: Script = { name: 'reprise_cf0add58f9b2_draw_epoch', library: library, readOnly: false }
export const expiredScript: Script = { name: 'reprise_cf0add58f9b2_expired', library: library, readOnly: false }
export const findLanesScript: Script = { name: 'reprise_cf0add58f9b2_find_lanes', library: library, readOnly: true }
export const findTasksScript: Script = { name: 'reprise_cf0add58f9b2_find_tasks', library: library, readOnly: true }
export const findTicketsScript: Script = { name: 'reprise_cf0add58f9b2_find_tickets', library: library, readOnly: false }
export const findWorkersScript: Script = { name: 'reprise_cf0add58f9b2_find_workers', library: library, readOnly: true }
export const holdKeysScript: Script = { name: 'reprise_cf0add58f9b2_hold_keys', library: library, readOnly: false }
export const idleScript: Script = { name: 'reprise_cf0add58f9b2_idle', library: library, readOnly: false }
export const journalAppendScript: Script = { name: 'reprise_cf0add58f9b2_journal_append', library: library, readOnly: false }
export const journalFromScript: Script = { name: 'reprise_cf0add58f9b2_journal_from', library: library, readOnly: true }
export const journalReadScript: Script = { name: 'reprise_cf0add58f9b2_journal_read', library: library, readOnly: true }
export const listDepartedScript: Script = { name: 'reprise_cf0add58f9b2_list_departed', library: library, readOnly: true }
export const listDocumentsScript: Script = { name: 'reprise_cf0add58f9b2_list_documents', library: library, readOnly: true }
export const listExecutionsScript: Script = { name: 'reprise_cf0add58f9b2_list_executions', library: library, readOnly: true }
export const listGroupsScript: Script = { name: 'reprise_cf0add58f9b2_list_groups', library: library, readOnly: true }
export const listLanesScript: Script = { name: 'reprise_cf0add58f9b2_list_lanes', library: library, readOnly: true }
export const listLaunchesScript: Script = { name: 'reprise_cf0add58f9b2_list_launches', library: library, readOnly: true }
export const listTasksScript: Script = { name: 'reprise_cf0add58f9b2_list_tasks', library: library, readOnly: true }
export const listWorkersScript: Script = { name: 'reprise_cf0add58f9b2_list_workers', library: library, readOnly: true }
export const passOnScript: Script = { name: 'reprise_cf0add58f9b2_pass_on', library: library, readOnly: false }
export const probedScript: Script = { name: 'reprise_cf0add58f9b2_probed', library: library, readOnly: false }
export const registerScript: Script = { name: 'reprise_cf0add58f9b2_register', library: library, readOnly: false }
export const reserveScript: Script = { name: 'reprise_cf0add58f9b2_reserve', library: library, readOnly: false }
export const resetBreakerScript: Script = { name: 'reprise_cf0add58f9b2_reset_breaker', library: library, readOnly: false }
export const retainScript: Script = { name: 'reprise_cf0add58f9b2_retain', library: library, readOnly: false }
export const retryScript: Script = { name: 'reprise_cf0add58f9b2_retry', library: library, readOnly: false }
export const seriesScript: Script = { name: 'reprise_cf0add58f9b2_series', library: library, readOnly: true }
export const shareSlotsScript: Script = { name: 'reprise_cf0add58f9b2_share_slots', library: library, readOnly: false }
export const standingsScript: Script = { name: 'reprise_cf0add58f9b2_standings', library: library, readOnly: true }
export const statusesScript: Script = { name: 'reprise_cf0add58f9b2_statuses', library: library, readOnly: true }
export const takeOverScript: Script = { name: 'reprise_cf0add58f9b2_take_over', library: library, readOnly: false }
export const tenantFiguresScript: Script = { name: 'reprise_cf0add58f9b2_tenant_figures', library: library, readOnly: true }
export const vouchScript: Script = { name: 'reprise_cf0add58f9b2_vouch', library: library, readOnly: false }
export const watchScript: Script = { name: 'reprise_cf0add58f9b2_watch', library: library, readOnly: false }
export const witnessScript: Script = { name: 'reprise_cf0add58f9b2_witness', library: library, readOnly: false }

export const inspectLibrary: Library = {
  name: 'reprise_beb00d237f95',
  text: `#!lua name=reprise_beb00d237f95
local KEYS, ARGV
local beginnings = {}
local function atBegin(start)
  beginnings[#beginnings + 1] = start
end
local function begin(keys, args)
  KEYS, ARGV = keys, args
  for index = 1, #beginnings do beginnings[index]() end
end
local call, byteAt, part, format, PREFIX, NUMBERS, TASK_PREFIX, META_PREFIX, now, NOW, MINUTE, int, taskKey, key, inboxKey, draw, exists
do
function int(number)
  return format('%d', number)
end
atBegin(function()
  call, byteAt, part, format = redis.call, string.byte, string.sub, string.format
  NUMBERS = KEYS[1]
  PREFIX = string.sub(NUMBERS, 1, -9)
  TASK_PREFIX = PREFIX .. ':'
  META_PREFIX = PREFIX .. '/'
  now = tonumber(ARGV[1])
  if not now then
    local time = call('TIME')
    now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  NOW = int(now)
  MINUTE = now - now % 60000
end)
function taskKey(id)
  return TASK_PREFIX .. id
end
function key(name)
  return META_PREFIX .. name
end
function inboxKey(worker)
  return key('inbox:' .. worker)
end
local function logKey(id)
  return key('log:' .. id)
end
local serverRun
local lastDrawn = {}
local function runOfServer()
  if not serverRun then
    local info = redis.pcall('INFO', 'server')
    serverRun = type(info) == 'string' and string.match(info, 'run_id:(%x%x%x%x%x%x%x%x%x%x%x%x)') or ''
  end
  return serverRun
end
local function beginningAt(before)
  local mine = lastDrawn[NUMBERS]
  local history = call('HGET', NUMBERS, 'history') or ''
  local isMine = mine and mine.history == history
  if not isMine or before < mine.last then
    local run = runOfServer()
    if run == '' then return '' end
    local last = string.match(history, '%S+$') or ''
    if isMine or string.match(last, '^%x+') ~= run then
      last = run .. ':' .. int(before) .. ':' .. NOW
      local kept = {}
      for beginning in string.gmatch(history, '%S+') do kept[#kept + 1] = beginning end
      kept[#kept + 1] = last
      history = table.concat(kept, ' ', math.max(1, #kept - 16 + 1))
      call('HSET', NUMBERS, 'history', history)
    end
    mine = { history = history, beginning = last }
    lastDrawn[NUMBERS] = mine
  end
  return mine.beginning
end
function draw(count, asksForBeginning)
  local last = call('HINCRBY', NUMBERS, 'sequence', int(count))
  if not asksForBeginning then return last end
  local beginning = beginningAt(last - count)
  if lastDrawn[NUMBERS] then lastDrawn[NUMBERS].last = last end
  return last, beginning
end
local UNUSUAL = { 'holds', 'limits', 'watched', 'progress', 'breakers', 'unfinished' }
local unusual
atBegin(function()
  unusual = nil
end)
function exists(name)
  if unusual == nil then
    local keys = {}
    for index, unusualName in ipairs(UNUSUAL) do keys[index] = key(unusualName) end
    unusual = call('EXISTS', unpack(keys)) > 0 and {}
  end
  if not unusual then return false end
  if unusual[name] == nil then unusual[name] = call('EXISTS', key(name)) == 1 end
  return unusual[name]
end
local function nowExists(name)
  unusual = unusual or {}
  unusual[name] = true
end
local function refuse(text)
  return redis.error_reply('REPRISE ' .. text)
end
end
local recall, remember
do
local ANSWER_KEPT_MS = 60000
function recall(request)
  local kept = call('GET', key('answer:' .. request))
  return kept and cmsgpack.unpack(kept) or nil
end
function remember(request, answer)
  call('SET', key('answer:' .. request), cmsgpack.pack(answer), 'PX', ANSWER_KEPT_MS)
  return answer
end
end
local SLOTS, COUNTED, lanes, laneList, pools, backlogChange, standingKey, standingsKey, stirred, stir, laneMember, laneNumbered, gateName, scopeNames, laneTime, wallTime, catchUp, tally, restock, move, listKey, flushLanes
do
local FRESH_NUMBERS = {}
for index = 1, 25 do FRESH_NUMBERS[index] = 0 end
FRESH_NUMBERS[1] = -1
SLOTS, COUNTED = {}, { 'p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9' }
for index = 1, #COUNTED do SLOTS[index - 1] = COUNTED[index] end
local function laneNumbers(text)
  return text and cmsgpack.unpack(text) or FRESH_NUMBERS
end
atBegin(function()
  lanes, laneList, pools, backlogChange = {}, {}, {}, 0
end)
local function activeKey(pool, action)
  return key('active:' .. pool .. '\\n' .. action)
end
function standingKey(limitName, pool, action)
  return key('parked:' .. limitName .. '\\n' .. pool .. '\\n' .. action)
end
function standingsKey(limitName)
  return key('parkings:' .. limitName)
end
atBegin(function()
  stirred = {}
end)
function stir(lane, count)
  local actions = stirred[lane.pool]
  if not actions then
    actions = {}
    stirred[lane.pool] = actions
  end
  actions[lane.action] = (actions[lane.action] or 0) + (count or 1)
end
function laneMember(number)
  return string.format('%010d', number)
end
local function poolNamed(name)
  local pool = pools[name]
  if not pool then
    local values = call('HMGET', key('pool:' .. name), 'virtualTime', 'version', 'promotedAt')
    local virtualTime = tonumber(values[1]) or 0
    pool = { name = name, virtualTime = virtualTime, was = virtualTime, version = values[2] or '0', promotedAt = tonumber(values[3]) }
    pools[name] = pool
  end
  return pool
end
local function keepLane(number, lane)
  lane.number = number
  lane.tally = {}
  lane.listedTurn = lane.ready > 0 and not lane.heldSince and lane.turn
  lane.listedAt = lane.atLimit
  lanes[number] = lane
  laneList[#laneList + 1] = lane
  return lane
end
function laneNumbered(number)
  local known = lanes[number]
  if known then return known end
  local texts = call('HMGET', key('lane:' .. int(number)), 'pool', 'action', 'tenant', 'parked', 'numbers')
  local was = laneNumbers(texts[5])
  local atLimit = texts[4] ~= '' and texts[4]
  local lane = {
    pool = texts[1], action = texts[2], tenant = texts[3], atLimit = atLimit, wasAtLimit = atLimit,
    heldSince = was[1], turn = was[2], picks = was[3], heldMs = was[4], ready = was[5], returned = was[6], stale = was[7], queued = was[8], waiting = was[9], running = was[10], succeeded = was[11], dead = was[12], discarded = was[13], cancelled = was[14], removed = was[15], p0 = was[16], p1 = was[17], p2 = was[18], p3 = was[19], p4 = was[20], p5 = was[21], p6 = was[22], p7 = was[23], p8 = was[24], p9 = was[25], was = was, number = false, tally = false, listedTurn = false, listedAt = false, limits = false, succeeding = false,
    bytesAdded = 0, group = false, distance = false, sources = false, takenOf = false, taken = false,
  }
  if lane.heldSince == -1 then lane.heldSince = false end
  return keepLane(number, lane)
end
function gateName(action, tenant)
  return '\\r\\n' .. action .. '\\n' .. tenant
end
function scopeNames(lane)
  local names = {}
  for _, pool in ipairs({ '', lane.pool }) do
    for _, action in ipairs({ '', lane.action }) do
      for _, tenant in ipairs({ '', lane.tenant }) do
        names[#names + 1] = pool .. '\\n' .. action .. '\\n' .. tenant
      end
    end
  end
  names[#names + 1] = gateName(lane.action, '')
  names[#names + 1] = gateName(lane.action, lane.tenant)
  return names
end
local function anyHolds()
  return exists('holds')
end
local function holdOn(lane)
  if not anyHolds() then return false end
  for _, hold in ipairs(call('HMGET', key('holds'), unpack(scopeNames(lane)))) do
    if hold then return hold end
  end
  return false
end
local function applyHold(lane, hold)
  lane.heldSince = tonumber(string.match(hold, '^%d+'))
end
local function findLane(pool, action, tenant)
  return tonumber(call('HGET', key('lanes'), pool .. '\\n' .. action .. '\\n' .. tenant))
end
local function laneNamed(pool, action, tenant)
  local number = findLane(pool, action, tenant)
  if number then return laneNumbered(number) end
  number = call('HINCRBY', NUMBERS, 'lanes', 1)
  call('HSET', key('lanes'), pool .. '\\n' .. action .. '\\n' .. tenant, number)
  call('HSET', key('lane:' .. number), 'pool', pool, 'action', action, 'tenant', tenant)
  call('SADD', key('actions:' .. pool), action)
  if number == 1 or call('EXISTS', key('pools')) == 1 then call('SADD', key('pools'), pool) end
  return laneNumbered(number)
end
function laneTime(lane)
  return (lane.heldSince or now) - lane.heldMs
end
function wallTime(lane, moment)
  return moment + now - laneTime(lane)
end
function catchUp(lane)
  lane.turn = math.max(lane.turn, poolNamed(lane.pool).virtualTime)
end
function tally(lane, kind, count)
  lane.tally[kind] = (lane.tally[kind] or 0) + (count or 1)
end
function restock(lane)
  if lane.queued > 0 then return end
  local hold = holdOn(lane)
  if hold and not lane.heldSince then
    lane.heldSince = now
  elseif not hold and lane.heldSince then
    lane.heldMs = lane.heldMs + now - lane.heldSince
    lane.heldSince = false
  end
end
function move(lane, from, to, count)
  count = count or 1
  if from then
    lane[from] = lane[from] - count
    if from == 'queued' or from == 'waiting' then backlogChange = backlogChange - count end
  end
  if to then
    lane[to] = lane[to] + count
    if to == 'queued' or to == 'waiting' then backlogChange = backlogChange + count end
  end
end
function listKey(lane, limitName)
  if limitName then return standingKey(limitName, lane.pool, lane.action) end
  return activeKey(lane.pool, lane.action)
end
local function flushActive(lane)
  local turn = lane.ready > 0 and not lane.heldSince and lane.turn
  if not turn then lane.atLimit = false end
  local hasMoved = lane.atLimit ~= lane.listedAt
  if lane.listedTurn == turn and not hasMoved then return end
  if lane.listedTurn and (not turn or hasMoved) then
    call('ZREM', listKey(lane, lane.listedAt), laneMember(lane.number))
  end
  if turn then
    call('ZADD', listKey(lane, lane.atLimit), int(turn), laneMember(lane.number))
    if lane.atLimit and hasMoved then call('SADD', standingsKey(lane.atLimit), lane.pool .. '\\n' .. lane.action) end
  end
  lane.listedTurn = turn
  lane.listedAt = lane.atLimit
end
local function flushLane(lane)
  flushActive(lane)
  local was = lane.was
  local numbers = { lane.heldSince, lane.turn, lane.picks, lane.heldMs, lane.ready, lane.returned, lane.stale, lane.queued, lane.waiting, lane.running, lane.succeeded, lane.dead, lane.discarded, lane.cancelled, lane.removed, lane.p0, lane.p1, lane.p2, lane.p3, lane.p4, lane.p5, lane.p6, lane.p7, lane.p8, lane.p9 }
  numbers[1] = lane.heldSince or -1
  for index = 1, 25 do
    if numbers[index] ~= was[index] then
      call('HSET', key('lane:' .. int(lane.number)), 'numbers', cmsgpack.pack(numbers))
      break
    end
  end
  if lane.bytesAdded ~= 0 then call('HINCRBY', key('lane:' .. int(lane.number)), 'bytes', int(lane.bytesAdded)) end
  if lane.atLimit ~= lane.wasAtLimit then call('HSET', key('lane:' .. int(lane.number)), 'parked', lane.atLimit or '') end
  local member = laneMember(lane.number)
  if (lane.queued > 0) ~= (was[8] > 0) then
    local place = lane.action .. '\\n' .. member
    if lane.queued > 0 then call('ZADD', key('stocked'), '0', place) else call('ZREM', key('stocked'), place) end
  end
  if (lane.running > 0) ~= (was[10] > 0) then
    if lane.running > 0 then call('SADD', key('busy'), member) else call('SREM', key('busy'), member) end
  end
  for kind, count in pairs(lane.tally) do
    local series = key('series:' .. int(MINUTE))
    if call('HINCRBY', series, int(lane.number) .. ':' .. kind, int(count)) == count then
      call('ZADD', key('minutes'), int(MINUTE), int(MINUTE))
    end
  end
end
function flushLanes()
  for _, lane in ipairs(laneList) do flushLane(lane) end
  for name, pool in pairs(pools) do
    if pool.virtualTime ~= pool.was then call('HSET', key('pool:' .. name), 'virtualTime', int(pool.virtualTime)) end
    if pool.hasPromoted then call('HSET', key('pool:' .. name), 'promotedAt', int(pool.promotedAt)) end
  end
  if backlogChange ~= 0 then call('HINCRBY', NUMBERS, 'backlog', int(backlogChange)) end
end
end
local payloadBytes, statusOf, loadTask, stateText, saveState, nextState, waitingMember
do
local profiles
atBegin(function()
  profiles = {}
end)
local decoded, decodedCount = {}, 0
local DECODED_MAX = 1000
local function currentNames(settings)
  if settings.rampMax then
    settings.minFailures, settings.maxOpenMs, settings.maxRamp = settings.failuresMin, settings.openMsMax, settings.rampMax
  end
  return settings
end
local function decodeSettings(text)
  local settings = decoded[text]
  if settings then return settings end
  if decodedCount >= DECODED_MAX then decoded, decodedCount = {}, 0 end
  settings = currentNames(cjson.decode(text))
  decoded[text] = settings
  decodedCount = decodedCount + 1
  return settings
end
local function profileNumbered(number)
  local known = profiles[number]
  if not known then
    known = decodeSettings(call('HGET', key('profile'), int(number)))
    profiles[number] = known
  end
  return known
end
local function profileFor(text)
  local number = call('HGET', key('profiles'), text)
  if number then return number end
  number = int(call('HINCRBY', NUMBERS, 'profiles', '1'))
  call('HSET', key('profiles'), text, number)
  call('HSET', key('profile'), number, text)
  return number
end
local function parseHead(text)
  local stop = string.find(text, '\\n', 1, true)
  return cjson.decode(string.sub(text, 1, stop - 2) .. '}')
end
function payloadBytes(text)
  return #text - string.find(text, '\\n', 1, true) - 11
end
function statusOf(record)
  return string.match(record, '^{"status":"(%a+)"')
end
function loadTask(id)
  local values = call('HMGET', taskKey(id), 'task', 'state', '1')
  if not values[1] then return false end
  local head = parseHead(values[1])
  local state
  if values[2] then
    state = cjson.decode(values[2])
  else
    state = { status = 'queued', attempt = 0, generation = 1, before = 0, failures = 0, losses = 0,
      rank = head.seq, since = head.acceptedAt, expires = head.expires }
    if values[3] then
      state.attempt = 1
      state.status = statusOf(values[3])
    end
  end
  return {
    id = id, head = head, state = state, text = values[1], stateText = values[2], first = values[3],
    lane = laneNumbered(head.lane), profile = profileNumbered(head.profile), priority = head.priority or 5,
  }
end
local STATE_FIELDS = {
  'parks', 'deferrals', 'retryReason', 'rank', 'since', 'expires', 'retired', 'returned', 'dueAt', 'reason', 'quota', 'at',
  'fingerprint', 'diedOf', 'keyLost', 'notify', 'policy',
}
for index = 1, #STATE_FIELDS do STATE_FIELDS[STATE_FIELDS[index]] = ',"' .. STATE_FIELDS[index] .. '":' end
function stateText(state)
  local parts, size = { format('{"status":"%s","attempt":%d,"generation":%d,"before":%d,"failures":%d,"losses":%d',
    state.status, state.attempt, state.generation, state.before, state.failures, state.losses) }, 1
  for _, name in ipairs(STATE_FIELDS) do
    local value = state[name]
    if value ~= nil and value ~= cjson.null then
      parts[size + 1], parts[size + 2] = STATE_FIELDS[name], type(value) == 'number' and int(value) or cjson.encode(value)
      size = size + 2
    end
  end
  parts[size + 1] = '}'
  return table.concat(parts)
end
function saveState(task)
  call('HSET', taskKey(task.id), 'state', stateText(task.state))
end
function nextState(state, status)
  return {
    status = status, attempt = state.attempt, generation = state.generation, before = state.before,
    failures = state.failures, losses = state.losses, parks = state.parks, deferrals = state.deferrals,
    retryReason = state.retryReason, rank = state.rank, keyLost = state.keyLost, notify = state.notify,
    policy = state.policy, diedOf = state.fingerprint or state.diedOf,
  }
end
function waitingMember(task)
  return string.format('%016d', task.head.seq) .. task.id
end
end
local queueKey, returnedKey, PLAIN_TIMEOUT_MAX, plainTimeout, plainEntry, parseEntry, entryText, watchTimes, deadlineOf, enqueue
do
local LENGTH_ZERO = 96
local PLAIN_HEADS = { 'pa', 'pb', 'pc', 'pd', 'pe', 'pf', 'pg', 'ph', 'pi', 'pj', 'pk', 'pl', 'pm', 'pn', 'po', 'pp' }
local ENTRY_PATTERN = '^x(%d+) (%d+) (%S+) (%S+) (%a) (.+)$'
function queueKey(lane, priority)
  return key('queue:' .. int(lane.number) .. ':' .. priority)
end
function returnedKey(lane, priority)
  return key('returned:' .. int(lane.number) .. ':' .. priority)
end
PLAIN_TIMEOUT_MAX = 999999999999
function plainTimeout(timeoutMs)
  return string.format('%012d', timeoutMs)
end
function plainEntry(rank, timeout, id)
  return PLAIN_HEADS[#rank] .. rank .. timeout .. id
end
local function parsePlain(entry)
  local from = string.byte(entry, 2) - LENGTH_ZERO + 3
  return string.sub(entry, from, from + 11), string.sub(entry, from + 12)
end
function parseEntry(entry)
  if string.byte(entry) ~= 112 then return string.match(entry, ENTRY_PATTERN) end
  local timeoutMs, id = parsePlain(entry)
  return string.sub(entry, 3, string.byte(entry, 2) - LENGTH_ZERO + 2), timeoutMs, '-', '-', 'p', id
end
function entryText(rank, timeoutMs, expires, deadlineAt, kind, id)
  return 'x' .. int(rank) .. ' ' .. int(timeoutMs) .. ' ' .. (expires and int(expires) or '-') .. ' '
    .. (deadlineAt and int(deadlineAt) or '-') .. ' ' .. kind .. ' ' .. id
end
function watchTimes(lane, id, expires, deadlineAt)
  if expires then
    call('ZADD', key('ttl:' .. int(lane.number)), int(expires), id)
    call('ZADD', key('ttl'), 'LT', int(wallTime(lane, expires)), laneMember(lane.number))
  end
  if deadlineAt then call('ZADD', key('deadlines'), int(deadlineAt), id) end
end
local function forgetTimes(lane, id, expires, deadlineAt)
  if expires then call('ZREM', key('ttl:' .. int(lane.number)), id) end
  if deadlineAt then call('ZREM', key('deadlines'), id) end
end
function deadlineOf(task)
  if task.state.generation > 1 then return nil end
  return task.head.deadlineAt
end
function enqueue(task, keepsRank, together)
  local lane = task.lane
  restock(lane)
  move(lane, nil, 'queued')
  local state = nextState(task.state, 'queued')
  if together then
    together.rank = together.rank + 1
    state.rank = together.rank
  elseif not keepsRank or not state.rank then
    state.rank = draw(1)
  end
  if lane.ready == 0 then catchUp(lane) end
  local ttlMs = task.profile.queueTtlMs
  state.since = now
  if ttlMs and ttlMs ~= cjson.null then state.expires = laneTime(lane) + ttlMs end
  task.state = state
  local deadlineAt = deadlineOf(task)
  local entry = entryText(state.rank, task.profile.timeoutMs, state.expires, deadlineAt, 's', task.id)
  if keepsRank then
    state.returned = true
    call('ZADD', returnedKey(lane, task.priority), int(state.rank), entry)
    lane.returned = lane.returned + 1
  elseif together then
    local queue = queueKey(lane, task.priority)
    local entries = together.entries[queue] or {}
    together.entries[queue] = entries
    entries[#entries + 1] = entry
  else
    call('RPUSH', queueKey(lane, task.priority), entry)
  end
  lane.ready = lane.ready + 1
  local slot = SLOTS[task.priority]
  lane[slot] = lane[slot] + 1
  watchTimes(lane, task.id, state.expires, deadlineAt)
  saveState(task)
end
local function unready(lane, priority, count)
  local slot = SLOTS[priority]
  lane[slot] = lane[slot] - count
  lane.ready = lane.ready - count
  if lane.ready == 0 then lane.stale = 0 end
  if lane[slot] > 0 then return end
  call('DEL', queueKey(lane, priority))
  if lane.returned > 0 then
    lane.returned = lane.returned - call('ZCARD', returnedKey(lane, priority))
    call('DEL', returnedKey(lane, priority))
  end
end
local function dequeue(task)
  local state = task.state
  if not state.retired then
    local lane = task.lane
    if state.returned then
      local entry = entryText(state.rank, task.profile.timeoutMs, state.expires, deadlineOf(task), 's', task.id)
      lane.returned = lane.returned - call('ZREM', returnedKey(lane, task.priority), entry)
    else
      lane.stale = lane.stale + 1
    end
    unready(task.lane, task.priority, 1)
  end
  forgetTimes(task.lane, task.id, state.expires, deadlineOf(task))
end
local function overdue(task)
  local deadlineAt = deadlineOf(task)
  if deadlineAt and now >= deadlineAt then return 'deadline', deadlineAt end
  local expires = task.state.expires
  if expires and laneTime(task.lane) >= expires then return 'queue_ttl', wallTime(task.lane, expires) end
  return nil
end
end
local limits, freedLanes, limitNamed, isCounted, flushLimits
do
atBegin(function()
  limits, freedLanes = {}, {}
end)
local function anyLimits()
  return exists('limits')
end
function limitNamed(name, text)
  local limit = limits[name]
  if not limit then
    local running = tonumber(call('HGET', key('slots'), name)) or 0
    local number, kind, since = tonumber(text), nil, nil
    if not number then number, kind, since = string.match(text, '^(%d+) (%a+) ?(%d*)$') end
    limit = {
      name = name, concurrency = tonumber(number), shared = kind == 'shared', since = kind == 'since' and tonumber(since),
      running = running, was = running, freed = 0, back = {},
    }
    limits[name] = limit
  end
  return limit
end
local function limitsNamed(names)
  local found = {}
  for index, concurrency in ipairs(call('HMGET', key('limits'), unpack(names))) do
    if concurrency then found[#found + 1] = limitNamed(names[index], concurrency) end
  end
  return found
end
local function limitsOn(lane)
  if not lane.limits then lane.limits = anyLimits() and limitsNamed(scopeNames(lane)) or {} end
  return lane.limits
end
local function fullLimit(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if limit.running >= limit.concurrency then return limit end
  end
  return nil
end
local function openLimits(pool, action)
  local open = {}
  if not anyLimits() then return open end
  local names = { '\\n\\n', '\\n' .. action .. '\\n', pool .. '\\n\\n', pool .. '\\n' .. action .. '\\n', gateName(action, '') }
  for _, limit in ipairs(limitsNamed(names)) do
    if limit.running < limit.concurrency then open[#open + 1] = limit end
  end
  return open
end
local function standAt(lane, limit)
  lane.atLimit = limit.name
  if limit.shared then call('SADD', key('blocked'), limit.name) end
end
function isCounted(limit, startedAt)
  return not limit.since or startedAt >= limit.since
end
local function takeSlot(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if isCounted(limit, now) then limit.running = limit.running + 1 end
  end
end
local function retakeSlot(lane, startedAt)
  for _, limit in ipairs(limitsOn(lane)) do
    if not isCounted(limit, startedAt) and isCounted(limit, now) then limit.running = limit.running + 1 end
  end
end
local function freeSlot(lane, startedAt)
  local itsLimits = limitsOn(lane)
  if #itsLimits == 0 then return end
  freedLanes[lane] = (freedLanes[lane] or 0) + 1
  for _, limit in ipairs(itsLimits) do
    if isCounted(limit, startedAt) then
      limit.running = limit.running - 1
      limit.freed = limit.freed + 1
    end
  end
end
local function eachStanding(name, visit)
  for _, place in ipairs(call('SMEMBERS', standingsKey(name))) do
    local pool, action = string.match(place, '^(.*)\\n(.*)$')
    local itsKey = standingKey(name, pool, action)
    if call('EXISTS', itsKey) == 1 then visit(pool, action, itsKey) else call('SREM', standingsKey(name), place) end
  end
end
local function isOfTenant(name)
  return string.sub(name, -1) ~= '\\n'
end
local function activateFreed()
  for name, limit in pairs(limits) do
    if limit.freed > 0 and limit.running < limit.concurrency and isOfTenant(name) then
      eachStanding(name, function(_, _, itsKey)
        for _, member in ipairs(call('ZRANGE', itsKey, 0, -1)) do
          local lane = laneNumbered(tonumber(member))
          if lane.atLimit == name then
            lane.atLimit = false
            limit.back[#limit.back + 1] = lane
          end
        end
      end)
    end
  end
end
local function stirFreed(limit)
  local count = math.min(limit.freed, limit.concurrency - limit.running)
  if count <= 0 then return end
  for _, lane in ipairs(limit.back) do
    if lane.ready > 0 and not lane.atLimit then stir(lane, math.min(count, lane.ready)) end
  end
  if not isOfTenant(limit.name) then
    eachStanding(limit.name, function(pool, action) stir({ pool = pool, action = action }, count) end)
  end
end
local function stirWanted(limit)
  local wanted = key('wanted:' .. limit.name)
  for _, place in ipairs(call('SMEMBERS', wanted)) do
    local pool, action = string.match(place, '^(.*)\\n(.*)$')
    stir({ pool = pool, action = action }, limit.was - limit.running)
  end
  call('DEL', wanted)
end
local function hasSharedRoom(lane)
  for _, limit in ipairs(limitsOn(lane)) do
    if limit.shared and limit.running < limit.was then return true end
  end
  return false
end
function flushLimits()
  activateFreed()
  for name, limit in pairs(limits) do
    stirFreed(limit)
    if limit.shared and limit.running < limit.was then stirWanted(limit) end
    if limit.running ~= limit.was then call('HSET', key('slots'), name, int(limit.running)) end
  end
  for lane, count in pairs(freedLanes) do
    if lane.ready > 0 and not lane.atLimit and not fullLimit(lane) then
      stir(lane, math.min(count, lane.ready))
    elseif hasSharedRoom(lane) then
      stir(lane)
    end
  end
end
end
local ended, wakeInbox, flushWake
do
local endedIds
atBegin(function()
  endedIds = {}
end)
function ended(id)
  if exists('watched') then endedIds[#endedIds + 1] = id end
end
local function wakeIdle(idleKey, count, what)
  while count > 0 do
    local popped = call('ZPOPMIN', idleKey)
    if #popped == 0 then return count end
    if call('SPUBLISH', key('wake:' .. popped[1]), 'work\\n' .. what) > 0 then count = count - 1 end
  end
  return 0
end
function wakeInbox(worker)
  local listening = key('listening:' .. worker)
  for _, channel in ipairs(call('SMEMBERS', listening)) do call('SPUBLISH', key('wake:' .. channel), 'inbox\\n' .. worker) end
  call('DEL', listening)
end
function flushWake()
  for pool, actions in pairs(stirred) do
    call('HINCRBY', key('pool:' .. pool), 'version', '1')
    for action, count in pairs(actions) do
      local what = pool .. '\\n' .. action
      local left = wakeIdle(key('idle:' .. what), count, what)
      wakeIdle(key('idle:' .. pool .. '\\n'), left, what)
    end
  end
  if #endedIds > 0 then
    local messages = {}
    local found = {}
    for index, channels in ipairs(call('HMGET', key('watched'), unpack(endedIds))) do
      if channels then
        found[#found + 1] = endedIds[index]
        for channel in string.gmatch(channels, '%S+') do
          messages[channel] = (messages[channel] and messages[channel] .. '\\n' or '') .. endedIds[index]
        end
      end
    end
    if #found > 0 then call('HDEL', key('watched'), unpack(found)) end
    for channel, ids in pairs(messages) do call('SPUBLISH', key('wake:' .. channel), 'ended\\n' .. ids) end
  end
end
end
local note
do
local function writeNote(number, kind, taskId, attempt, actor, reason, data)
  local text = int(number)
  call('XADD', key('journal'), text .. '-0', 'at', int(now), 'type', kind, 'task', taskId or '',
    'attempt', attempt and int(attempt) or '', 'actor', actor, 'reason', reason, 'data', data)
  if taskId then call('RPUSH', key('journal:' .. taskId), text) end
end
function note(kind, taskId, attempt, actor, reason, data)
  writeNote(call('HINCRBY', NUMBERS, 'journal', 1), kind, taskId, attempt, actor, reason, data)
end
end
local leasesKey, leaseChange, leaseStart, addLease, startsAt, parseLease, leaseText, RUNNING_TAIL, runningRecord, recordExtra, endRecord
do
function leasesKey(worker)
  return key('leases:' .. worker)
end
local leaseChanges, SUCCESS_TAIL, STARTED
atBegin(function()
  leaseChanges = {}
  STARTED = string.format('%013d ', now)
  SUCCESS_TAIL = ',"errorCode":null,"errorMessage":null,"resolvedAt":' .. NOW .. '}'
end)
function leaseChange(worker)
  local change = leaseChanges[worker]
  if not change then
    change = { added = {}, removed = {}, first = nil }
    leaseChanges[worker] = change
  end
  return change
end
local LEASE_PADDING = '             '
function leaseStart(timeoutMs, leaseMs, attempt, stage)
  local timeoutAt = now + timeoutMs
  local untilAt = math.min(now + leaseMs, timeoutAt + 5000)
  if stage == 'd' then untilAt = now + leaseMs end
  return ' ' .. attempt .. ' ' .. int(untilAt) .. ' ' .. int(timeoutAt) .. ' -' .. LEASE_PADDING, untilAt
end
function addLease(change, id, kind, token, start)
  local added = change.added
  local size = #added
  added[size + 1] = id
  added[size + 2] = kind .. STARTED .. token .. start
end
function startsAt(change, untilAt)
  if not change.first or untilAt < change.first then change.first = untilAt end
end
local function removeLease(worker, id)
  local removed = leaseChange(worker).removed
  removed[#removed + 1] = id
end
function parseLease(text)
  if not text then return nil end
  local kind, startedAt, token, attempt, untilAt, timeoutAt, renewedAt =
    string.match(text, '^(%a)(%d+) (%S+) (%d+) (%d+) (%d+) (%S+)')
  return {
    token = token, startedAt = tonumber(startedAt), kind = kind, attempt = tonumber(attempt), untilAt = tonumber(untilAt),
    timeoutAt = tonumber(timeoutAt), renewedAt = tonumber(renewedAt), handle = string.match(text, '\\n.*$'),
  }
end
function leaseText(lease)
  return lease.kind .. string.format('%013d ', lease.startedAt) .. lease.token .. ' ' .. int(lease.attempt) .. ' '
    .. int(lease.untilAt) .. ' ' .. int(lease.timeoutAt) .. ' ' .. (lease.renewedAt and int(lease.renewedAt) or '-') .. LEASE_PADDING
    .. (lease.handle or '')
end
local function flushLeases()
  for worker, change in pairs(leaseChanges) do
    if #change.removed > 0 then
      call('HDEL', leasesKey(worker), unpack(change.removed))
      if exists('progress') then call('HDEL', key('progress'), unpack(change.removed)) end
      change.removed = {}
    end
    if #change.added > 0 then
      call('HSET', leasesKey(worker), unpack(change.added))
      if change.first then call('ZADD', key('leases'), 'LT', int(change.first), worker) end
      change.added = {}
      change.first = nil
    end
  end
end
RUNNING_TAIL = '}'
function runningRecord(attempt, token, workerJson, extra)
  return '{"status":"running","attempt":' .. attempt .. ',"token":"' .. token .. '","worker":' .. workerJson
    .. ',"dispatchedAt":' .. NOW .. extra .. RUNNING_TAIL
end
function recordExtra(generation, retryReason, build)
  local extra = ''
  if generation > 1 then extra = ',"generation":' .. int(generation) end
  if retryReason then extra = extra .. ',"retryReason":' .. cjson.encode(retryReason) end
  return extra .. build
end
function endRecord(record, status, tail)
  local middle = string.sub(record, 20, -#RUNNING_TAIL - 1)
  if not tail then return '{"status":"' .. status .. '"' .. middle .. SUCCESS_TAIL end
  return '{"status":"' .. status .. '"' .. middle .. tail .. ',"resolvedAt":' .. NOW .. '}'
end
local function splitToken(token)
  return string.match(token, '^(%d+%-%d+%.%d+)%.(.*)$')
end
end
local launchesKey, leaveInbox, leaveStage
do
function launchesKey(pool)
  return key('launches:' .. pool)
end
local function isUnderWay(lease)
  return lease.kind == 'd' or lease.kind == 'i'
end
local function extend(lease, leaseMs, missedMs)
  local untilAt = now + leaseMs
  if not isUnderWay(lease) then
    lease.timeoutAt = lease.timeoutAt + missedMs
    untilAt = math.min(untilAt, lease.timeoutAt + 5000)
  end
  lease.untilAt = math.max(lease.untilAt, untilAt)
  lease.renewedAt = now
end
local function enterLaunches(pool, id)
  if call('ZADD', launchesKey(pool), '0', id) == 1 then call('SADD', key('launching'), pool) end
end
local function enterInbox(worker, id, number)
  call('ZADD', inboxKey(worker.id), number, id)
  call('ZADD', key('inboxes'), 'NX', int(worker.lastBeatAt), worker.id)
  worker.inbox = 1
  worker.assigned = number
  worker.changed = true
end
function leaveInbox(worker, id)
  call('ZREM', inboxKey(worker), id)
  if call('EXISTS', inboxKey(worker)) == 0 then call('ZREM', key('inboxes'), worker) end
end
function leaveStage(kind, worker, id, lane)
  if kind == 'i' then
    leaveInbox(worker, id)
  elseif kind == 'l' then
    call('ZREM', launchesKey(lane.pool), id)
    if call('EXISTS', launchesKey(lane.pool)) == 0 then call('SREM', key('launching'), lane.pool) end
  end
end
local function rewritten(record, token, workerJson, startedAt, build)
  local attempt, worker, start, rest =
    string.match(record, '^{"status":"running","attempt":(%d+),"token":"[^"]*","worker":(.-),"dispatchedAt":(%d+)(.*)$')
  return '{"status":"running","attempt":' .. attempt .. ',"token":"' .. token .. '","worker":' .. (workerJson or worker)
    .. ',"dispatchedAt":' .. (startedAt and int(startedAt) or start) .. string.sub(rest, 1, -#RUNNING_TAIL - 1) .. build
    .. RUNNING_TAIL
end
local function startAttempt(task, worker, workerJson, leaseMs, stage)
  local build = stage == 's' and call('HGET', key('worker:' .. worker), 'build') or ''
  local state = nextState(task.state, 'running')
  state.attempt = state.attempt + 1
  task.state = state
  local token = int(draw(1)) .. '-0.' .. int(task.lane.number)
  local attempt = int(state.attempt)
  local record = runningRecord(attempt, token, workerJson, recordExtra(state.generation, state.retryReason, build))
  call('HSET', taskKey(task.id), attempt, record, 'state', stateText(state))
  local change = leaseChange(worker)
  local start, untilAt = leaseStart(task.profile.timeoutMs, leaseMs, attempt, stage)
  if stage == 'l' then enterLaunches(task.lane.pool, task.id) else startsAt(change, untilAt) end
  addLease(change, task.id, stage, token, start)
  return token
end
end
local groupKey, joinGroup
do
local function becauseOf(task, attempt, record)
  if not task then return 'unknown' end
  local status = record and statusOf(record)
  if status and status ~= 'running' then return status end
  if status == 'running' then return 'replaced' end
  return task.state.attempt < attempt and 'released' or 'unknown'
end
function groupKey(fingerprint)
  return key('group:' .. fingerprint)
end
function joinGroup(task, fingerprint, sample)
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
end
local workers, workerNamed, flushWorkers
do
local WORKER_FIELDS, REGISTERED_FIELDS = { 'lastBeatAt', 'queueDepth', 'consecutiveFailures', 'recentOutcomes', 'recentFailures', 'lastFailureAt', 'inFlight', 'loopLagMs', 'maxQuietMs', 'lastProgressAt', 'probeFailures', 'memoryBytes', 'draining', 'inbox', 'assigned', 'outlook', 'failuresBy', 'servedWell', 'policyVersion' }, { 'epoch', 'pools', 'actions', 'host', 'version', 'runtimes', 'endpoint', 'concurrency', 'registeredAt' }
atBegin(function()
  workers = {}
end)
local function workerKey(id)
  return key('worker:' .. id)
end
local function packWorker(worker)
  local numbers = { worker.lastBeatAt, worker.queueDepth, worker.consecutiveFailures, worker.recentOutcomes, worker.recentFailures, worker.lastFailureAt, worker.inFlight, worker.loopLagMs, worker.maxQuietMs, worker.lastProgressAt, worker.probeFailures, worker.memoryBytes, worker.draining, worker.inbox, worker.assigned, worker.outlook, worker.failuresBy, worker.servedWell, worker.policyVersion }
  numbers[6] = worker.lastFailureAt or -1
  return cmsgpack.pack(numbers)
end
local function freshWorker(id)
  return {
    id = id, lastBeatAt = now, queueDepth = 0, consecutiveFailures = 0, recentOutcomes = 0, recentFailures = 0,
    lastFailureAt = false, inFlight = 0, loopLagMs = 0, maxQuietMs = 0, lastProgressAt = now, probeFailures = 0, memoryBytes = 0,
    draining = 0, inbox = 0, assigned = 0, outlook = false, failuresBy = {}, servedWell = {},
    policyVersion = false,
  }
end
function workerNamed(id)
  local worker = workers[id]
  if worker ~= nil then return worker end
  local values = call('HMGET', workerKey(id), 'epoch', 'numbers', 'claim', 'build', 'registeredAt')
  local was = values[2] and cmsgpack.unpack(values[2])
  worker = was and {
    id = id, epoch = values[1], claim = values[3], wasClaim = values[3], lastBeatAt = was[1], queueDepth = was[2], consecutiveFailures = was[3], recentOutcomes = was[4], recentFailures = was[5], lastFailureAt = was[6], inFlight = was[7], loopLagMs = was[8], maxQuietMs = was[9], lastProgressAt = was[10], probeFailures = was[11], memoryBytes = was[12], draining = was[13], inbox = was[14], assigned = was[15], outlook = was[16], failuresBy = was[17], servedWell = was[18], policyVersion = was[19], changed = false, roster = false,
    build = values[4] or '', registeredAt = tonumber(values[5]),
  }
  if worker then
    if worker.lastFailureAt == -1 then worker.lastFailureAt = false end
    worker.failuresBy, worker.servedWell = worker.failuresBy or {}, worker.servedWell or {}
    worker.policyVersion = worker.policyVersion or false
  end
  workers[id] = worker
  return worker
end
local function inboxDepth(worker)
  return worker.inbox > 0 and call('ZCARD', inboxKey(worker.id)) or 0
end
function flushWorkers()
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
local function rosterOf(worker)
  if not worker.roster then
    local values = call('HMGET', workerKey(worker.id), 'pools', 'actions', 'host', 'version')
    worker.roster = { pools = setOf(values[1]), actions = setOf(values[2]), host = values[3], version = values[4] }
  end
  return worker.roster
end
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
end
local orderKey
do
local CHUNK = 256
function orderKey(chunk)
  return key('order:' .. int(chunk))
end
local function seqOf(text)
  return tonumber((string.match(text, '^{"seq":(%d+),"acceptedAt":(%d+),"lane":(%d+)')))
end
local function textOf(id)
  return call('HGET', taskKey(id), 'task')
end
local function placeAfter(ids, seq)
  local low, high = 1, #ids + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if seqOf(textOf(ids[middle])) <= seq then low = middle + 1 else high = middle end
  end
  return low
end
end
local dedupe
do
local TICKET = 10
local TICKET_MS_MAX = 600000
local BAR_MS = 86400000
dedupe = {}
local CAN_COME_BACK = { dead = true, discarded = true }
local LIVING = { queued = true, waiting = true, running = true }
function dedupe.name(tenant, action, dedupeKey)
  return tenant .. '\\n' .. action .. '\\n' .. dedupeKey
end
function dedupe.bar(ticket)
  call('SET', key('barred:' .. ticket), '1', 'PX', BAR_MS)
end
function dedupe.isHeldBy(task)
  local untilAt = task.head.keyUntil
  if untilAt then return now < untilAt end
  return LIVING[task.state.status] and not task.state.keyLost
end
function dedupe.life(dedupeMs)
  return dedupeMs and ',"keyUntil":' .. int(math.min(now + dedupeMs, 9007199254740991)) or ''
end
function dedupe.holder(name, dedupeKey)
  if string.byte(dedupeKey) ~= TICKET then
    local id = call('HGET', key('dedupe'), name)
    local task = id and loadTask(id)
    return task and dedupe.isHeldBy(task) and task
  end
  local takenAt, ticket = string.match(dedupeKey, '^\\n(%d+) (%S+)$')
  local isGood = ticket and now - tonumber(takenAt) < TICKET_MS_MAX and call('EXISTS', key('barred:' .. ticket)) == 0
  return not isGood and '\\r'
end
function dedupe.lose(id)
  local task = loadTask(id)
  if not task or not CAN_COME_BACK[task.state.status] or task.head.keyUntil then return end
  task.state.keyLost = true
  saveState(task)
end
function dedupe.keep(name, dedupeKey, id)
  local ticket = string.match(dedupeKey, '^\\n%d+ (%S+)$')
  if ticket then
    call('HSET', key('tickets'), id, ticket)
    return
  end
  local before = call('HGET', key('dedupe'), name)
  call('HSET', key('dedupe'), name, id)
  if before then dedupe.lose(before) end
end
function dedupe.drop(name, id)
  local ticket = call('HGET', key('tickets'), id)
  if not ticket then
    if call('HGET', key('dedupe'), name) == id then call('HDEL', key('dedupe'), name) end
    return
  end
  call('HDEL', key('tickets'), id)
  dedupe.bar(ticket)
  call('HSET', key('freeing'), name, ticket .. ' ' .. id)
end
function dedupe.differences(text, action, tenant, rest)
  local lane = string.match(text, '^{"seq":%d+,"acceptedAt":%d+,"lane":(%d+)')
  local names = call('HMGET', key('lane:' .. lane), 'action', 'tenant')
  local isSamePayload = part(text, (string.find(text, '\\n', 1, true))) == part(rest, (string.find(rest, '\\n', 1, true)))
  return (isSamePayload and '' or 'p')
    .. (names[1] == action and '' or 'a')
    .. (names[2] == tenant and '' or 't')
end
end
local found, looked, repairs, find, isTired, readTask, inspected
do
local ANSWER_HEAD = 3
local FINDINGS_MAX = 200
atBegin(function()
  found, looked, repairs = { '', '0', '' }, 0, 0
end)
local WORDS = { task = 'task \\'%s\\'', worker = 'worker \\'%s\\'', lane = 'lane of %s', limit = 'limit of %s', key = 'key \\'%s\\' of action \\'%s\\' and tenant \\'%s\\'', group = 'failure group \\'%s\\'', store = 'store' }
local function subjectText(kind, name)
  if kind == 'key' then
    local tenant, action, dedupeKey = string.match(name, '^(.-)\\n(.-)\\n(.*)$')
    return format(WORDS.key, dedupeKey, action, tenant)
  end
  if kind ~= 'lane' and kind ~= 'limit' then return format(WORDS[kind], name) end
  local parts = {}
  local names = { 'pool', 'action', 'tenant' }
  local at = 0
  for value in string.gmatch(name .. '\\n', '(.-)\\n') do
    at = at + 1
    if value ~= '' and value ~= '\\r' then parts[#parts + 1] = names[at] .. " '" .. value .. "'" end
  end
  return format(WORDS[kind], #parts == 0 and 'everything' or table.concat(parts, ', '))
end
function find(kind, subject, name, was, expected, repair)
  local isRepaired = ARGV[3] == '1' and repair and repair() ~= false
  for _, text in ipairs({ kind, subject, name, was, expected, isRepaired and '1' or '' }) do found[#found + 1] = text end
  if not isRepaired then return end
  repairs = repairs + 1
  note('store.repaired', subject == 'task' and name, nil, ARGV[4], ARGV[5], '{"kind":' .. cjson.encode(kind) .. ',"subject":'
    .. cjson.encode(subjectText(subject, name)) .. ',"found":' .. cjson.encode(was) .. ',"expected":' .. cjson.encode(expected) .. '}')
end
function isTired()
  return looked >= tonumber(ARGV[6]) or #found - ANSWER_HEAD >= FINDINGS_MAX * 6
end
function readTask(id)
  local isFine, task = pcall(loadTask, id)
  if not isFine or (task and not task.lane.pool) then return false end
  return task or nil
end
function inspected(goOnAt, unchecked)
  found[1], found[2], found[3] = goOnAt, int(looked), unchecked or ''
  return found, repairs > 0
end
end
redis.register_function{ function_name = 'reprise_beb00d237f95_inspect_counts', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local TASKS_MAX = 20000
local BYTES_MAX = 67108864
local LANES_MAX = 20000
local STATUSES = { 'queued', 'waiting', 'running', 'succeeded', 'dead', 'discarded', 'cancelled' }
local READY = { 'ready', unpack({ 'p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9' }) }
local recounts, starts = {}, {}
local function recountOf(number)
  local recount = recounts[number]
  if not recount then
    recount = { bytes = 0 }
    for _, name in ipairs(STATUSES) do recount[name] = 0 end
    for _, name in ipairs(READY) do recount[name] = 0 end
    recounts[number] = recount
  end
  return recount
end
local function started(lane, id, attempt)
  local record = call('HGET', taskKey(id), attempt)
  local startedAt = record and select(5, string.match(record, '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)'))
  for _, tenant in ipairs({ '', lane.tenant }) do
    local name = gateName(lane.action, tenant)
    local list = starts[name] or {}
    starts[name] = list
    list[#list + 1] = tonumber(startedAt) or now
  end
end
local function countTask(id)
  local values = call('HMGET', taskKey(id), 'task', 'state', '1')
  if not values[1] then return 0 end
  local _, _, lane = string.match(values[1], '^{"seq":(%d+),"acceptedAt":(%d+),"lane":(%d+)')
  if not lane then return 0 end
  local recount = recountOf(tonumber(lane))
  local status, isRetired = 'queued', false
  if values[2] then
    status = statusOf(values[2])
    isRetired = string.find(values[2], '"retired":true', 1, true)
  elseif values[3] then
    status = statusOf(values[3])
  end
  if not status or not recount[status] then return 0 end
  recount[status] = recount[status] + 1
  recount.bytes = recount.bytes + payloadBytes(values[1])
  if status == 'queued' and not isRetired then
    local slot = SLOTS[tonumber(string.match(values[1], '^[^\\n]*"priority":(%d)')) or 5]
    recount.ready = recount.ready + 1
    recount[slot] = recount[slot] + 1
  elseif status == 'running' then
    started(laneNumbered(tonumber(lane)), id, values[2] and string.match(values[2], '"attempt":(%d+)') or '1')
  end
  return #values[1]
end
local function countTasks()
  local chunks = call('ZRANGE', key('order'), 0, -1)
  local tasks, bytes = 0, 0
  for _, chunk in ipairs(chunks) do
    tasks = tasks + call('LLEN', key('order:' .. chunk))
    if tasks > TASKS_MAX then return false end
  end
  for _, chunk in ipairs(chunks) do
    for _, id in ipairs(call('LRANGE', key('order:' .. chunk), 0, -1)) do
      bytes = bytes + countTask(id)
      if bytes > BYTES_MAX then return false end
      looked = looked + 1
    end
  end
  return true
end
local function countLeases()
  local running, count = {}, 0
  local function add(token)
    local lane = tonumber(string.match(token or '', '%.(%d+)$'))
    if lane then running[lane] = (running[lane] or 0) + 1 end
    count = count + 1
  end
  for _, worker in ipairs(call('ZRANGE', key('leases'), 0, -1)) do
    if count + call('HLEN', leasesKey(worker)) > TASKS_MAX then return nil end
    for _, lease in ipairs(call('HVALS', leasesKey(worker))) do
      if part(lease, 1, 1) ~= 'l' then add(string.match(lease, '^%S+ (%S+)')) end
    end
  end
  for _, pool in ipairs(call('SMEMBERS', key('launching'))) do
    if count + call('ZCARD', launchesKey(pool)) > TASKS_MAX then return nil end
    for _, id in ipairs(call('ZRANGE', launchesKey(pool), 0, -1)) do
      local state = call('HGET', taskKey(id), 'state')
      local record = state and call('HGET', taskKey(id), string.match(state, '"attempt":(%d+)') or '1')
      add(select(3, string.match(record or '', '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)')))
    end
  end
  return running
end
local function recountByIndexes(lane, running)
  local recount = { running = running and (running[lane.number] or 0) }
  if lane.stale > 0 then return recount end
  recount.ready = 0
  for priority = 0, 9 do
    local size = call('LLEN', queueKey(lane, priority)) + call('ZCARD', returnedKey(lane, priority))
    recount[SLOTS[priority]] = size
    recount.ready = recount.ready + size
  end
  if call('EXISTS', key('ttl:' .. int(lane.number)), key('deadlines')) == 0 then recount.queued = recount.ready end
  return recount
end
local function laneName(lane)
  return lane.pool .. '\\n' .. lane.action .. '\\n' .. lane.tenant
end
local function sizeOfReturned(lane)
  local size = 0
  for priority = 0, 9 do size = size + call('ZCARD', returnedKey(lane, priority)) end
  return size
end
local function inspectNumbers(lane, recount)
  local names = {}
  for _, list in ipairs({ STATUSES, READY }) do
    for _, name in ipairs(list) do
      if recount[name] and lane[name] ~= recount[name] then names[#names + 1] = name end
    end
  end
  local returned = sizeOfReturned(lane)
  if lane.returned ~= returned then names[#names + 1] = 'returned' end
  if #names == 0 then return end
  local was, expected = {}, {}
  for index, name in ipairs(names) do
    was[index] = name .. ' ' .. int(lane[name])
    expected[index] = name .. ' ' .. int(name == 'returned' and returned or recount[name])
  end
  find('count', 'lane', laneName(lane), table.concat(was, ', '), table.concat(expected, ', '), function()
    local hadNone = lane.ready == 0
    for _, name in ipairs(names) do lane[name] = name == 'returned' and returned or recount[name] end
    if lane.ready > 0 then
      if hadNone then catchUp(lane) end
      stir(lane, lane.ready)
    end
  end)
end
local function inspectBytes(lane, expected)
  local laneKey = key('lane:' .. int(lane.number))
  local kept = tonumber(call('HGET', laneKey, 'bytes')) or 0
  if kept == expected then return end
  find('count', 'lane', laneName(lane), 'bytes ' .. int(kept), 'bytes ' .. int(expected), function()
    call('HSET', laneKey, 'bytes', int(expected))
  end)
end
local function inspectListing(lane)
  local member = laneMember(lane.number)
  local missing = {}
  local isClaimable = lane.ready > 0 and not lane.heldSince
  if isClaimable and not call('ZSCORE', listKey(lane, lane.atLimit), member) then missing[#missing + 1] = 'claimable' end
  if isClaimable and lane.atLimit and call('SISMEMBER', standingsKey(lane.atLimit), lane.pool .. '\\n' .. lane.action) == 0 then
    missing[#missing + 1] = 'parked'
  end
  if lane.queued > 0 and not call('ZSCORE', key('stocked'), lane.action .. '\\n' .. member) and not call('ZSCORE', key('stocked'), member) then
    missing[#missing + 1] = 'stocked'
  end
  if lane.running > 0 and call('SISMEMBER', key('busy'), member) == 0 then missing[#missing + 1] = 'busy' end
  if call('SISMEMBER', key('actions:' .. lane.pool), lane.action) == 0 then missing[#missing + 1] = 'named' end
  if #missing == 0 then return end
  find('lane_unlisted', 'lane', laneName(lane), 'not listed as ' .. table.concat(missing, ', '), 'listed', function()
    if isClaimable then
      call('ZADD', listKey(lane, lane.atLimit), int(lane.turn), member)
      if lane.atLimit then call('SADD', standingsKey(lane.atLimit), lane.pool .. '\\n' .. lane.action) end
    end
    if lane.queued > 0 then call('ZADD', key('stocked'), '0', lane.action .. '\\n' .. member) end
    if lane.running > 0 then call('SADD', key('busy'), member) end
    call('SADD', key('actions:' .. lane.pool), lane.action)
    stir(lane, lane.ready)
  end)
end
local function runningUnder(limit, isCounted)
  if limit.since then
    if not isCounted then return nil end
    local running = 0
    for _, startedAt in ipairs(starts[limit.name] or {}) do
      if startedAt >= limit.since then running = running + 1 end
    end
    return running
  end
  local pool, action, tenant = string.match(limit.name, '^(.*)\\n(.*)\\n(.*)$')
  local running = 0
  for _, lane in ipairs(laneList) do
    local isCovered = (pool == '' or pool == lane.pool) and (action == '' or action == lane.action) and (tenant == '' or tenant == lane.tenant)
    if isCovered then
      local recount = recounts[lane.number]
      running = running + (isCounted and (recount and recount.running or 0) or lane.running)
    end
  end
  return running
end
local function inspectSlots(isCounted)
  local limits = call('HGETALL', key('limits'))
  for at = 1, #limits, 2 do
    local limit = limitNamed(limits[at], limits[at + 1])
    local running = runningUnder(limit, isCounted)
    looked = looked + 1
    if running and running ~= limit.running then
      find('slots', 'limit', limit.name, int(limit.running) .. ' in use', int(running) .. ' in use', function()
        limit.freed = math.max(limit.running - running, 0)
        limit.running = running
      end)
    end
  end
end
local isCounted = countTasks()
local last = tonumber(call('HGET', NUMBERS, 'lanes')) or 0
local unchecked = not isCounted and 'Tasks were not recounted, because there are too many for one step: of the counts of lanes, only those of claimable and running tasks were looked at.' or ''
if last > LANES_MAX then return inspected('', 'Counts and slots were not looked at: there are too many lanes for one step.') end
local running = not isCounted and countLeases()
local backlog = 0
for number = 1, last do
  if call('EXISTS', key('lane:' .. int(number))) == 1 then
    local lane = laneNumbered(number)
    looked = looked + 1
    inspectListing(lane)
    local recount = isCounted and recountOf(number) or recountByIndexes(lane, running)
    backlog = backlog + (recount.queued or lane.queued) + (recount.waiting or lane.waiting)
    inspectNumbers(lane, recount)
    if isCounted then inspectBytes(lane, recount.bytes) end
  end
end
inspectSlots(isCounted)
local keptBacklog = tonumber(call('HGET', NUMBERS, 'backlog')) or 0
if keptBacklog ~= backlog then
  find('count', 'store', '', 'backlog ' .. int(keptBacklog), 'backlog ' .. int(backlog), function()
    call('HSET', NUMBERS, 'backlog', int(backlog))
  end)
end
if ARGV[3] == '1' then
  flushLimits()
  flushLanes()
  flushWake()
end
return inspected('', unchecked)
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_beb00d237f95_inspect_delays', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local limit = tonumber(ARGV[6])
local function poolsFrom(first)
  local names, seen = {}, {}
  for _, lane in ipairs(call('HKEYS', key('lanes'))) do
    local pool = string.match(lane, '^[^\\n]*')
    if not seen[pool] and pool >= first then names[#names + 1] = pool end
    seen[pool] = true
  end
  table.sort(names)
  return names
end
local function isRight(pool, member, dueAt)
  local task = readTask(string.sub(member, 17))
  return task and task.state.status == 'waiting' and task.state.dueAt == dueAt and task.lane.pool == pool
    and waitingMember(task) == member
end
local function walk()
  local from = tonumber(ARGV[8])
  for _, pool in ipairs(poolsFrom(ARGV[7])) do
    if pool ~= ARGV[7] then from = 0 end
    local delays = key('waiting:' .. pool)
    local wanted = limit - looked
    if wanted <= 0 then return int(from) .. ' ' .. pool end
    local page = call('ZRANGE', delays, int(from), int(from + wanted - 1), 'WITHSCORES')
    local gone = 0
    for at = 1, #page, 2 do
      looked = looked + 1
      local member, dueAt = page[at], tonumber(page[at + 1])
      if not isRight(pool, member, dueAt) then
        find('delay_entry_extra', 'task', string.sub(member, 17), 'an entry due at ' .. int(dueAt), 'no entry', function()
          gone = gone + call('ZREM', delays, member)
        end)
      end
    end
    if #page == wanted * 2 then return int(from + wanted - gone) .. ' ' .. pool end
  end
  return ''
end
return inspected(walk())
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_beb00d237f95_inspect_expiries', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local limit = tonumber(ARGV[6])
local LISTS_MAX = 2000
local function isRight(number, id)
  local task = readTask(id)
  if not task or task.state.status ~= 'queued' then return false end
  if number == 0 then return deadlineOf(task) end
  return task.lane.number == number and task.state.expires
end
local function inspectList(number, list, from)
  local ids = call('ZRANGE', list, int(from), int(from + limit - looked - 1))
  local gone = 0
  for _, id in ipairs(ids) do
    looked = looked + 1
    if not isRight(number, id) then
      find('expiry_extra', 'task', id, 'noted for the sweep', 'not noted', function() gone = gone + call('ZREM', list, id) end)
    end
  end
  return #ids, gone
end
local function walk()
  local number, from = tonumber(ARGV[7]), tonumber(ARGV[8])
  local last = tonumber(call('HGET', NUMBERS, 'lanes')) or 0
  local stop = number + LISTS_MAX
  while number <= last do
    local wanted = limit - looked
    if wanted <= 0 or number >= stop then return int(number) .. ' ' .. int(from) end
    local list = key(number == 0 and 'deadlines' or 'ttl:' .. int(number))
    local count, gone = inspectList(number, list, from)
    if count == wanted then return int(number) .. ' ' .. int(from + count - gone) end
    number, from = number + 1, 0
  end
  return ''
end
return inspected(walk())
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_beb00d237f95_inspect_groups', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local limit = tonumber(ARGV[6])
local function inspectList(list, fingerprint, from)
  local ids = call('ZRANGE', list, int(from), int(from + limit - looked - 1))
  local gone = 0
  for _, id in ipairs(ids) do
    looked = looked + 1
    local task = readTask(id)
    local isDead = task and task.state.status == 'dead'
    if not isDead or (fingerprint and task.state.fingerprint ~= fingerprint) then
      find('group_entry_extra', 'task', id, fingerprint and "an entry in group '" .. fingerprint .. "'" or 'an entry among the dead letters',
        'no entry', function() gone = gone + call('ZREM', list, id) end)
    end
  end
  return #ids, gone
end
local function inspectListing(member, fingerprint)
  if call('EXISTS', key('dead:' .. fingerprint)) == 1 then return false end
  find('group_count', 'group', fingerprint, 'listed', 'not listed: it has no dead letters', function() call('ZREM', key('groups'), member) end)
  return ARGV[3] == '1'
end
local function walk()
  local number, from = tonumber(ARGV[7]), tonumber(ARGV[8])
  while true do
    local list, fingerprint, member = key('dead'), nil, nil
    if number > 0 then
      member = call('ZRANGE', key('groups'), int(number - 1), int(number - 1))[1]
      if not member then return '' end
      fingerprint = string.sub(member, 17)
      list = key('dead:' .. fingerprint)
    end
    local wanted = limit - looked
    if wanted <= 0 then return int(number) .. ' ' .. int(from) end
    local count, gone = inspectList(list, fingerprint, from)
    if count == wanted then return int(number) .. ' ' .. int(from + count - gone) end
    if not (member and inspectListing(member, fingerprint)) then number = number + 1 end
    from = 0
  end
end
return inspected(walk())
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_beb00d237f95_inspect_keys', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local reply = call('HSCAN', key('dedupe'), ARGV[7], 'COUNT', ARGV[6])
local page = reply[2]
for at = 1, #page, 2 do
  looked = looked + 1
  local name, holder = page[at], page[at + 1]
  local task = readTask(holder)
  local itsKey = task and task.head.dedupeKey and dedupe.name(task.lane.tenant, task.lane.action, task.head.dedupeKey)
  if itsKey ~= name then
    find('key_extra', 'key', name, format(task and 'held by task \\'%s\\'' or "held by a task that is gone '%s'", holder), 'held by nobody',
      function() call('HDEL', key('dedupe'), name) end)
  end
end
return inspected(reply[1] == '0' and '' or reply[1])
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_beb00d237f95_inspect_leases', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local function workersAfter(last)
  local names, seen = {}, {}
  for _, list in ipairs({ 'workers', 'leases', 'inboxes' }) do
    for _, name in ipairs(call('ZRANGE', key(list), 0, -1)) do
      if not seen[name] and name > last then names[#names + 1] = name end
      seen[name] = true
    end
  end
  table.sort(names)
  return names
end
local function isRight(worker, id, lease)
  local task = lease and readTask(id)
  if not task or task.state.status ~= 'running' or task.state.attempt ~= lease.attempt then return false, task end
  local record = call('HGET', taskKey(id), int(lease.attempt))
  local status, _, token, workerJson = string.match(record or '', '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)')
  return status == 'running' and token == lease.token and cjson.decode('[' .. workerJson .. ']')[1] == worker, task
end
local function openInbox(worker)
  local known = workerNamed(worker)
  wakeInbox(worker)
  call('ZADD', key('inboxes'), 'NX', known and int(known.lastBeatAt) or '0', worker)
  if not known then return end
  known.inbox = 1
  known.changed = true
end
local function inspectStage(worker, id, lease, task)
  if lease.kind == 'i' and not call('ZSCORE', inboxKey(worker), id) then
    find('inbox_entry_missing', 'task', id, 'no entry', "an entry in the inbox of worker '" .. worker .. "'", function()
      call('ZADD', inboxKey(worker), int(draw(1)), id)
      openInbox(worker)
    end)
  elseif lease.kind == 'l'
    and not (call('ZSCORE', launchesKey(task.lane.pool), id) and call('SISMEMBER', key('launching'), task.lane.pool) == 1) then
    find('launch_entry_missing', 'task', id, 'no entry', "an entry among the launches of pool '" .. task.lane.pool .. "'", function()
      call('ZADD', launchesKey(task.lane.pool), '0', id)
      call('SADD', key('launching'), task.lane.pool)
    end)
  end
end
local function inspectInbox(worker, kinds)
  local ids = call('ZRANGE', inboxKey(worker), 0, -1)
  for _, id in ipairs(ids) do
    if kinds[id] ~= 'i' then
      find('inbox_entry_extra', 'task', id, "an entry in the inbox of worker '" .. worker .. "'", 'no entry', function()
        leaveInbox(worker, id)
      end)
    end
  end
  local known = workerNamed(worker)
  if #ids > 0 and ((known and known.inbox == 0) or not call('ZSCORE', key('inboxes'), worker)) then
    find('inbox_entry_missing', 'worker', worker, 'an inbox said to be empty', int(#ids) .. ' in it', function() openInbox(worker) end)
  end
end
local function inspectWorker(worker)
  local leases = call('HGETALL', leasesKey(worker))
  local kinds = {}
  local first
  for at = 1, #leases, 2 do
    looked = looked + 1
    local id, lease = leases[at], parseLease(leases[at + 1])
    local right, task = isRight(worker, id, lease and lease.attempt and lease)
    if right then
      kinds[id] = lease.kind
      if lease.kind ~= 'l' and (not first or lease.untilAt < first) then first = lease.untilAt end
      inspectStage(worker, id, lease, task)
    else
      find('lease_extra', 'task', id, "a lease of worker '" .. worker .. "'", 'no lease', function()
        call('HDEL', leasesKey(worker), id)
        if lease and task then leaveStage(lease.kind, worker, id, task.lane) end
      end)
    end
  end
  inspectInbox(worker, kinds)
  local watched = tonumber(call('ZSCORE', key('leases'), worker))
  if first and (not watched or watched > first) then
    find('lease_unwatched', 'worker', worker, 'not looked at', 'looked at from ' .. int(first) .. ' on', function()
      call('ZADD', key('leases'), 'LT', int(first), worker)
    end)
  end
end
local function inspectLaunches(pool)
  for _, id in ipairs(call('ZRANGE', launchesKey(pool), 0, -1)) do
    looked = looked + 1
    local task = readTask(id)
    local record = task and call('HGET', taskKey(id), int(task.state.attempt))
    local _, _, _, workerJson = string.match(record or '', '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)')
    local worker = workerJson and workerJson ~= 'null' and cjson.decode('[' .. workerJson .. ']')[1]
    local lease = worker and parseLease(call('HGET', leasesKey(worker), id))
    if not (lease and lease.kind == 'l' and task.lane.pool == pool and isRight(worker, id, lease)) then
      find('launch_entry_extra', 'task', id, "an entry among the launches of pool '" .. pool .. "'", 'no entry', function()
        leaveStage('l', '', id, { pool = pool })
      end)
    end
  end
end
local function walk()
  local last = ARGV[7]
  for _, worker in ipairs(workersAfter(last)) do
    if isTired() then return last end
    looked = looked + 1
    inspectWorker(worker)
    last = worker
  end
  for _, pool in ipairs(call('SMEMBERS', key('launching'))) do inspectLaunches(pool) end
  return ''
end
local goOnAt = walk()
flushWorkers()
return inspected(goOnAt)
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_beb00d237f95_inspect_queues', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local WHOLE_MAX = 5000
local SOURCES = 20
local limit = tonumber(ARGV[6])
local function sourceOf(lane, number)
  if number < 10 then return queueKey(lane, number), true end
  return returnedKey(lane, number - 10), false
end
local function sizeOf(itsKey, isList)
  return call(isList and 'LLEN' or 'ZCARD', itsKey)
end
local function remove(lane, itsKey, isList, entry, isSecond)
  if isList then
    call('LREM', itsKey, isSecond and -1 or 1, entry)
  else
    lane.returned = lane.returned - call('ZREM', itsKey, entry)
  end
end
local function isRight(lane, priority, isList, rank, id)
  local values = call('HMGET', taskKey(id), 'task', 'state', '1')
  if not values[1] then return false, false end
  local seq, _, laneNumber = string.match(values[1], '^{"seq":(%d+),"acceptedAt":(%d+),"lane":(%d+)')
  local isHome = tonumber(laneNumber) == lane.number and (tonumber(string.match(values[1], '^[^\\n]*"priority":(%d)')) or 5) == priority
  if not values[2] then
    local isQueued = not values[3]
    return isQueued and isHome and isList and seq == rank, isQueued
  end
  local isFine, state = pcall(cjson.decode, values[2])
  if not isFine then return false, false end
  local isQueued = state.status == 'queued'
  isQueued = isQueued and not state.retired
  return isQueued and isHome and state.rank == tonumber(rank) and (not state.returned) == isList, isQueued
end
local function inspectEntries(lane, number, from, to, seen, stale)
  local itsKey, isList = sourceOf(lane, number)
  for _, entry in ipairs(call(isList and 'LRANGE' or 'ZRANGE', itsKey, from, to)) do
    looked = looked + 1
    local rank, _, _, _, _, id = parseEntry(entry)
    local right, isQueued = false, false
    if id then right, isQueued = isRight(lane, number % 10, isList, rank, id) end
    if right and seen[id] then
      find('queue_entry_twice', 'task', id, 'a second entry of rank ' .. rank, 'one entry', function()
        remove(lane, itsKey, isList, entry, true)
      end)
    elseif right then
      seen[id] = true
    else
      stale[#stale + 1] = { key = itsKey, isList = isList, entry = entry, id = id, rank = rank, isQueued = isQueued }
    end
  end
end
local function inspectStale(lane, stale, isWhole)
  if lane.stale == 0 then
    for _, item in ipairs(stale) do
      local name = item.id or ''
      find(item.isQueued and 'queue_entry_twice' or 'queue_entry_extra', 'task', name, 'an entry of rank ' .. (item.rank or '?'),
        item.isQueued and 'one entry' or 'no entry', function() remove(lane, item.key, item.isList, item.entry) end)
    end
  elseif isWhole and #stale > lane.stale then
    find('queue_entry_extra', 'lane', lane.pool .. '\\n' .. lane.action .. '\\n' .. lane.tenant,
      int(#stale) .. ' entries of tasks that are not queued', 'at most ' .. int(lane.stale), function() lane.stale = #stale end)
  end
end
local function inspectWhole(lane)
  local seen, stale = {}, {}
  for number = 0, SOURCES - 1 do inspectEntries(lane, number, 0, -1, seen, stale) end
  inspectStale(lane, stale, true)
end
local function inspectPart(lane, number, from)
  local seen, stale = {}, {}
  local itsKey, isList = sourceOf(lane, number)
  local before = sizeOf(itsKey, isList)
  inspectEntries(lane, number, from, from + limit - 1, seen, stale)
  inspectStale(lane, stale, false)
  local after = sizeOf(itsKey, isList)
  if from + limit < before then return int(number) .. ' ' .. int(from + limit - (before - after)) end
  return number < SOURCES - 1 and int(number + 1) .. ' 0' or nil
end
local function walk()
  local number, source, from = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
  local last = tonumber(call('HGET', NUMBERS, 'lanes')) or 0
  while number <= last do
    if isTired() then return int(number) .. ' 0 0' end
    if call('EXISTS', key('lane:' .. int(number))) == 1 then
      local lane = laneNumbered(number)
      local size = 0
      for at = 0, SOURCES - 1 do size = size + sizeOf(sourceOf(lane, at)) end
      looked = looked + 1
      if size > WHOLE_MAX or source > 0 or from > 0 then
        local goOnAt = inspectPart(lane, source, from)
        if goOnAt then return int(number) .. ' ' .. goOnAt end
      elseif size > 0 then
        inspectWhole(lane)
      end
    end
    number, source, from = number + 1, 0, 0
  end
  return ''
end
local goOnAt = walk()
if ARGV[3] == '1' then flushLanes() end
return inspected(goOnAt)
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }
redis.register_function{ function_name = 'reprise_beb00d237f95_inspect_tasks', flags = {'allow-oom'}, callback = function(keys, args)
begin(keys, args)
local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
local PAGE = 200
local SEARCHES_MAX = 20
local searches = 0
local pages = {}
local function rankOf(entry)
  return entry and tonumber((parseEntry(entry))) or 0
end
local function pageAt(queue, rank)
  local low, high = 0, call('LLEN', queue)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if rankOf(call('LINDEX', queue, middle)) < rank then low = middle + 1 else high = middle end
  end
  local texts = call('LRANGE', queue, low, low + PAGE - 1)
  local page = { low = rank, high = rankOf(texts[#texts]), entries = {} }
  for _, text in ipairs(texts) do page.entries[text] = true end
  return page
end
local function isInList(queue, entry, rank)
  local page = pages[queue]
  if not page or rank < page.low or rank > page.high then
    page = pageAt(queue, rank)
    pages[queue] = page
  end
  if page.entries[entry] then return true end
  searches = searches + 1
  return call('LPOS', queue, entry) and true or false
end
local function entryOf(task)
  local state, timeoutMs, deadlineAt = task.state, task.profile.timeoutMs, deadlineOf(task)
  if task.stateText then return entryText(state.rank, timeoutMs, state.expires, deadlineAt, 's', task.id) end
  if state.expires or deadlineAt or timeoutMs > PLAIN_TIMEOUT_MAX then
    return entryText(state.rank, timeoutMs, state.expires, deadlineAt, 'p', task.id)
  end
  return plainEntry(int(state.rank), plainTimeout(timeoutMs), task.id)
end
local function enqueueAgain(task)
  local state, lane = task.state, task.lane
  if not state.rank then state.rank = draw(1) end
  state.returned = true
  local entry = entryText(state.rank, task.profile.timeoutMs, state.expires, deadlineOf(task), 's', task.id)
  lane.returned = lane.returned + call('ZADD', returnedKey(lane, task.priority), int(state.rank), entry)
  saveState(task)
  stir(lane)
end
local function inspectQueued(task)
  local state, lane = task.state, task.lane
  if not state.retired then
    local isThere = false
    if state.rank then
      local entry = entryOf(task)
      if state.returned then
        isThere = call('ZSCORE', returnedKey(lane, task.priority), entry)
      else
        isThere = isInList(queueKey(lane, task.priority), entry, state.rank)
      end
    end
    if not isThere then
      find('queue_entry_missing', 'task', task.id, 'no entry', 'an entry in its lane', function() enqueueAgain(task) end)
    end
  end
  local deadlineAt = deadlineOf(task)
  local hasTtl = not state.expires or (tonumber(call('ZSCORE', key('ttl:' .. int(lane.number)), task.id)) == state.expires
    and call('ZSCORE', key('ttl'), laneMember(lane.number)))
  if not hasTtl or (deadlineAt and tonumber(call('ZSCORE', key('deadlines'), task.id)) ~= deadlineAt) then
    find('expiry_missing', 'task', task.id, 'not noted', 'noted for the sweep', function()
      watchTimes(lane, task.id, state.expires, deadlineAt)
    end)
  end
end
local function inspectWaiting(task)
  local delays, dueAt = key('waiting:' .. task.lane.pool), task.state.dueAt
  local at = tonumber(call('ZSCORE', delays, waitingMember(task)))
  if at and at == dueAt then return end
  find('delay_entry_missing', 'task', task.id, at and 'an entry due at ' .. int(at) or 'no entry',
    'an entry due at ' .. (dueAt and int(dueAt) or 'any time'), function()
      call('ZADD', delays, int(dueAt or now), waitingMember(task))
      if not dueAt then
        task.state.dueAt = now
        saveState(task)
      end
      stir(task.lane)
    end)
end
local function beginAgain(task, record)
  move(task.lane, 'running', nil)
  if not record then task.state.attempt = math.max(task.state.attempt - 1, 0) end
  enqueue(task, false)
  stir(task.lane)
end
local function inspectRunning(task)
  local attempt = int(task.state.attempt)
  local record = call('HGET', taskKey(task.id), attempt)
  local status, _, token, workerJson, startedAt = string.match(record or '', '^{"status":"(%a+)","attempt":(%d+),"token":"([^"]*)","worker":(.-),"dispatchedAt":(%d+)')
  if status ~= 'running' or workerJson == 'null' then
    find('lease_missing', 'task', task.id, 'no running attempt ' .. attempt, 'an attempt ' .. attempt .. ' under a lease',
      function() beginAgain(task, record) end)
    return
  end
  local worker = cjson.decode('[' .. workerJson .. ']')[1]
  local lease = parseLease(call('HGET', leasesKey(worker), task.id))
  if lease and lease.token == token and lease.attempt == task.state.attempt then return end
  find('lease_missing', 'task', task.id, lease and 'a lease under another token' or 'no lease', "a lease of worker '" .. worker .. "'",
    function()
      call('HSET', leasesKey(worker), task.id, leaseText({
        kind = task.stateText and 's' or 'p', startedAt = tonumber(startedAt), token = token, attempt = task.state.attempt,
        untilAt = now, timeoutAt = tonumber(startedAt) + task.profile.timeoutMs,
      }))
      call('ZADD', key('leases'), 'LT', NOW, worker)
    end)
end
local function inspectDead(task)
  local fingerprint = task.state.fingerprint
  if not fingerprint then return end
  local number, lastAt = unpack(call('HMGET', groupKey(fingerprint), 'number', 'lastAt'))
  local member = number and string.format('%016d', tonumber(number)) .. fingerprint
  if member and call('ZSCORE', key('dead'), task.id) and call('ZSCORE', key('dead:' .. fingerprint), task.id)
    and call('ZSCORE', key('groups'), member) then
    return
  end
  find('group_entry_missing', 'task', task.id, 'no entry', "an entry in group '" .. fingerprint .. "'", function()
    if not member then
      local record = call('HGET', taskKey(task.id), int(task.state.attempt)) or ''
      local sample = string.match(record, '(,"errorCode":.*),"resolvedAt":%d+}$')
      if not sample then return false end
      return joinGroup(task, fingerprint, sample)
    end
    call('ZADD', key('dead'), int(task.head.seq), task.id)
    call('ZADD', key('dead:' .. fingerprint), int(task.head.seq), task.id)
    call('ZADD', key('groups'), lastAt or NOW, member)
  end)
end
local function inspectRecords(task)
  if not task.stateText and call('HLEN', taskKey(task.id)) <= 2 then return end
  local state = task.state
  for _, field in ipairs(call('HKEYS', taskKey(task.id))) do
    local attempt = tonumber(field)
    local isCurrent = state.status == 'running' and attempt == state.attempt
    local record = attempt and not isCurrent and call('HGET', taskKey(task.id), field)
    if record and statusOf(record) == 'running' then
      find('execution_running', 'task', task.id, 'attempt ' .. field .. ' running', 'attempt ' .. field .. ' ended', function()
        if attempt > state.attempt then
          call('HDEL', taskKey(task.id), field)
        else
          call('HSET', taskKey(task.id), field, endRecord(record, 'cancelled'))
        end
      end)
    end
  end
end
local function needsKey(task)
  local state = task.state
  return dedupe.isHeldBy(task) or (state.status == 'dead' and not task.head.keyUntil and not state.keyLost)
end
local function alsoHolds(id, name)
  local other = readTask(id)
  return other and other.head.dedupeKey and dedupe.name(other.lane.tenant, other.lane.action, other.head.dedupeKey) == name
    and dedupe.isHeldBy(other)
end
local function inspectKey(task)
  local dedupeKey = task.head.dedupeKey
  local name = dedupe.name(task.lane.tenant, task.lane.action, dedupeKey)
  local holder = call('HGET', key('dedupe'), name)
  if holder == task.id or not needsKey(task) then return end
  local held = format('key \\'%s\\' held by ', dedupeKey)
  local expected = held .. 'it'
  if holder and alsoHolds(holder, name) then
    find('key_twice', 'task', task.id, held .. "task '" .. holder .. "'", expected)
    return
  end
  find('key_missing', 'task', task.id, held .. (holder and 'something else' or 'nobody'), expected,
    function() call('HSET', key('dedupe'), name, task.id) end)
end
local STANDS = { queued = inspectQueued, waiting = inspectWaiting, running = inspectRunning, dead = inspectDead }
local function inspectTask(chunk, id)
  looked = looked + 1
  local task = readTask(id)
  if task == nil then
    find('order_entry_extra', 'task', id, 'an entry in the order of acceptance', 'no entry', function()
      call('LREM', orderKey(chunk), 1, id)
      if call('EXISTS', orderKey(chunk)) == 0 then call('ZREM', key('order'), int(chunk)) end
    end)
  elseif not task then
    find('record_unreadable', 'task', id, 'a record that says nothing', 'a record')
  else
    local inspectStand = STANDS[task.state.status]
    inspectRecords(task)
    if inspectStand then inspectStand(task) end
    if task.head.dedupeKey and ARGV[9] == '1' then inspectKey(task) end
  end
end
local CHUNKS_MAX = 16
local function walk()
  local first, at = tonumber(ARGV[7]), tonumber(ARGV[8])
  local from = int(first)
  while true do
    local chunks = call('ZRANGE', key('order'), from, '+inf', 'BYSCORE', 'LIMIT', 0, CHUNKS_MAX)
    for _, member in ipairs(chunks) do
      local chunk = tonumber(member)
      local ids = call('LRANGE', orderKey(chunk), 0, -1)
      local repairsBefore = repairs
      for place = chunk == first and at + 1 or 1, #ids do
        if isTired() or searches >= SEARCHES_MAX then
          local gone = repairs > repairsBefore and #ids - call('LLEN', orderKey(chunk)) or 0
          return member .. ' ' .. int(place - 1 - gone)
        end
        inspectTask(chunk, ids[place])
      end
      from = '(' .. member
    end
    if #chunks < CHUNKS_MAX then return '' end
  end
end
local goOnAt = walk()
if ARGV[3] == '1' then
  flushLanes()
  flushWake()
end
return inspected(goOnAt)
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)
end }`,
}

export const inspectCountsScript: Script = { name: 'reprise_beb00d237f95_inspect_counts', library: inspectLibrary, readOnly: false }
export const inspectDelaysScript: Script = { name: 'reprise_beb00d237f95_inspect_delays', library: inspectLibrary, readOnly: false }
export const inspectExpiriesScript: Script = { name: 'reprise_beb00d237f95_inspect_expiries', library: inspectLibrary, readOnly: false }
export const inspectGroupsScript: Script = { name: 'reprise_beb00d237f95_inspect_groups', library: inspectLibrary, readOnly: false }
export const inspectKeysScript: Script = { name: 'reprise_beb00d237f95_inspect_keys', library: inspectLibrary, readOnly: false }
export const inspectLeasesScript: Script = { name: 'reprise_beb00d237f95_inspect_leases', library: inspectLibrary, readOnly: false }
export const inspectQueuesScript: Script = { name: 'reprise_beb00d237f95_inspect_queues', library: inspectLibrary, readOnly: false }
export const inspectTasksScript: Script = { name: 'reprise_beb00d237f95_inspect_tasks', library: inspectLibrary, readOnly: false }
