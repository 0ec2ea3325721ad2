#!lua flags=allow-oom
-- register: begins a new epoch of a worker id; nothing of an earlier one is left.
-- ARGV: time, request id, worker, its JSON, pools (JSON), actions (JSON), host, version, runtimes (JSON), endpoint ('' for none),
--   concurrency ('' if it does not say), what its attempts say of its build (members of their JSON); in
--   a store with several partitions also the epoch that the home drew, and there how many leases were taken in the others ('' elsewhere: then
--   the journal tells nothing). An older epoch than the one it has changes nothing.
-- Answers { epoch, 1 if all its leases were taken away, 0 if take-over must go on, how many were taken }. A repetition (same
-- request id) gets the same answer.

-- @once
-- @include base answers lanes tasks journal leases stages workers takeover departures

local worker, workerJson = ARGV[3], ARGV[4]
local given = tonumber(ARGV[13])
local isTold = ARGV[14] ~= ''
if given and given < (tonumber(call('HGET', workerKey(worker), 'epoch')) or 0) then return { int(given), 1, 0 } end
local wasKnown = call('DEL', workerKey(worker)) == 1
local bound = draw(1)
local epoch = given or bound
local fresh = freshWorker(worker)
-- What was assigned to an earlier epoch has ended, and lies there until it is taken back.
fresh.inbox = call('EXISTS', inboxKey(worker))
call('HSET', workerKey(worker), 'epoch', int(epoch), 'pools', ARGV[5], 'actions', ARGV[6], 'host', ARGV[7], 'version', ARGV[8],
  'runtimes', ARGV[9], 'endpoint', ARGV[10], 'concurrency', ARGV[11], 'build', ARGV[12], 'registeredAt', NOW, 'numbers', packWorker(fresh))
call('ZADD', key('workers'), 0, worker)
forgetDeparted(worker)
if isTold and not wasKnown then
  noteWorker('worker.joined', workerJson, int(epoch), ARGV[8], ARGV[7], JOURNAL_REASONS.joined)
end
local isDone, taken = takeOver(worker, workerJson, bound, '0', tonumber(ARGV[14]) or 0, isTold and wasKnown and epoch or 0)
return { int(epoch), isDone, taken }
