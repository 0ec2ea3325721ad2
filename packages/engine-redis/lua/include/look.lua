-- Looking at a task: all it takes to show it, as the texts that are stored.

-- Status and latest attempt of a task; `state` is its stored one or false, `first` the record of its first attempt.
local function standing(state, first)
  if state then return string.match(state, '^{"status":"(%a+)","attempt":(%d+)') end
  if first then return statusOf(first), '1' end
  return 'queued', '0'
end

-- The head of a task that was queued at once and has a queue TTL.
local EXPIRING = '^{"seq":%d+,"acceptedAt":%d+,"lane":%d+,"profile":%d+,"expires":'

-- Lane time matters to what expires only.
local function hasExpiry(state, text)
  if state then return string.find(state, '"expires":', 1, true) end
  return string.find(text, EXPIRING)
end

-- Adds to the answer: id, text, state or '', record of the latest attempt or '', its lease or '', its progress or '', and of
-- the lane of a task that may expire heldSince or '', and heldMs. `first` is the record of the first attempt if that was read.
-- Answers the size of what it had to read.
local function addTask(answer, id, text, state, attempt, first)
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
  answer[last + 1] = id
  answer[last + 2] = text
  answer[last + 3] = state or ''
  answer[last + 4] = record
  answer[last + 5] = lease
  answer[last + 6] = progress
  answer[last + 7] = lane and lane[4] or ''
  answer[last + 8] = lane and lane[5] or '0'
  return size
end
