-- Tasks that come from elsewhere, with the attempts that they had there. What is written about them comes ready to be stored; a
-- token is drawn here for each attempt.

-- One name for all of them: a library has room for 200.
local past = {}

-- What stands before a task's times and key: '\f', its past as JSON, '\f'. Answers the past, or nil, and what follows it.
function past.split(extra)
  local json, rest = string.match(extra, '^\f([^\f]*)\f(.*)$')
  if not json then return nil, extra end
  return cjson.decode(json), rest
end

-- Where a task stands that has this past, but for what its status adds.
function past.state(brought, status, notify)
  local spent = brought.spent
  return {
    status = status, attempt = spent.attempt, generation = spent.generation, before = spent.before, failures = spent.failures,
    losses = spent.losses, parks = spent.parks, retryReason = spent.retryReason, notify = notify,
    diedOf = not brought.isDead and brought.died and brought.died.fingerprint or nil,
  }
end

function past.record(id, lane, brought)
  local records = brought.records
  if #records == 0 then return end
  local head, tail = int(draw(1)) .. '-', '.' .. int(lane.number)
  local fields = {}
  for index, record in ipairs(records) do
    fields[index * 2 - 1] = int(record.attempt)
    fields[index * 2] = record.head .. head .. index .. tail .. record.tail
  end
  call('HSET', taskKey(id), unpack(fields))
end

-- The group of the cause that the task died of, also if nobody is in it: a task that came back from it may return to it.
function past.know(task, died)
  local itsKey = groupKey(died.fingerprint)
  if call('HSETNX', itsKey, 'action', task.lane.action) == 0 then return end
  call('HSET', itsKey, 'number', int(call('HINCRBY', NUMBERS, 'groups', 1)), 'firstAt', int(died.at), 'lastAt', int(died.at),
    'lastTask', task.id, 'sample', died.sample)
end

-- It died when it died: a group reaches back to its first, and shows the latest.
function past.join(task, died)
  past.know(task, died)
  local itsKey = groupKey(died.fingerprint)
  local known = call('HMGET', itsKey, 'firstAt', 'lastAt')
  if died.at < tonumber(known[1]) then call('HSET', itsKey, 'firstAt', int(died.at)) end
  if died.at >= tonumber(known[2]) then
    call('HSET', itsKey, 'lastAt', int(died.at), 'lastTask', task.id, 'sample', died.sample)
  end
  rejoinGroup(task, died.fingerprint)
end

function past.note(id, brought, status)
  local attempt = brought.spent.attempt
  note('task.imported', id, attempt > 0 and attempt, brought.actor, brought.reason, brought.data[status])
end
