#!lua flags=allow-oom
-- drawEpoch: in a store with several partitions the home draws the epochs of workers for all. A number that is not used
-- does no harm.
-- ARGV: time.
-- Answers the epoch.

-- @include base

return int(draw(1))
