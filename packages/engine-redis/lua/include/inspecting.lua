-- Inspection: what all its scripts share. The task's own record is the truth; what else is kept is held against it. A finding
-- is noted with what would set it right; that is done at once if the caller asked for repairs, and told in the journal.
-- ARGV of each script: time, request id, '1' to repair, actor, reason, how many to look at, then where to begin.
-- Each answers { where to go on or '', how many it looked at, what it could not look at or '', then the findings: FINDING_ROW,
-- repaired is '1' or '' }.

local ANSWER_HEAD = 3
-- So many findings are enough for one step: the next one goes on.
local FINDINGS_MAX = 200

local found, looked, repairs

atBegin(function()
  found, looked, repairs = { '', '0', '' }, 0, 0
end)

local WORDS = SUBJECT_WORDS

-- How a finding's subject is called in the journal: as core's subjectText() does.
local function subjectText(kind, name)
  if kind == 'key' then
    local tenant, action, dedupeKey = string.match(name, '^(.-)\n(.-)\n(.*)$')
    return format(WORDS.key, dedupeKey, action, tenant)
  end
  if kind ~= 'lane' and kind ~= 'limit' then return format(WORDS[kind], name) end
  local parts = {}
  local names = { 'pool', 'action', 'tenant' }
  local at = 0
  for value in string.gmatch(name .. '\n', '(.-)\n') do
    at = at + 1
    if value ~= '' and value ~= '\r' then parts[#parts + 1] = names[at] .. " '" .. value .. "'" end
  end
  return format(WORDS[kind], #parts == 0 and EVERYTHING or table.concat(parts, ', '))
end

-- `repair` sets it right; it answers false if it can't.
local function find(kind, subject, name, was, expected, repair)
  local isRepaired = ARGV[3] == '1' and repair and repair() ~= false
  for _, text in ipairs({ kind, subject, name, was, expected, isRepaired and '1' or '' }) do found[#found + 1] = text end
  if not isRepaired then return end
  repairs = repairs + 1
  note('store.repaired', subject == 'task' and name, nil, ARGV[4], ARGV[5], '{"kind":' .. cjson.encode(kind) .. ',"subject":'
    .. cjson.encode(subjectText(subject, name)) .. ',"found":' .. cjson.encode(was) .. ',"expected":' .. cjson.encode(expected) .. '}')
end

-- Whether this step has looked at, or found, as much as it may.
local function isTired()
  return looked >= tonumber(ARGV[6]) or #found - ANSWER_HEAD >= FINDINGS_MAX * #FINDING_ROW
end

-- The task, if it can be read; nil if it is gone, false if it can't be read.
local function readTask(id)
  local isFine, task = pcall(loadTask, id)
  if not isFine or (task and not task.lane.pool) then return false end
  return task or nil
end

local function inspected(goOnAt, unchecked)
  found[1], found[2], found[3] = goOnAt, int(looked), unchecked or ''
  return found, repairs > 0
end
