#!lua flags=allow-oom
-- renew: extends leases.
-- ARGV: time, leaseMs, then per lease: task id, attempt, token, progress (JSON, '' for none).
-- Answers per lease: the new end of the lease as text, or 'superseded <why>'.
-- Checks before each renewal's first write: that the attempt runs under the token.

-- @include base lanes tasks queue wake journal leases endings

local leaseMs = tonumber(ARGV[2])

local function renew(id, attempt, token, progress)
  local shortToken, worker = splitToken(token)
  local lease = worker and parseLease(call('HGET', leasesKey(worker), id))
  if not lease or lease.attempt ~= tonumber(attempt) or lease.token ~= shortToken then
    return 'superseded ' .. becauseOf(loadTask(id), tonumber(attempt), call('HGET', taskKey(id), attempt))
  end
  -- A worker that was due to renew and could not, or a clock that jumped: such time does not count as run.
  local lastAt = lease.renewedAt or lease.startedAt
  lease.timeoutAt = lease.timeoutAt + math.max(now - lastAt - leaseMs, 0)
  lease.untilAt = math.max(lease.untilAt, math.min(now + leaseMs, lease.timeoutAt + TIMEOUT_GRACE_MS))
  lease.renewedAt = now
  call('HSET', leasesKey(worker), id, leaseText(lease))
  if progress ~= '' then call('HSET', key('progress'), id, progress) end
  return int(lease.untilAt)
end

local answers = {}
for at = 3, #ARGV, 4 do answers[#answers + 1] = renew(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]) end
return answers
