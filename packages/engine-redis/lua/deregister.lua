#!lua flags=allow-oom
-- deregister: a worker that is registered with this epoch leaves, and its leases are taken away. It is kept among those that left.
-- ARGV: time, worker, its JSON, epoch, '1'; '' in all partitions but the home: then nothing is told and nothing kept.
-- Answers 1 when nothing is left to take, 0 if take-over must go on. With another epoch, nothing is written.

-- @include base lanes tasks journal leases stages takeover departures

local worker = ARGV[2]
local known = call('HMGET', key('worker:' .. worker), 'epoch', 'version', 'host')
local epoch = known[1]
-- Gone already: if that was this very call, whose answer was lost, it may have left leases to take.
if not epoch then return call('HEXISTS', key('takeovers'), worker) == 1 and 0 or 1 end
if epoch ~= ARGV[4] then return 1 end
if ARGV[5] ~= '' then
  depart(worker)
  noteWorker('worker.left', ARGV[3], epoch, known[2], known[3], JOURNAL_REASONS.left)
else
  call('DEL', key('worker:' .. worker))
end
call('ZREM', key('workers'), worker)
call('ZADD', key('inboxes'), 'XX', '-inf', worker)
call('DEL', key('listening:' .. worker))
return (takeOver(worker, ARGV[3], draw(1), '0', 0, 0))
