#!lua flags=allow-oom
-- passOn: a waiter that was woken for work it has no room for wakes another in its place.
-- ARGV: time, pool, action.

-- @include base lanes wake

stir({ pool = ARGV[2], action = ARGV[3] })
flushWake()
return 0
