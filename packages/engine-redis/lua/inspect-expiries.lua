#!lua flags=allow-oom
-- inspectExpiries: whether each queue TTL and each deadline that is noted for the sweep is that of a queued task.
-- ARGV: see include/inspecting.lua; to begin at: number of a list (0 is that of the deadlines, then the lanes'), place in it.

-- @once
-- @include base answers lanes tasks queue journal inspecting

local limit = tonumber(ARGV[6])
local LISTS_MAX = 2000

-- A time that is not the task's own was found with the task.
local function isRight(number, id)
  local task = readTask(id)
  if not task or task.state.status ~= 'queued' then return false end
  if number == 0 then return deadlineOf(task) end
  return task.lane.number == number and task.state.expires
end

-- Answers how many were looked at, and how many are gone.
local function inspectList(number, list, from)
  local ids = call('ZRANGE', list, int(from), int(from + limit - looked - 1))
  local gone = 0
  for _, id in ipairs(ids) do
    looked = looked + 1
    if not isRight(number, id) then
      find('expiry_extra', 'task', id, 'noted for the sweep', 'not noted', function() gone = gone + call('ZREM', list, id) end)
    end
  end
  return #ids, gone
end

local function walk()
  local number, from = tonumber(ARGV[7]), tonumber(ARGV[8])
  local last = tonumber(call('HGET', NUMBERS, 'lanes')) or 0
  local stop = number + LISTS_MAX
  while number <= last do
    local wanted = limit - looked
    if wanted <= 0 or number >= stop then return int(number) .. ' ' .. int(from) end
    local list = key(number == 0 and 'deadlines' or 'ttl:' .. int(number))
    local count, gone = inspectList(number, list, from)
    if count == wanted then return int(number) .. ' ' .. int(from + count - gone) end
    number, from = number + 1, 0
  end
  return ''
end

return inspected(walk())
