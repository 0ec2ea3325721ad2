-- The delay queue: a zset per pool, scored by when each task is due. A claim promotes some of what is due in the pools it asks
-- for. A pool of which more is left then rests for a moment if there is much to claim already: when very many tasks come due at
-- once, other work goes on.

local function isResting(pool)
  return pool.promotedAt and now >= pool.promotedAt and now - pool.promotedAt < PROMOTE_REST_MS
end

-- When a claim can promote the first of what waits in these pools; nil if nothing waits.
local function firstDue(pools)
  local first
  for _, name in ipairs(pools) do
    local at = tonumber(call('ZRANGE', key('waiting:' .. name), '0', '0', 'WITHSCORES')[2])
    if at and at <= now then
      local pool = poolNamed(name)
      if isResting(pool) then at = pool.promotedAt + PROMOTE_REST_MS end
    end
    if at and (not first or at < first) then first = at end
  end
  return first
end

local function isEarlier(a, b)
  return a.at < b.at or (a.at == b.at and a.member < b.member)
end

-- What is due in pools that do not rest, the earliest first.
local function dueIn(pools)
  local due, seen = {}, {}
  for _, pool in ipairs(pools) do
    if not seen[pool] and not isResting(poolNamed(pool)) then
      seen[pool] = true
      local page = call('ZRANGE', key('waiting:' .. pool), '-inf', NOW, 'BYSCORE', 'LIMIT', 0, PROMOTE_MAX, 'WITHSCORES')
      for index = 1, #page, 2 do due[#due + 1] = { member = page[index], at = tonumber(page[index + 1]), pool = pool } end
    end
  end
  if #pools > 1 then table.sort(due, isEarlier) end
  return due
end

-- Answers when the next claim can promote something in the asked pools.
local function promoteDue(request)
  local first = firstDue(request.pools)
  if not first or first > now then return first end
  local due = dueIn(request.pools)
  local count = math.min(#due, PROMOTE_MAX)
  local together = { rank = draw(count) - count, entries = {} }
  local taken, ready, seen = {}, {}, {}
  for index = 1, count do
    local item = due[index]
    local task = loadTask(string.sub(item.member, 17))
    move(task.lane, 'waiting', nil)
    enqueue(task, false, together)
    stir(task.lane)
    taken[item.pool] = (taken[item.pool] or 0) + 1
    seen[task.lane] = item.pool
  end
  for lane, pool in pairs(seen) do ready[pool] = (ready[pool] or 0) + lane.ready end
  for queue, entries in pairs(together.entries) do call('RPUSH', queue, unpack(entries)) end
  -- Those that were due first stand first.
  for pool, amount in pairs(taken) do call('ZREMRANGEBYRANK', key('waiting:' .. pool), '0', int(amount - 1)) end
  for _, name in ipairs(request.pools) do
    local pool = poolNamed(name)
    if (ready[name] or 0) >= PROMOTE_REST_READY and not isResting(pool) and call('ZCOUNT', key('waiting:' .. name), '-inf', NOW) > 0 then
      pool.promotedAt, pool.hasPromoted = now, true
    end
  end
  return firstDue(request.pools)
end
