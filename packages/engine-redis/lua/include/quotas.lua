-- Retry quotas (see core's quota.ts, which is the definition): a decision to retry gets a place in a window that has room. The
-- hash 'windows:<width> <key>' has one count per window, by number, and the zset 'windowed:<width> <key>' lists them; the key is
-- the quota's name, with '\n<tenant>' behind it unless all tenants share it. Where a store has several partitions, a limit is
-- dealt out among them. A share alone is of what started there, and needs no dealing.

-- So many windows that are past are removed when a new one comes.
local PAST_MAX = 500
-- What nobody has counted in for so long, beyond its windows, goes.
local KEPT_MS = 3600000

-- By name; and what is stored of the attempts that a lane started, by lane.
local quotas

atBegin(function()
  quotas = {}
end)

-- Given as '<width> <limit> <share> <place> <places> <all or each> <name>', '-' for none.
local function parseQuota(text, lane)
  local windowMs, limit, share, place, places, whose, name = string.match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  local itsName = windowMs .. ' ' .. name .. (whose == 'each' and '\n' .. lane.tenant or '')
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

-- How many a window has.
local function takenIn(quota, window)
  local counted = quota.counted
  local taken = counted.taken[window]
  if not taken then
    taken = tonumber(call('HGET', counted.key, int(window))) or 0
    counted.taken[window] = taken
  end
  return taken
end

-- Attempts that started in a lane in this minute or in the one before, whichever had more. What is stored stays as it is until the
-- end of the call, which may ask for each of many failures.
local function startedLately(lane)
  local stored = quotas[lane]
  if not stored then
    local field = int(lane.number) .. ':started'
    stored = {
      this = tonumber(call('HGET', key('series:' .. int(MINUTE)), field)) or 0,
      before = tonumber(call('HGET', key('series:' .. int(MINUTE - SERIES_STEP_MS)), field)) or 0,
    }
    quotas[lane] = stored
  end
  return math.max(stored.this + (lane.tally.started or 0), stored.before)
end

-- A new window is listed, and some that are past go: more than one comes, so that they don't gather.
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

-- How many fit into a window.
local function roomIn(quota, window, byShare)
  local limit, places = quota.limit, quota.places
  if not limit then return byShare end
  local extra = (window + quota.place) % places < limit % places and 1 or 0
  return math.min(math.floor(limit / places) + extra, byShare)
end

-- Takes a place for a retry of the lane that is wanted then. Answers when it is due, and the quota's name if that is later.
local function placeRetry(text, lane, wantedAt)
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
