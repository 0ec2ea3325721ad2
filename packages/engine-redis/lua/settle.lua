#!lua flags=allow-oom
-- settle: ends attempts. See include/settle.lua for the settlements and their answers.
-- ARGV: time, then the settlements.
-- Checks before each settlement's first write: that the attempt runs under the token (or that the entry is overdue).

-- @include base lanes tasks queue limits wake journal leases stages lifting breakers gates outages quotas endings workers health settle

local answers = settle(2, #ARGV)
flushBreakers()
flushLimits()
flushLeases()
flushWorkers()
flushLanes()
flushWake()
return answers
