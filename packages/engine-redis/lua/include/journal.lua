-- The journal: a stream, whose entry numbers count up; beside it a list of numbers per task. An entry is written in the
-- same step as what it tells of.

local function writeNote(number, kind, taskId, attempt, actor, reason, data)
  local text = int(number)
  call('XADD', key('journal'), text .. '-0', 'at', int(now), 'type', kind, 'task', taskId or '',
    'attempt', attempt and int(attempt) or '', 'actor', actor, 'reason', reason, 'data', data)
  if taskId then call('RPUSH', key('journal:' .. taskId), text) end
end

local function note(kind, taskId, attempt, actor, reason, data)
  writeNote(call('HINCRBY', NUMBERS, 'journal', 1), kind, taskId, attempt, actor, reason, data)
end
