#!lua flags=allow-oom
-- settleAndClaim: ends attempts, then claims, in one trip. If the claim is refused, the settlements stand.
-- ARGV: time, index of the claim's first argument, then the settlements, then the claim.
-- Answers { answers of the settlements, answer of the claim or false }.

-- @include base lanes tasks queue limits wake journal leases endings settle health claim

local claimAt = tonumber(ARGV[2])
local answers = settle(3, claimAt - 1)
flushOutcomes()
unparkFreed()
flushLeases()
local claimed = claim(parseClaim(claimAt))
flushLimits()
flushLeases()
flushLanes()
flushWake()
return { answers, claimed or { int(now), '', '', '' } }
