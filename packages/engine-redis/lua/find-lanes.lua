#!lua flags=no-writes
-- findLanes: in a store with several partitions, what this one has of lanes that another listed.
-- ARGV: time, then the lanes' names (pool, action and tenant, in three lines).
-- Answers per lane: its number, then the counters of include/counters.lua; '' in place of all if there is no such lane here.

-- @include base lanes scope counters

local answer = {}
for at = 2, #ARGV do
  local number = call('HGET', key('lanes'), ARGV[at])
  answer[#answer + 1] = number or ''
  if number then
    for _, count in ipairs(countersOf(number)) do answer[#answer + 1] = count end
  end
end
return answer
