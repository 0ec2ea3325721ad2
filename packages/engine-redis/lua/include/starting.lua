-- How a claim starts the attempt of an entry: the record, the lease, and its place in the answer.

-- Made once: to write a number as text is dear.
local NUMBERED = {}
for index = 1, BATCH_MAX do NUMBERED[index] = '-' .. index end

-- What a claim needs again and again while it starts attempts.
local function newStarter(request, claimed)
  local build = request.stage == STAGE_LETTERS.run and workerNamed(request.worker).build or ''
  local drawn, beginning = draw(1, true)
  return {
    request = request, build = build, claimed = claimed, stage = request.stage, change = leaseChange(request.worker), draw = int(drawn), beginning = beginning, count = 0, starts = {},
    plainTail = '","worker":' .. request.workerJson .. ',"dispatchedAt":' .. NOW .. build .. RUNNING_TAIL,
  }
end

local function plainLeaseStart(starter, timeoutMs)
  local start = starter.starts[timeoutMs]
  if not start then
    local untilAt
    start, untilAt = leaseStart(tonumber(timeoutMs), starter.request.leaseMs, '1')
    startsAt(starter.change, untilAt)
    starter.starts[timeoutMs] = start
  end
  return start
end

local function started(claimed, id, text)
  local size = #claimed
  claimed[size + 1] = id
  claimed[size + 2] = text
end

-- What the answer says of a task that is not plain, or whose token is not the next of the draw.
local function startedUnusually(claimed, id, token, text, state)
  claimed[#claimed + 1] = '\n' .. token .. '\n' .. state
  started(claimed, id, text)
end

local RUNNING_HEAD = '{"status":"running","attempt":1,"token":"'

-- The first attempt of a plain task: the short way that nearly all go.
local function startPlain(starter, laneSuffix, id, timeoutMs)
  starter.count = starter.count + 1
  local token = starter.draw .. NUMBERED[starter.count] .. laneSuffix
  local itsKey = taskKey(id)
  local text = call('HGET', itsKey, 'task')
  call('HSET', itsKey, '1', RUNNING_HEAD .. token .. starter.plainTail)
  addLease(starter.change, id, PLAIN, token, plainLeaseStart(starter, timeoutMs))
  started(starter.claimed, id, text)
end

-- A plain task whose lease is not there to run it gets a stored state.
local function makeStored(head)
  local task = loadTask(head.id)
  head.state = task.state
  head.text = task.text
end

local function startEntry(starter, lane, head)
  local id = head.id
  if head.expires or head.deadlineAt then forgetTimes(lane, id, head.expires, head.deadlineAt) end
  if not head.state then
    if starter.stage == STAGE_LETTERS.run then return startPlain(starter, '.' .. int(lane.number), id, head.timeoutMs) end
    makeStored(head)
  end
  starter.count = starter.count + 1
  local token = starter.draw .. NUMBERED[starter.count] .. '.' .. int(lane.number)
  local state = nextState(head.state, 'running')
  state.attempt = state.attempt + 1
  local attempt = int(state.attempt)
  local newState = stateText(state)
  local record = runningRecord(attempt, token, starter.request.workerJson, recordExtra(state.generation, state.retryReason, starter.build))
  call('HSET', taskKey(id), attempt, record, 'state', newState)
  local start, untilAt = leaseStart(tonumber(head.timeoutMs), starter.request.leaseMs, attempt, starter.stage)
  if starter.stage == STAGE_LETTERS.launch then enterLaunches(lane.pool, id) else startsAt(starter.change, untilAt) end
  addLease(starter.change, id, starter.stage, token, start)
  startedUnusually(starter.claimed, id, token, head.text, newState)
end

-- Past its time: it can't be claimed any more, and waits for the sweep.
local function retire(head)
  local state = head.state or loadTask(head.id).state
  state.retired = true
  call('HSET', taskKey(head.id), 'state', stateText(state))
end
