#!lua flags=allow-oom
-- inspectKeys: whether each dedupe key is noted for a task that has it; whether the task still holds it is another matter. Only for a store with one partition.
-- ARGV: see include/inspecting.lua; to begin at: a cursor ('0' at first).

-- @once
-- @include base answers lanes tasks journal keys inspecting

local reply = call('HSCAN', key('dedupe'), ARGV[7], 'COUNT', ARGV[6])
local page = reply[2]
for at = 1, #page, 2 do
  looked = looked + 1
  local name, holder = page[at], page[at + 1]
  local task = readTask(holder)
  local itsKey = task and task.head.dedupeKey and dedupe.name(task.lane.tenant, task.lane.action, task.head.dedupeKey)
  if itsKey ~= name then
    find('key_extra', 'key', name, format(task and FINDING_WORDS.heldByTask or "held by a task that is gone '%s'", holder), FINDING_WORDS.heldByNobody,
      function() call('HDEL', key('dedupe'), name) end)
  end
end
return inspected(reply[1] == '0' and '' or reply[1])
