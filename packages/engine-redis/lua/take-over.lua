#!lua flags=allow-oom
-- takeOver: goes on taking leases away from a worker id, one step.
-- ARGV: time, worker, its JSON.
-- Answers 1 when nothing is left to take, else 0.

-- @include base lanes tasks journal leases takeover

local worker = ARGV[2]
local bound, cursor, taken, isTold = string.match(call('HGET', key('takeovers'), worker) or '', '^(%d+) (%d+) (%d+) (%d)$')
if not bound then return 1 end
return takeOver(worker, ARGV[3], tonumber(bound), cursor, tonumber(taken), isTold == '1')
