-- The delay queue: a zset per pool, scored by when each task is due. A claim promotes what is due in the pools it asks for.

-- When the first of what waits in these pools is due; nil if nothing waits.
local function firstDue(pools)
  local first
  for _, pool in ipairs(pools) do
    local at = tonumber(call('ZRANGE', key('waiting:' .. pool), '0', '0', 'WITHSCORES')[2])
    if at and (not first or at < first) then first = at end
  end
  return first
end

-- Answers when the first of what still waits in the asked pools is due.
local function promoteDue(request)
  local first = firstDue(request.pools)
  if not first or first > now then return first end
  local due = {}
  local seen = {}
  for _, pool in ipairs(request.pools) do
    if not seen[pool] then
      seen[pool] = true
      local page = call('ZRANGE', key('waiting:' .. pool), '-inf', NOW, 'BYSCORE', 'LIMIT', 0, PROMOTE_MAX, 'WITHSCORES')
      for index = 1, #page, 2 do due[#due + 1] = { member = page[index], at = tonumber(page[index + 1]), pool = pool } end
    end
  end
  table.sort(due, function(a, b) return a.at < b.at or (a.at == b.at and a.member < b.member) end)
  for index = 1, math.min(#due, PROMOTE_MAX) do
    local item = due[index]
    call('ZREM', key('waiting:' .. item.pool), item.member)
    local task = loadTask(string.sub(item.member, 17))
    move(task.lane, 'waiting', nil)
    enqueue(task, false)
    stir(task.lane)
  end
  return firstDue(request.pools)
end
