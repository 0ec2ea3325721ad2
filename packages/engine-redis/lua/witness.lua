#!lua flags=allow-oom
-- witness: in the home of a store with several partitions, what the others saw of a worker: how its attempts ended there.
-- ARGV: time, request id, worker, then in order, alternating: how many ended well, how many badly.
-- Answers 1. A repetition (same request id) changes nothing.

-- @once
-- @include base answers workers health

local worker = ARGV[3]
for at = 4, #ARGV do
  local count = tonumber(ARGV[at])
  if count > 0 then witness(worker, at % 2 == 0, count) end
end
flushWorkers()
return 1
