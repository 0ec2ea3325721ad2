#!lua flags=allow-oom
-- inspectDelays: whether each entry of the delay queues belongs to a task that waits for just that time.
-- ARGV: see include/inspecting.lua; to begin at: a pool ('' for the first), place in its delay queue.

-- @once
-- @include base answers lanes tasks journal inspecting

local limit = tonumber(ARGV[6])

-- The pools that have lanes, by name.
local function poolsFrom(first)
  local names, seen = {}, {}
  for _, lane in ipairs(call('HKEYS', key('lanes'))) do
    local pool = string.match(lane, '^[^\n]*')
    if not seen[pool] and pool >= first then names[#names + 1] = pool end
    seen[pool] = true
  end
  table.sort(names)
  return names
end

local function isRight(pool, member, dueAt)
  local task = readTask(string.sub(member, 17))
  return task and task.state.status == 'waiting' and task.state.dueAt == dueAt and task.lane.pool == pool
    and waitingMember(task) == member
end

local function walk()
  local from = tonumber(ARGV[8])
  for _, pool in ipairs(poolsFrom(ARGV[7])) do
    if pool ~= ARGV[7] then from = 0 end
    local delays = key('waiting:' .. pool)
    local wanted = limit - looked
    if wanted <= 0 then return int(from) .. ' ' .. pool end
    local page = call('ZRANGE', delays, int(from), int(from + wanted - 1), 'WITHSCORES')
    local gone = 0
    for at = 1, #page, 2 do
      looked = looked + 1
      local member, dueAt = page[at], tonumber(page[at + 1])
      if not isRight(pool, member, dueAt) then
        find('delay_entry_extra', 'task', string.sub(member, 17), FINDING_WORDS.entryDueAt .. int(dueAt), FINDING_WORDS.noEntry, function()
          gone = gone + call('ZREM', delays, member)
        end)
      end
    end
    if #page == wanted * 2 then return int(from + wanted - gone) .. ' ' .. pool end
  end
  return ''
end

return inspected(walk())
