#!lua flags=allow-oom
-- witness: in the home of a store with several partitions, what the others saw of a worker: how its attempts ended there.
-- ARGV: time, request id, worker, then in order, three by three: a tenant, '1' if its attempts ended well ('0' if the worker
--   failed them, '' if they were lost), how many of them.
-- Answers 1. A repetition (same request id) changes nothing.

-- @once
-- @include base answers workers health

local worker = ARGV[3]
local known = workerNamed(worker)
for at = 4, #ARGV, 3 do
  witness(worker, ARGV[at], ARGV[at + 1] == '1', tonumber(ARGV[at + 2]))
  -- It got something done, or out of its hands.
  if known and ARGV[at + 1] ~= '' then known.lastProgressAt = now end
end
flushWorkers()
return 1
