-- Leases: a hash per worker, task id -> '<p or s><start in 13 digits> <token> <attempt> <end> <time-out> <last renewal or ->', where p
-- stands for a plain task (one without a stored state, in its first attempt); other letters: see stages.lua. At the end, after a line
-- break, the handle if one was noted. Beside them a zset of workers whose score is
-- not later than the end of their first lease. A token is '<draw>-<number>.<lane>.<worker>': one draw serves a whole claim,
-- whose entries are numbered. Records and leases keep it without the worker, which they name anyway.

local function leasesKey(worker)
  return key('leases:' .. worker)
end

local leaseChanges, SUCCESS_TAIL, STARTED

atBegin(function()
  leaseChanges = {}
  STARTED = string.format('%013d ', now)
  SUCCESS_TAIL = ',"errorCode":null,"errorMessage":null,"resolvedAt":' .. NOW .. '}'
end)

local function leaseChange(worker)
  local change = leaseChanges[worker]
  if not change then
    change = { added = {}, removed = {}, first = nil }
    leaseChanges[worker] = change
  end
  return change
end

-- Redis keeps a hash of short values as a list, which is slow to search; one value above 64 bytes makes it a table. So
-- padded, the shortest lease of our time has 65.
local LEASE_PADDING = '             '

-- The part of a lease that starts now which follows its token.
local function leaseStart(timeoutMs, leaseMs, attempt, stage)
  local timeoutAt = now + timeoutMs
  local untilAt = math.min(now + leaseMs, timeoutAt + TIMEOUT_GRACE_MS)
  if stage == STAGE_LETTERS.dispatch then untilAt = now + leaseMs end
  return ' ' .. attempt .. ' ' .. int(untilAt) .. ' ' .. int(timeoutAt) .. ' -' .. LEASE_PADDING, untilAt
end

local function addLease(change, id, kind, token, start)
  local added = change.added
  local size = #added
  added[size + 1] = id
  added[size + 2] = kind .. STARTED .. token .. start
end

local function startsAt(change, untilAt)
  if not change.first or untilAt < change.first then change.first = untilAt end
end

local function removeLease(worker, id)
  local removed = leaseChange(worker).removed
  removed[#removed + 1] = id
end

-- A lease in its parts; nil if there is none.
local function parseLease(text)
  if not text then return nil end
  local kind, startedAt, token, attempt, untilAt, timeoutAt, renewedAt =
    string.match(text, '^(%a)(%d+) (%S+) (%d+) (%d+) (%d+) (%S+)')
  return {
    token = token, startedAt = tonumber(startedAt), kind = kind, attempt = tonumber(attempt), untilAt = tonumber(untilAt),
    timeoutAt = tonumber(timeoutAt), renewedAt = tonumber(renewedAt), handle = string.match(text, '\n.*$'),
  }
end

local function leaseText(lease)
  return lease.kind .. string.format('%013d ', lease.startedAt) .. lease.token .. ' ' .. int(lease.attempt) .. ' '
    .. int(lease.untilAt) .. ' ' .. int(lease.timeoutAt) .. ' ' .. (lease.renewedAt and int(lease.renewedAt) or '-') .. LEASE_PADDING
    .. (lease.handle or '')
end

-- Writes what was added and removed. Removals first: what was settled may have been claimed again by the same script.
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

-- The record of an attempt that begins. Its parts stand in this order for endRecord() and RECORD_PATTERN.
local RUNNING_TAIL = '}'

local function runningRecord(attempt, token, workerJson, extra)
  return '{"status":"running","attempt":' .. attempt .. ',"token":"' .. token .. '","worker":' .. workerJson
    .. ',"dispatchedAt":' .. NOW .. extra .. RUNNING_TAIL
end

-- What only some records have: a later generation, why there is another attempt, and the build of its worker ('' for none).
local function recordExtra(generation, retryReason, build)
  local extra = ''
  if generation > 1 then extra = ',"generation":' .. int(generation) end
  if retryReason then extra = extra .. ',"retryReason":' .. cjson.encode(retryReason) end
  return extra .. build
end

-- The same record, ended. `tail` gives errorCode, errorMessage and what else a bad end has; nil for a good one.
local function endRecord(record, status, tail)
  local middle = string.sub(record, 20, -#RUNNING_TAIL - 1)
  if not tail then return '{"status":"' .. status .. '"' .. middle .. SUCCESS_TAIL end
  return '{"status":"' .. status .. '"' .. middle .. tail .. ',"resolvedAt":' .. NOW .. '}'
end

-- The number and lane of a token as records keep them, and its worker.
local function splitToken(token)
  return string.match(token, '^(%d+%-%d+%.%d+)%.(.*)$')
end
