-- Retry quotas (see core's quota.ts, which is the definition): a decision to retry gets a place in a window that has room. The
-- hash 'windows:<width> <name>' has one count per window, by number, and the zset 'windowed:<width> <name>' lists them. Where a
-- store has several partitions, a limit is dealt out: each has every so many-th window for itself. A share alone is of what
-- started there, and needs no dealing.

local WINDOWS_PAGE = 100
-- So many windows that are past are removed when a new one comes.
local PAST_MAX = 500

local quotas

atBegin(function()
  quotas = {}
end)

-- Given as '<width> <limit> <share> <place> <places> <name>', '-' for none.
local function parseQuota(text)
  local windowMs, limit, share, place, places, name = string.match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  local itsKey = key('windows:' .. windowMs .. ' ' .. name)
  local counted = quotas[itsKey]
  if not counted then
    counted = { key = itsKey, list = key('windowed:' .. windowMs .. ' ' .. name), taken = {}, full = {} }
    quotas[itsKey] = counted
  end
  return {
    name = name, windowMs = tonumber(windowMs), limit = tonumber(limit), share = tonumber(share), place = tonumber(place),
    places = tonumber(places), counted = counted,
  }
end

-- How many a window has. The first look is for one; whoever goes on looking gets some at a time.
local function takenIn(quota, window)
  local counted = quota.counted
  local taken = counted.taken[window]
  if taken then return taken end
  local windows = { int(window) }
  if next(counted.taken) then
    for index = 2, WINDOWS_PAGE do windows[index] = int(window + (index - 1) * quota.places) end
  end
  for index, count in ipairs(call('HMGET', counted.key, unpack(windows))) do
    counted.taken[window + (index - 1) * quota.places] = tonumber(count) or 0
  end
  return counted.taken[window]
end

-- Attempts that started in a lane in this minute or in the one before, whichever had more.
local function startedLately(lane)
  local field = int(lane.number) .. ':started'
  local this = (tonumber(call('HGET', key('series:' .. int(MINUTE)), field)) or 0) + (lane.tally.started or 0)
  return math.max(this, tonumber(call('HGET', key('series:' .. int(MINUTE - SERIES_STEP_MS)), field)) or 0)
end

-- A new window is listed, and some that are past go: more than one comes, so that they don't gather.
local function listWindow(quota, window)
  local list = quota.counted.list
  local past = call('ZRANGE', list, '-inf', '(' .. int(math.floor(now / quota.windowMs)), 'BYSCORE', 'LIMIT', 0, PAST_MAX)
  call('ZADD', list, int(window), int(window))
  if #past == 0 then return end
  call('HDEL', quota.counted.key, unpack(past))
  call('ZREM', list, unpack(past))
end

-- Takes a place for a retry of the lane that is wanted then. Answers when it is due, and the quota's name if that is later.
local function placeRetry(text, lane, wantedAt)
  local quota = parseQuota(text)
  local room = quota.limit or math.huge
  if quota.share then
    room = math.min(room, math.max(math.floor(quota.share * startedLately(lane)), 1))
  end
  local counted = quota.counted
  local window = math.floor(wantedAt / quota.windowMs)
  window = window + (quota.place - window) % quota.places
  local last = window + (QUOTA_WINDOWS_MAX - 1) * quota.places
  -- Windows that this call has found full for so little room are full still.
  local full = counted.full[room]
  if not full or window < full.from or window > full.to then full = { from = window, to = window } end
  window = math.min(full.to, last)
  while window < last and takenIn(quota, window) >= room do window = window + quota.places end
  full.to = window
  counted.full[room] = full
  local taken = call('HINCRBY', counted.key, int(window), 1)
  counted.taken[window] = taken
  if taken == 1 then listWindow(quota, window) end
  local dueAt = math.max(wantedAt, window * quota.windowMs)
  return dueAt, dueAt > wantedAt and quota.name or nil
end
