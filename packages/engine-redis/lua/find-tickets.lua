#!lua flags=allow-oom
-- findTickets: in a store with several partitions, tells whether tasks were accepted under these tickets.
-- ARGV: time, '1' to bar those under which none was accepted, or whose task does not hold its key any more: then no task ever
--   will be, and that one goes without its key; then per ticket: task id, ticket.
-- Answers per ticket '1' if there is such a task and it holds its key, '2' if it does not any more (without barring), else ''.

-- @include base lanes tasks keys

local isBarring = ARGV[2] == '1'
local answer = {}
for at = 3, #ARGV, 2 do
  local id, ticket = ARGV[at], ARGV[at + 1]
  local isTaken = call('HGET', key('tickets'), id) == ticket
  local task = isTaken and loadTask(id)
  local isHeld = task and dedupe.isHeldBy(task)
  if isBarring and not isHeld then
    dedupe.bar(ticket)
    if isTaken then
      call('HDEL', key('tickets'), id)
      dedupe.lose(id)
    end
  end
  answer[#answer + 1] = isHeld and '1' or isTaken and not isBarring and '2' or ''
end
return answer
