#!lua flags=allow-oom
-- witness: in the home of a store with several partitions, what the others saw of a worker: how its attempts ended there.
-- ARGV: time, request id, worker, then in order, alternating: how many ended well, how many badly.
-- Answers 1. A repetition (same request id) changes nothing.

-- @include base answers workers health

local request, worker = ARGV[2], ARGV[3]
if recall(request) then return 1 end
for at = 4, #ARGV do
  local count = tonumber(ARGV[at])
  if count > 0 then witness(worker, at % 2 == 0, count) end
end
flushWorkers()
return remember(request, 1)
