#!lua flags=allow-oom
-- settleAndClaim: ends attempts, then claims, in one trip. If the claim is refused, the settlements stand.
-- ARGV: time, index of the claim's first argument, then the settlements, then the claim.
-- Answers { answers of the settlements, answer of the claim or false }.

-- @include base lanes tasks queue limits wake journal leases stages lifting breakers gates outages quotas endings workers health settle promotion avoiding sources starting taking inbox claim blocked

local claimAt = tonumber(ARGV[2])
local answers = settle(3, claimAt - 1)
activateFreed()
flushLeases()
local request = parseClaim(claimAt)
local claimed = claim(request)
flushBreakers()
flushLimits()
flushLeases()
flushWorkers()
flushLanes()
if request.health and claimed then claimed[4] = claimed[4] .. blockedBy(request) end
flushWake()
return { answers, claimed or { NOW, '', '', '', '' } }
