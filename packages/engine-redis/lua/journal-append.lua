#!lua
-- journal.append: entries from outside.
-- ARGV: time, request id, then per entry: type, task id ('' for none), attempt ('' for none), actor, reason, data (JSON).
-- Answers how many were written. There is nothing to check before the first write.

-- @once
-- @include base answers journal

for at = 3, #ARGV, 6 do
  local taskId = ARGV[at + 1]
  note(ARGV[at], taskId ~= '' and taskId, tonumber(ARGV[at + 2]), ARGV[at + 3], ARGV[at + 4], ARGV[at + 5])
end
return (#ARGV - 2) / 6
