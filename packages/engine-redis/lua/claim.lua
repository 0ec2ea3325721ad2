#!lua flags=allow-oom
-- claim: takes up to `limit` tasks for a worker. See include/claim.lua for its arguments and answer.
-- ARGV: time, then the claim.
-- Checks before the first write: that the worker is registered (else REPRISE unknown) with this epoch (else REPRISE fenced).

-- @include base lanes tasks queue limits wake leases health claim

local answer, refused = claim(parseClaim(2))
if not answer then return refuse(refused) end
flushLimits()
flushLeases()
flushLanes()
flushWake()
return answer
