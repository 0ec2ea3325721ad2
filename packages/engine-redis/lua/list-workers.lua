#!lua flags=no-writes
-- workers: a page of workers, by id.
-- ARGV: time, the id that comes before the page ('' for the first page), how many are wanted.
-- Answers { time, the id to go on from ('' when these are the last), then per worker what include/workers.lua says }.

-- @include base workers

local wanted = tonumber(ARGV[3])
local ids = call('ZRANGE', key('workers'), ARGV[2] == '' and '-' or '(' .. ARGV[2], '+', 'BYLEX', 'LIMIT', 0, wanted + 1)
local answer = { int(now), #ids > wanted and ids[wanted] or '' }
for index = 1, math.min(#ids, wanted) do addWorker(answer, ids[index]) end
return answer
