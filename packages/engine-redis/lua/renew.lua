#!lua flags=allow-oom
-- renew: extends leases.
-- ARGV: time, leaseMs, then per lease: task id, attempt, token, progress (JSON, '' for none), handle ('' for none, else '=' and
--   the handle).
-- Answers per lease: the new end of the lease as text, or 'superseded <why>'.
-- Checks before each renewal's first write: that the attempt runs under the token.

-- @include base lanes tasks queue wake journal leases stages endings

local leaseMs = tonumber(ARGV[2])

local function renew(id, attempt, token, progress, handle)
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
  return int(lease.untilAt)
end

local answers = {}
for at = 3, #ARGV, 5 do
  answers[#answers + 1] = renew(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4])
end
return answers
