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

-- The next `count` numbers of the sequence that seqs, ranks, tokens and epochs share; answers the last of them.
local function draw(count)
  return call('HINCRBY', NUMBERS, 'sequence', int(count))
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
