#!lua flags=no-writes
-- tasks: a part of a page, newest first. A call looks at a bounded number of tasks; its caller goes on from where it stopped.
-- ARGV: time, seq that comes before the page in this order ('' for none), how many are wanted, status ('' for any),
--   fingerprint ('' or '=' and the fingerprint; then the status is 'dead'), scope (3), '1' for a light look,
--   how many bytes are read at the most.
-- Answers { time, seq to go on from ('' when all was looked at), then per task what include/look.lua says }.

-- @include base lanes tasks leases stages order scope look

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

-- Whether every task that comes up is wanted: then all of it is read at once, and no more than are wanted.
local takesAll = scope.isAll and (status == '' or status == 'dead')

local function read(id)
  if takesAll then
    local values = call('HMGET', taskKey(id), 'task', 'state', '1')
    return values[1], values[2], values[3]
  end
  local text = not scope.isAll and textOf(id)
  if text then
    bytes = bytes + #text
    if not covers(scope, (select(3, string.match(text, HEAD_PATTERN)))) then return false end
  end
  local state = call('HGET', taskKey(id), 'state')
  local first = not state and call('HGET', taskKey(id), '1')
  if status ~= '' and standing(state, first) ~= status then
    bytes = bytes + (first and #first or 0)
    return false
  end
  return text or textOf(id), state, first
end

-- Adds a task if it is asked for. Answers true when that is enough for one call.
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

-- Goes down a zset of ids that are scored by seq.
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

-- Goes down a chunk, or what is left of it. Answers the id at which it was enough; nil if it was not.
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

-- What runs stands among the leases, and what was launched under its pool. Answers { id, seq } of each; nil if they are too many to be sorted here.
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

-- The same of what waits: it stands in the delay queues of its pools.
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
