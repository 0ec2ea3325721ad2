-- Looking at a task: all it takes to show it, as the texts that are stored.

-- Status and latest attempt of a task; `state` is its stored one or false, `first` the record of its first attempt.
local function standing(state, first)
  if state then return string.match(state, '^{"status":"(%a+)","attempt":(%d+)') end
  if first then return statusOf(first), '1' end
  return 'queued', '0'
end

-- Adds to the answer: id, text, state or '', record of the latest attempt or '', its lease or '', its progress or '',
-- heldSince of the lane or '', heldMs of the lane. Answers the size of the texts.
local function addTask(answer, id, text, state, attempt)
  local record = call('HGET', taskKey(id), attempt) or ''
  local lease, progress = '', ''
  local status, _, _, workerJson = string.match(record, RECORD_PATTERN)
  if status == 'running' then
    local worker = cjson.decode('[' .. workerJson .. ']')[1]
    lease = call('HGET', leasesKey(worker), id) or ''
    progress = call('HGET', key('progress'), id) or ''
  end
  local lane = partsOf(select(3, string.match(text, HEAD_PATTERN)))
  local size = #answer
  answer[size + 1] = id
  answer[size + 2] = text
  answer[size + 3] = state or ''
  answer[size + 4] = record
  answer[size + 5] = lease
  answer[size + 6] = progress
  answer[size + 7] = lane[4] or ''
  answer[size + 8] = lane[5] or '0'
  return #text + #record
end
