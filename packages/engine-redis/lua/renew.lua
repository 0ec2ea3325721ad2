#!lua flags=allow-oom
-- renew: extends leases.
-- ARGV: time, leaseMs, then per lease a RENEWAL: progress is JSON, '' for none; handle is '' for none, else '=' and the
--   handle; log is JSON, '' for none.
-- Answers per lease: the new end of the lease as text, or 'superseded <why>'.
-- Checks before each renewal's first write: that the attempt runs under the token.

-- @include base lanes tasks queue wake journal leases stages endings

local leaseMs = tonumber(ARGV[2])

-- The logs of attempts that are too long ago go.
local function saveLog(id, attempt, log)
  call('HSET', logKey(id), attempt, log)
  local outdated = tonumber(attempt) - LOG_ATTEMPTS_MAX
  if outdated < 1 then return end
  for _, other in ipairs(call('HKEYS', logKey(id))) do
    if tonumber(other) <= outdated then call('HDEL', logKey(id), other) end
  end
end

local function renew(at)
  local id, attempt, token = ARGV[at + RENEWAL_AT.id], ARGV[at + RENEWAL_AT.attempt], ARGV[at + RENEWAL_AT.token]
  local progress, handle = ARGV[at + RENEWAL_AT.progress], ARGV[at + RENEWAL_AT.handle]
  local shortToken, worker = splitToken(token)
  local lease = worker and parseLease(call('HGET', leasesKey(worker), id))
  if not lease or lease.attempt ~= tonumber(attempt) or lease.token ~= shortToken then
    return 'superseded ' .. becauseOf(loadTask(id), tonumber(attempt), call('HGET', taskKey(id), attempt))
  end
  -- A worker that was due to renew and could not, or a clock that jumped: such time does not count as run.
  extend(lease, leaseMs, math.max(now - (lease.renewedAt or lease.startedAt) - leaseMs, 0))
  if handle ~= '' then lease.handle = '\n' .. string.sub(handle, 2) end
  call('HSET', leasesKey(worker), id, leaseText(lease))
  if progress ~= '' then call('HSET', key('progress'), id, progress) end
  local log = ARGV[at + RENEWAL_AT.log]
  if log ~= '' then saveLog(id, attempt, log) end
  return int(lease.untilAt)
end

local answers = {}
for at = 3, #ARGV, #RENEWAL do answers[#answers + 1] = renew(at) end
return answers
