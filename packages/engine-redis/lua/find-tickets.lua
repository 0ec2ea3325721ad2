#!lua flags=allow-oom
-- findTickets: in a store with several partitions, tells whether tasks were accepted under these tickets.
-- ARGV: time, '1' to bar those under which none was, so that none ever will be, then per ticket: task id, ticket.
-- Answers per ticket '1' if there is such a task, else ''.

-- @include base keys

local isBarring = ARGV[2] == '1'
local answer = {}
for at = 3, #ARGV, 2 do
  local isTaken = call('HGET', key('tickets'), ARGV[at]) == ARGV[at + 1]
  if isBarring and not isTaken then bar(ARGV[at + 1]) end
  answer[#answer + 1] = isTaken and '1' or ''
end
return answer
