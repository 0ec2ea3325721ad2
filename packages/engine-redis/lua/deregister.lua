#!lua flags=allow-oom
-- deregister: forgets a worker that is registered with this epoch, and takes its leases away.
-- ARGV: time, worker, its JSON, epoch.
-- Answers 1 when nothing is left to take, 0 if take-over must go on. With another epoch, nothing is written.

-- @include base lanes tasks journal leases stages takeover

local worker = ARGV[2]
local epoch = call('HGET', key('worker:' .. worker), 'epoch')
-- Gone already: if that was this very call, whose answer was lost, it may have left leases to take.
if not epoch then return call('HEXISTS', key('takeovers'), worker) == 1 and 0 or 1 end
if epoch ~= ARGV[4] then return 1 end
call('DEL', key('worker:' .. worker))
call('ZREM', key('workers'), worker)
call('ZADD', key('inboxes'), 'XX', '-inf', worker)
call('DEL', key('listening:' .. worker))
return (takeOver(worker, ARGV[3], draw(1), '0', 0, 0))
