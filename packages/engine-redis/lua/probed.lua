#!lua flags=allow-oom
-- probed: whether workers answered when they were asked at their endpoints.
-- ARGV: time, request id, then per report a PROBE: answered is '1' or ''.
-- Answers 1. Reports of another epoch change nothing; nor does a repetition (same request id).

-- @once
-- @include base answers workers

for at = 3, #ARGV, #PROBE do
  local worker = workerNamed(ARGV[at])
  if worker and worker.epoch == ARGV[at + PROBE_AT.epoch] then
    worker.probeFailures = ARGV[at + PROBE_AT.answered] == '1' and 0 or worker.probeFailures + 1
    worker.changed = true
  end
end
flushWorkers()
return 1
