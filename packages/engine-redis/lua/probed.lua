#!lua flags=allow-oom
-- probed: whether workers answered when they were asked at their endpoints.
-- ARGV: time, request id, then per report: worker, epoch, '1' if it answered, else ''.
-- Answers 1. Reports of another epoch change nothing; nor does a repetition (same request id).

-- @include base answers workers

local request = ARGV[2]
if recall(request) then return 1 end
for at = 3, #ARGV, 3 do
  local worker = workerNamed(ARGV[at])
  if worker and worker.epoch == ARGV[at + 1] then
    worker.probeFailures = ARGV[at + 2] == '1' and 0 or worker.probeFailures + 1
    worker.changed = true
  end
end
flushWorkers()
return remember(request, 1)
