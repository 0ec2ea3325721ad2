#!lua flags=allow-oom
-- beat: what a worker reports about itself, and a sign of life.
-- ARGV: time, worker, epoch, inFlight, queueDepth, loopLagMs, memoryBytes, draining ('1' or '0').
-- Answers 'current', 'replaced' or 'unknown'; nothing is written unless it is current.

-- @include base

local workerKey = key('worker:' .. ARGV[2])
local epoch = call('HGET', workerKey, 'epoch')
if not epoch then return 'unknown' end
if epoch ~= ARGV[3] then return 'replaced' end
call('HSET', workerKey, 'lastBeatAt', int(now), 'inFlight', ARGV[4], 'queueDepth', ARGV[5], 'loopLagMs', ARGV[6],
  'memoryBytes', ARGV[7], 'draining', ARGV[8])
return 'current'
