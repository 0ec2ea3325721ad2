#!lua flags=no-writes
-- findWorkers: in a store with several partitions, what one of them knows of these workers. Unknown ones are left out.
-- ARGV: time, worker ids.
-- Answers { time, '', then per worker what include/workers.lua says }.

-- @include base workers

local answer = { NOW, '' }
for at = 2, #ARGV do addWorker(answer, ARGV[at]) end
return answer
