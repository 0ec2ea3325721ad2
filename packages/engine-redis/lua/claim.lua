#!lua flags=allow-oom
-- claim: takes up to `limit` tasks for a worker. See include/claim.lua for its arguments and answer.
-- ARGV: time, then the claim.
-- Checks before the first write: that the worker is registered (else REPRISE unknown) with this epoch (else REPRISE fenced).

-- @include base lanes tasks queue limits wake journal leases stages lifting breakers gates outages workers health promotion avoiding sources starting taking inbox claim blocked

local request = parseClaim(2)
local answer, refused = claim(request)
if not answer then return refuse(refused) end
flushBreakers()
flushLimits()
flushLeases()
flushWorkers()
flushLanes()
if request.health then answer[4] = answer[4] .. blockedBy(request) end
flushWake()
return answer
