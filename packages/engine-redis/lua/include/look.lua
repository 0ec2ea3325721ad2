-- Looking at a task: all it takes to show it, as the texts that are stored.

-- Status and latest attempt of a task; `state` is its stored one or false, `first` the record of its first attempt.
local function standing(state, first)
  if state then return string.match(state, STATE_PATTERN) end
  if first then return statusOf(first), '1' end
  return 'queued', '0'
end

-- The head of a task that was queued at once and has a queue TTL.
local EXPIRING = HEAD_PATTERN .. ',"profile":%d+,"expires":'

-- Lane time matters to what expires only.
local function hasExpiry(state, text)
  if state then return string.find(state, '"expires":', 1, true) end
  return string.find(text, EXPIRING)
end

-- What a light look makes of a text that is a head, a line break and a long value: the value is left out.
local function lightText(text)
  local stop = #text > LIGHT_BYTES_MAX and string.find(text, '\n', 1, true)
  -- The value has its name before it, so that a short one always stays.
  if not stop or #text - stop <= 2 * LIGHT_BYTES_MAX then return text end
  return string.match(text, '^[^\n]*\n"%a+":') .. '}'
end

-- Adds a TASK_ROW to the answer, '' for what is missing: the record is that of the latest attempt, the last two are of the lane of
-- a task that may expire. `first` is the record of the first attempt if that was read. Answers the size of what it had to read.
local function addTask(answer, id, text, state, attempt, first, isLight)
  local record, size = attempt == '1' and first or '', 0
  if record == '' and attempt ~= '0' then
    record = call('HGET', taskKey(id), attempt) or ''
    size = #record
  end
  local lease, progress = '', ''
  if record ~= '' and statusOf(record) == 'running' then
    local _, _, _, workerJson = string.match(record, RECORD_PATTERN)
    local worker = cjson.decode('[' .. workerJson .. ']')[1]
    lease = call('HGET', leasesKey(worker), id) or ''
    progress = call('HGET', key('progress'), id) or ''
  end
  local lane = hasExpiry(state, text) and partsOf(select(3, string.match(text, HEAD_PATTERN)))
  local last = #answer
  answer[last + TASK_ROW.id] = id
  answer[last + TASK_ROW.text] = isLight and lightText(text) or text
  answer[last + TASK_ROW.state] = state or ''
  answer[last + TASK_ROW.record] = isLight and lightText(record) or record
  answer[last + TASK_ROW.lease] = lease
  answer[last + TASK_ROW.progress] = progress
  answer[last + TASK_ROW.heldSince] = lane and lane.heldSince or ''
  answer[last + TASK_ROW.heldMs] = lane and lane.heldMs or '0'
  return size
end
