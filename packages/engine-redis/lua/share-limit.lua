#!lua flags=allow-oom
-- shareLimit: in the home of a store with several partitions, sets how many tasks may run at once in all lanes of a scope, or
-- lifts that. It begins a new version of the limit; the partitions have to be told.
-- ARGV: time, request id, scope (3), concurrency ('' lifts the limit), actor, reason, rank of the caller, data of the
--   journal entry.
-- Answers the version; -2 if the limit is the platform's and the caller a tenant's. A repetition (same request id) changes nothing.

-- @once
-- @include base answers journal ranks

local concurrency = ARGV[6]
local scopeName = ARGV[3] .. '\n' .. ARGV[4] .. '\n' .. ARGV[5]
if isOutranked('totals', scopeName, ARGV[9]) then return OUTRANKED, false end
local ledger = key('ledger:' .. scopeName)
local version = int(draw(1))
call('DEL', ledger)
call('HSET', ledger, 'version', version, 'free', concurrency, 'settled', '')
if concurrency == '' then
  call('HDEL', key('totals'), scopeName)
else
  call('HSET', key('totals'), scopeName, concurrency)
end
keepRank('totals', scopeName, concurrency ~= '' and ARGV[9])
call('SADD', key('unsettled'), scopeName)
note('lanes.limited', nil, nil, ARGV[7], ARGV[8], ARGV[10])
return version
