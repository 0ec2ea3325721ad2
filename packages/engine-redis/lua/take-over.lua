#!lua flags=allow-oom
-- takeOver: goes on taking leases away from a worker id, one step.
-- ARGV: time, worker, its JSON.
-- Answers { 1 when nothing is left to take, else 0, how many were taken in all steps }.

-- @include base lanes tasks journal leases stages takeover

local worker = ARGV[2]
local bound, cursor, taken, epoch = string.match(call('HGET', key('takeovers'), worker) or '', '^(%d+) (%d+) (%d+) (%d+)$')
if not bound then return { 1, 0 } end
return { takeOver(worker, ARGV[3], tonumber(bound), cursor, tonumber(taken), tonumber(epoch)) }
