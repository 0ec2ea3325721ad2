-- Dedupe keys. Where a store has one partition, the hash 'keys' names the task of each (tenant, key). Where it has several,
-- a key is held in a partition of its own, under a ticket (see hold-keys.lua), and a task is accepted with that ticket in
-- place of its key: '\n<when the key was taken> <ticket>'. The partition of the task keeps the ticket with it, and knows
-- tickets that are barred: no task can be accepted with one any more.

local TICKET = 10
-- A ticket is good for less time than a bar stands, whatever the clocks of two servers differ in between.
local TICKET_MS_MAX = 600000
local BAR_MS = 86400000

local function bar(ticket)
  call('SET', key('barred:' .. ticket), '1', 'PX', BAR_MS)
end

-- The task that has the key; false if none has. '\r' if the ticket in its place is no good: then no task may be accepted.
local function keyHolder(tenant, dedupeKey)
  if string.byte(dedupeKey) ~= TICKET then return call('HGET', key('keys'), tenant .. '\n' .. dedupeKey) end
  local takenAt, ticket = string.match(dedupeKey, '^\n(%d+) (%S+)$')
  local isGood = ticket and now - tonumber(takenAt) < TICKET_MS_MAX and call('EXISTS', key('barred:' .. ticket)) == 0
  return not isGood and '\r'
end

local function keepKey(tenant, dedupeKey, id)
  local ticket = string.match(dedupeKey, '^\n%d+ (%S+)$')
  if ticket then
    call('HSET', key('tickets'), id, ticket)
  else
    call('HSET', key('keys'), tenant .. '\n' .. dedupeKey, id)
  end
end

-- The task is removed. A key that is held elsewhere is freed there later: until then it is noted.
local function dropKey(tenant, dedupeKey, id)
  local name = tenant .. '\n' .. dedupeKey
  local ticket = call('HGET', key('tickets'), id)
  if not ticket then
    call('HDEL', key('keys'), name)
    return
  end
  call('HDEL', key('tickets'), id)
  bar(ticket)
  call('HSET', key('freeing'), name, ticket .. ' ' .. id)
end
