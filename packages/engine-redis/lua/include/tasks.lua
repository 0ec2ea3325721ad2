-- Tasks: a hash each. Field 'task' is what was asked, written once: a head in JSON, then a line break, then the payload.
-- Fields '1', '2', ... are the attempts. Field 'state' says where the task stands; while it is missing, the task is plain:
-- queued since it was accepted and never touched, or in (or through) its first attempt. A task whose settings ask for an event at
-- its end always has a state, which says so: then successes of other tasks need not look at settings.

local profiles

atBegin(function()
  profiles = {}
end)

-- Settings that were decoded before, by their text: they outlive a call. There are few, or they are dropped.
local decoded, decodedCount = {}, 0
local DECODED_MAX = 1000

-- What a breaker was told under the names of earlier versions (docs/adr/0026), under those of today.
local function currentNames(settings)
  if settings.rampMax then
    settings.minFailures, settings.maxOpenMs, settings.maxRamp = settings.failuresMin, settings.openMsMax, settings.rampMax
  end
  return settings
end

local function decodeSettings(text)
  local settings = decoded[text]
  if settings then return settings end
  if decodedCount >= DECODED_MAX then decoded, decodedCount = {}, 0 end
  settings = currentNames(cjson.decode(text))
  decoded[text] = settings
  decodedCount = decodedCount + 1
  return settings
end

-- What the settings of a profile say about queueing.
local function profileNumbered(number)
  local known = profiles[number]
  if not known then
    known = decodeSettings(call('HGET', key('profile'), int(number)))
    profiles[number] = known
  end
  return known
end

-- The number, as text, of the profile with these settings; it gets one if it is new.
local function profileFor(text)
  local number = call('HGET', key('profiles'), text)
  if number then return number end
  number = int(call('HINCRBY', NUMBERS, 'profiles', '1'))
  call('HSET', key('profiles'), text, number)
  call('HSET', key('profile'), number, text)
  return number
end

local function parseHead(text)
  local stop = string.find(text, '\n', 1, true)
  return cjson.decode(string.sub(text, 1, stop - 2) .. '}')
end

-- How long the payload is at the end of a task's text, or of the rest of one: after a line break and its name, before the last
-- bracket.
local function payloadBytes(text)
  return #text - string.find(text, '\n', 1, true) - PAYLOAD_NAME_LENGTH
end

local function statusOf(record)
  return string.match(record, STATUS_PATTERN)
end

-- A task with its head and state, whatever it is; false if there is none.
local function loadTask(id)
  local values = call('HMGET', taskKey(id), 'task', 'state', '1')
  if not values[1] then return false end
  local head = parseHead(values[1])
  local state
  if values[2] then
    state = cjson.decode(values[2])
  else
    state = { status = 'queued', attempt = 0, generation = 1, before = 0, failures = 0, losses = 0,
      rank = head.seq, since = head.acceptedAt, expires = head.expires }
    if values[3] then
      state.attempt = 1
      state.status = statusOf(values[3])
    end
  end
  return {
    id = id, head = head, state = state, text = values[1], stateText = values[2], first = values[3],
    lane = laneNumbered(head.lane), profile = profileNumbered(head.profile), priority = head.priority or DEFAULT_PRIORITY,
  }
end

local STATE_FIELDS = {
  'parks', 'deferrals', 'retryReason', 'rank', 'since', 'expires', 'retired', 'returned', 'dueAt', 'reason', 'quota', 'at',
  'fingerprint', 'diedOf', 'keyLost', 'notify', 'policy',
}
-- How each is written.
for index = 1, #STATE_FIELDS do STATE_FIELDS[STATE_FIELDS[index]] = ',"' .. STATE_FIELDS[index] .. '":' end

-- Status and attempt come first: see those who look for them by a pattern. Put together at the end: Redis' Lua reads each string
-- that comes into being, to its last byte.
local function stateText(state)
  local parts, size = { format('{"status":"%s","attempt":%d,"generation":%d,"before":%d,"failures":%d,"losses":%d',
    state.status, state.attempt, state.generation, state.before, state.failures, state.losses) }, 1
  for _, name in ipairs(STATE_FIELDS) do
    local value = state[name]
    if value ~= nil and value ~= cjson.null then
      parts[size + 1], parts[size + 2] = STATE_FIELDS[name], type(value) == 'number' and int(value) or cjson.encode(value)
      size = size + 2
    end
  end
  parts[size + 1] = '}'
  return table.concat(parts)
end

local function saveState(task)
  call('HSET', taskKey(task.id), 'state', stateText(task.state))
end

-- What of the state outlasts a transition; the rest belongs to one status only. What it last died of is its fingerprint while it
-- is dead, and `diedOf` from then on.
local function nextState(state, status)
  return {
    status = status, attempt = state.attempt, generation = state.generation, before = state.before,
    failures = state.failures, losses = state.losses, parks = state.parks, deferrals = state.deferrals,
    retryReason = state.retryReason, rank = state.rank, keyLost = state.keyLost, notify = state.notify,
    policy = state.policy, diedOf = state.fingerprint or state.diedOf,
  }
end

local function waitingMember(task)
  return string.format('%016d', task.head.seq) .. task.id
end
