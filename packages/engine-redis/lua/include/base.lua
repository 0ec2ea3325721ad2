-- What every script begins with: the keys, the time, and short names for calls and numbers.
-- KEYS[1] is '<prefix>/numbers'; every other key is derived from it and lives in the same slot. ARGV[1] is the time in
-- ms if the caller injects one, else empty: then the server's own clock decides. Includes live on from call to call: what
-- belongs to one call is set up by atBegin().

local call
local PREFIX, NUMBERS, TASK_PREFIX, META_PREFIX, now, NOW, MINUTE

-- Whole numbers as text; Lua's own conversion loses digits above 14.
local function int(number)
  return string.format('%.0f', number)
end

atBegin(function()
  call = redis.call
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

local function taskKey(id)
  return TASK_PREFIX .. id
end

local function key(name)
  return META_PREFIX .. name
end

-- The next `count` numbers of the sequence that seqs, ranks, tokens and epochs share; answers the last of them.
local function draw(count)
  return call('HINCRBY', NUMBERS, 'sequence', count)
end

local function refuse(text)
  return redis.error_reply('REPRISE ' .. text)
end
