#!lua flags=allow-oom
-- lift: goes on with telling lanes of a hold or a limit that was put on or lifted (see include/lifting.lua), one step.
-- ARGV: time.
-- Answers how many such things are still under way.

-- @include base lanes tasks limits wake leases stages lifting breakers gates

continueLifting()
flushLanes()
flushWake()
return call('HLEN', key('unfinished'))
