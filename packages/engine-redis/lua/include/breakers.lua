-- Circuit breakers: where they are kept, and how one changes (see core's breaker.ts, which is the definition). The hash
-- 'breakers' has them by name, each as its settings (JSON), a line break, and the rest (JSON); it is there only while any is,
-- so all that goes well pays nothing. 'covered' names the breakers of each action, one per line. What follows from a change is
-- in gates.lua and outages.lua.

local breakers, coverings

atBegin(function()
  breakers, coverings = {}, {}
end)

local function parseBreaker(name, text)
  local stop = string.find(text, '\n', 1, true)
  local breaker = cjson.decode(string.sub(text, stop + 1))
  breaker.name = name
  breaker.settingsText = string.sub(text, 1, stop - 1)
  breaker.settings = decodeSettings(breaker.settingsText)
  return breaker
end

-- Numbers and texts by name; cjson itself would write an empty list as an object, and long numbers inexactly.
local function fieldsText(fields)
  local texts = {}
  for name, value in pairs(fields) do
    texts[#texts + 1] = cjson.encode(name) .. ':' .. (type(value) == 'number' and int(value) or cjson.encode(value))
  end
  return '{' .. table.concat(texts, ',') .. '}'
end

local function breakerText(breaker)
  local actions, buckets = {}, {}
  for index, action in ipairs(breaker.actions) do actions[index] = cjson.encode(action) end
  for index, bucket in ipairs(breaker.buckets) do buckets[index] = fieldsText(bucket) end
  return breaker.settingsText .. '\n{"actions":[' .. table.concat(actions, ',') .. '],"state":' .. fieldsText(breaker.state)
    .. ',"buckets":[' .. table.concat(buckets, ',') .. ']}'
end

-- False if there is none. Changes are written by flushBreakers().
local function breakerNamed(name)
  local breaker = breakers[name]
  if breaker == nil then
    local text = call('HGET', key('breakers'), name)
    breaker = text and parseBreaker(name, text)
    breakers[name] = breaker
  end
  return breaker
end

-- The names of the breakers that cover an action, in order.
local function covering(action)
  local names = coverings[action]
  if not names then
    names = {}
    for name in string.gmatch(call('HGET', key('covered'), action) or '', '[^\n]+') do names[#names + 1] = name end
    coverings[action] = names
  end
  return names
end

local function setCovering(action, names)
  coverings[action] = names
  if #names == 0 then
    call('HDEL', key('covered'), action)
  else
    call('HSET', key('covered'), action, table.concat(names, '\n'))
  end
end

local function liveBuckets(breaker)
  local kept = {}
  for _, bucket in ipairs(breaker.buckets) do
    if bucket.at + breaker.settings.windowMs > now then kept[#kept + 1] = bucket end
  end
  return kept
end

-- When its last failure leaves the window.
local function fadesAt(breaker)
  local at = 0
  for _, bucket in ipairs(breaker.buckets) do
    if bucket.failed > 0 then at = math.max(at, bucket.at + breaker.settings.windowMs) end
  end
  return at
end

local function isForgotten(breaker)
  return breaker.state.status == 'closed' and fadesAt(breaker) <= now
end

local function countOutcome(breaker, what)
  local widthMs = math.max(math.floor(breaker.settings.windowMs / BREAKER_BUCKETS), 1)
  local at = math.floor(now / widthMs) * widthMs
  local kept = liveBuckets(breaker)
  local last = kept[#kept]
  if not last or last.at < at then
    last = { at = at, ok = 0, failed = 0 }
    kept[#kept + 1] = last
  end
  last[what] = last[what] + 1
  breaker.buckets = kept
end

local function openBreaker(breaker, opens)
  local settings = breaker.settings
  local openMs = math.min(settings.openMs * 2 ^ math.min(opens - 1, BREAKER_DOUBLINGS_MAX), settings.openMsMax)
  breaker.state = { status = 'open', since = now, ['until'] = now + openMs, opens = opens }
  breaker.buckets = {}
end

local function countFailure(breaker, opens)
  countOutcome(breaker, 'failed')
  local ok, failed = 0, 0
  for _, bucket in ipairs(breaker.buckets) do
    ok = ok + bucket.ok
    failed = failed + bucket.failed
  end
  local settings = breaker.settings
  if failed >= settings.failuresMin and failed >= settings.failureRate * (ok + failed) then openBreaker(breaker, opens) end
end

local function afterFailure(breaker, startedAt)
  local state = breaker.state
  if state.status == 'closed' then
    countFailure(breaker, 1)
  elseif state.status ~= 'open' and startedAt >= state.since then
    if state.status == 'half_open' then openBreaker(breaker, state.opens + 1) else countFailure(breaker, state.opens + 1) end
  end
end

local function afterSuccess(breaker, startedAt)
  local state, settings = breaker.state, breaker.settings
  if state.status == 'closed' then return countOutcome(breaker, 'ok') end
  if state.status == 'open' or startedAt < state.since then return end
  local isRamping = state.status == 'ramping'
  if isRamping then countOutcome(breaker, 'ok') end
  local wanted = isRamping and state.concurrency or settings.probes
  state.succeeded = state.succeeded + 1
  if state.succeeded < wanted then return end
  breaker.state = { status = 'ramping', since = state.since, opens = state.opens, succeeded = 0, concurrency = wanted * 2 }
  if wanted * 2 >= settings.rampMax then breaker.state = { status = 'closed' } end
end

-- Whether a failure that counted for it is to be parked.
local function isOutage(breaker, startedAt)
  local state = breaker.state
  if state.status == 'ramping' then return startedAt < state.since end
  return state.status ~= 'closed'
end
