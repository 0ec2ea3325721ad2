#!lua flags=allow-oom
-- beat: what a worker reports about itself, and a sign of life.
-- ARGV: time, worker, epoch, inFlight, queueDepth, loopLagMs, memoryBytes, quietMsMax, draining ('1' or '0'), outlook ('' for none,
--   else '=' and the words).
-- Answers 'current', 'replaced' or 'unknown'; nothing is written unless it is current.

-- @include base workers

local worker = workerNamed(ARGV[2])
if not worker then return 'unknown' end
if worker.epoch ~= ARGV[3] then return 'replaced' end
worker.lastBeatAt = now
worker.inFlight = tonumber(ARGV[4]) or 0
worker.queueDepth = tonumber(ARGV[5]) or 0
worker.loopLagMs = tonumber(ARGV[6]) or 0
worker.memoryBytes = tonumber(ARGV[7]) or 0
worker.quietMsMax = tonumber(ARGV[8]) or 0
worker.draining = tonumber(ARGV[9]) or 0
worker.outlook = ARGV[10] ~= '' and string.sub(ARGV[10], 2)
if worker.inFlight == 0 then worker.lastProgressAt = now end
worker.changed = true
flushWorkers()
return 'current'
