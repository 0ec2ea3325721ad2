-- What every script begins with: the keys, the time, and short names for calls and numbers.
-- KEYS[1] is '<prefix>/numbers'; every other key is derived from it and lives in the same slot. ARGV[1] is the time in
-- ms if the caller injects one, else empty: then the server's own clock decides. Includes live on from call to call: what
-- belongs to one call is set up by atBegin().

local call, byteAt, part, format
local PREFIX, NUMBERS, TASK_PREFIX, META_PREFIX, now, NOW, MINUTE

-- Whole numbers as text; Lua's own conversion loses digits above 14. Numbers are handed to commands as text, because Redis
-- takes long to write out Lua's.
local function int(number)
  return format('%d', number)
end

atBegin(function()
  -- A name of Lua's own is looked up at each use; these are used for every task.
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
  MINUTE = now - now % SERIES_STEP_MS
end)

local function taskKey(id)
  return TASK_PREFIX .. id
end

local function key(name)
  return META_PREFIX .. name
end

-- What lies in a worker's inbox.
local function inboxKey(worker)
  return key('inbox:' .. worker)
end

-- What handlers wrote down, by attempt.
local function logKey(id)
  return key('log:' .. id)
end

-- The history of a store is the list of its beginnings, '<run of the server>:<sequence>:<time>' each, the last HISTORY_MAX of them:
-- one for each server process that drew numbers for it, so for each start and each failover, and one when it was emptied. A
-- process that saw a higher number before a beginning than the beginning has knows that writes were lost. See src/witness.ts.
local serverRun
local lastDrawn = {}

-- Empty where INFO is not allowed: then there is no history.
local function runOfServer()
  if not serverRun then
    local info = redis.pcall('INFO', 'server')
    serverRun = type(info) == 'string' and string.match(info, 'run_id:(%x%x%x%x%x%x%x%x%x%x%x%x)') or ''
  end
  return serverRun
end

-- The beginning that numbers after this one belong to; it is noted if this is the first draw after it.
local function beginningAt(before)
  local mine = lastDrawn[NUMBERS]
  local history = call('HGET', NUMBERS, 'history') or ''
  local isMine = mine and mine.history == history
  if not isMine or before < mine.last then
    local run = runOfServer()
    if run == '' then return '' end
    local last = string.match(history, '%S+$') or ''
    -- Another library of ours may have noted it already.
    if isMine or string.match(last, '^%x+') ~= run then
      last = run .. ':' .. int(before) .. ':' .. NOW
      local kept = {}
      for beginning in string.gmatch(history, '%S+') do kept[#kept + 1] = beginning end
      kept[#kept + 1] = last
      history = table.concat(kept, ' ', math.max(1, #kept - HISTORY_MAX + 1))
      call('HSET', NUMBERS, 'history', history)
    end
    mine = { history = history, beginning = last }
    lastDrawn[NUMBERS] = mine
  end
  return mine.beginning
end

-- The next `count` numbers of the sequence that seqs, ranks, tokens and epochs share; answers the last of them. One who tells
-- its caller of them asks for the beginning as well.
local function draw(count, asksForBeginning)
  local last = call('HINCRBY', NUMBERS, 'sequence', int(count))
  if not asksForBeginning then return last end
  local beginning = beginningAt(last - count)
  if lastDrawn[NUMBERS] then lastDrawn[NUMBERS].last = last end
  return last, beginning
end

-- Keys that a store seldom has. One look tells that none of them is there.
local UNUSUAL = { 'holds', 'limits', 'watched', 'progress', 'breakers', 'unfinished' }
local unusual

atBegin(function()
  unusual = nil
end)

local function exists(name)
  if unusual == nil then
    local keys = {}
    for index, unusualName in ipairs(UNUSUAL) do keys[index] = key(unusualName) end
    unusual = call('EXISTS', unpack(keys)) > 0 and {}
  end
  if not unusual then return false end
  if unusual[name] == nil then unusual[name] = call('EXISTS', key(name)) == 1 end
  return unusual[name]
end

-- For whoever has just made one of them.
local function nowExists(name)
  unusual = unusual or {}
  unusual[name] = true
end

local function refuse(text)
  return redis.error_reply('REPRISE ' .. text)
end
