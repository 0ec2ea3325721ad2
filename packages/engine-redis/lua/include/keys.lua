-- Dedupe keys. Where a store has one partition, the hash 'dedupe' names the task that took each (tenant, action, key) last. Where it
-- has several, a key is held in a partition of its own, under a ticket (see hold-keys.lua), and a task is accepted with that
-- ticket in place of its key: '\n<when the key was taken> <ticket>'. The partition of the task keeps the ticket with it, and
-- knows tickets that are barred: no task can be accepted with one any more. Whether a task holds its key follows from the task:
-- nothing is written when it ends.

local TICKET = 10
-- A ticket is good for less time than a bar stands, whatever the clocks of two servers differ in between.
local TICKET_MS_MAX = 600000
local BAR_MS = 86400000

-- One name for all of them: a library has room for 200.
local dedupe = {}

local CAN_COME_BACK = { dead = true, discarded = true }
local LIVING = { queued = true, waiting = true, running = true }

function dedupe.name(tenant, action, dedupeKey)
  return tenant .. '\n' .. action .. '\n' .. dedupeKey
end

function dedupe.bar(ticket)
  call('SET', key('barred:' .. ticket), '1', 'PX', BAR_MS)
end

function dedupe.isHeldBy(task)
  local untilAt = task.head.keyUntil
  if untilAt then return now < untilAt end
  return LIVING[task.state.status] and not task.state.keyLost
end

-- The part of a task's text that says how long it holds its key.
function dedupe.life(dedupeMs)
  return dedupeMs and ',"keyUntil":' .. int(math.min(now + dedupeMs, KEY_FOREVER_MS)) or ''
end

-- The task that holds the key; false if none does. '\r' if the ticket in its place is no good: then no task may be accepted.
function dedupe.holder(name, dedupeKey)
  if string.byte(dedupeKey) ~= TICKET then
    local id = call('HGET', key('dedupe'), name)
    local task = id and loadTask(id)
    return task and dedupe.isHeldBy(task) and task
  end
  local takenAt, ticket = string.match(dedupeKey, '^\n(%d+) (%S+)$')
  local isGood = ticket and now - tonumber(takenAt) < TICKET_MS_MAX and call('EXISTS', key('barred:' .. ticket)) == 0
  return not isGood and '\r'
end

-- Another task has the key of this one, which does not hold it: a dead letter goes without it, should it come back.
function dedupe.lose(id)
  local task = loadTask(id)
  if not task or not CAN_COME_BACK[task.state.status] or task.head.keyUntil then return end
  task.state.keyLost = true
  saveState(task)
end

function dedupe.keep(name, dedupeKey, id)
  local ticket = string.match(dedupeKey, '^\n%d+ (%S+)$')
  if ticket then
    call('HSET', key('tickets'), id, ticket)
    return
  end
  local before = call('HGET', key('dedupe'), name)
  call('HSET', key('dedupe'), name, id)
  if before then dedupe.lose(before) end
end

-- The task is removed. A key that is held elsewhere is freed there later: until then it is noted.
function dedupe.drop(name, id)
  local ticket = call('HGET', key('tickets'), id)
  if not ticket then
    if call('HGET', key('dedupe'), name) == id then call('HDEL', key('dedupe'), name) end
    return
  end
  call('HDEL', key('tickets'), id)
  dedupe.bar(ticket)
  call('HSET', key('freeing'), name, ticket .. ' ' .. id)
end

-- In what the request of a task differs from another, of which the rest of a text is given: letters, '' for the same.
function dedupe.differences(text, action, tenant, rest)
  local lane = string.match(text, '^{"seq":%d+,"acceptedAt":%d+,"lane":(%d+)')
  local names = call('HMGET', key('lane:' .. lane), 'action', 'tenant')
  local isSamePayload = part(text, (string.find(text, '\n', 1, true))) == part(rest, (string.find(rest, '\n', 1, true)))
  return (isSamePayload and '' or DIFFERENCE_LETTERS.payload)
    .. (names[1] == action and '' or DIFFERENCE_LETTERS.action)
    .. (names[2] == tenant and '' or DIFFERENCE_LETTERS.tenant)
end
