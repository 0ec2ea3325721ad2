#!lua flags=allow-oom
-- resetBreaker: forgets a breaker, whatever its status, and lifts what it holds back.
-- ARGV: time, request id, id (see include/breakers.lua), actor, reason, '1' if the journal is to tell.
-- Answers -1 if there is none of this id (then nothing is written), 1 if every lane was told, 0 if lift must go on. A
-- repetition (same request id) gets the same answer.

-- @once
-- @include base answers lanes tasks limits wake journal leases stages lifting breakers gates outages

local breaker = breakerNamed(ARGV[3])
if not breaker or isForgotten(breaker) then return -1, false end
local isDone = forgetBreaker(breaker)
if ARGV[6] == '1' then noteClosed(breaker, ARGV[4], ARGV[5]) end
flushLimits()
flushLanes()
flushWake()
return isDone and 1 or 0
