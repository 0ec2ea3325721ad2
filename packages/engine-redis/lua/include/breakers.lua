-- Circuit breakers: where they are kept, and how one changes (see core's breaker.ts and voices.ts, which are the definition). The
-- hash 'breakers' has them by id, which is the name, with '\n<tenant>' behind it if it is a tenant's own; each as its settings
-- (JSON), a line break, and the rest (JSON). It is there only while any is, so all that goes well pays nothing. 'covered' names
-- the breakers of each place (see gates.lua), one per line. What follows from a change is in gates.lua and outages.lua.

local breakers, coverings, onLanes

atBegin(function()
  breakers, coverings, onLanes = {}, {}, {}
end)

-- Where a breaker of a tenant, or ('' or false) of all, covers an action.
local function placeOf(action, tenant)
  return tenant and tenant ~= '' and action .. '\n' .. tenant or action
end

-- An id is made like a place.
local breakerId = placeOf

-- A breaker without its state: of a tenant if its id says so.
local function blankBreaker(id)
  local name, tenant = string.match(id, '^([^\n]*)\n?(.*)$')
  return { id = id, name = name, tenant = tenant ~= '' and tenant, actions = {}, state = { status = 'closed' }, buckets = {}, voices = {} }
end

local function parseBreaker(id, text)
  local stop = string.find(text, '\n', 1, true)
  local breaker = blankBreaker(id)
  for field, value in pairs(cjson.decode(string.sub(text, stop + 1))) do breaker[field] = value end
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

local function listText(list, textOf)
  local texts = {}
  for index, item in ipairs(list) do texts[index] = textOf(item) end
  return '[' .. table.concat(texts, ',') .. ']'
end

local function breakerText(breaker)
  return breaker.settingsText .. '\n{"actions":' .. listText(breaker.actions, cjson.encode) .. ',"state":'
    .. fieldsText(breaker.state) .. ',"buckets":' .. listText(breaker.buckets, fieldsText)
    .. ',"voices":' .. listText(breaker.voices, fieldsText) .. '}'
end

-- False if there is none. Changes are written by flushBreakers().
local function breakerNamed(id)
  local breaker = breakers[id]
  if breaker == nil then
    local text = call('HGET', key('breakers'), id)
    breaker = text and parseBreaker(id, text)
    breakers[id] = breaker
  end
  return breaker
end

-- The ids of the breakers that cover a place, in order. They are stored by name: their tenant is that of the place.
local function covering(place)
  local ids = coverings[place]
  if not ids then
    ids = {}
    local tenant = string.match(place, '\n(.*)$')
    for name in string.gmatch(call('HGET', key('covered'), place) or '', '[^\n]+') do ids[#ids + 1] = breakerId(name, tenant) end
    coverings[place] = ids
  end
  return ids
end

-- The breakers that cover the tasks of a lane, by id; and whether all of them are closed, so that successes only count.
local function breakersOn(lane)
  local found = onLanes[lane]
  if not found then
    local ids = {}
    for _, id in ipairs(covering(lane.action)) do ids[#ids + 1] = id end
    for _, id in ipairs(covering(placeOf(lane.action, lane.tenant))) do ids[#ids + 1] = id end
    table.sort(ids)
    found = {}
    for index, id in ipairs(ids) do found[index] = breakerNamed(id) end
    onLanes[lane] = found
  end
  for _, breaker in ipairs(found) do
    if breaker.state.status ~= 'closed' then return found, false end
  end
  return found, true
end

local function setCovering(place, ids)
  coverings[place] = ids
  onLanes = {}
  if #ids == 0 then
    call('HDEL', key('covered'), place)
  else
    local names = {}
    for index, id in ipairs(ids) do names[index] = string.match(id, '^[^\n]*') end
    call('HSET', key('covered'), place, table.concat(names, '\n'))
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
  for _, voice in ipairs(breaker.voices) do
    if voice.failed > 0 then at = math.max(at, voice.since + breaker.settings.windowMs) end
  end
  return at
end

local function isForgotten(breaker)
  return breaker.state.status == 'closed' and fadesAt(breaker) <= now
end

-- The tenant's voice, of those that are live; false if it gets none. One that fails takes the place of one that does not.
local function voiceOf(live, tenant, what)
  for _, voice in ipairs(live) do
    if voice.tenant == tenant then return voice end
  end
  if #live >= VOICES_MAX then
    local quiet
    for index, voice in ipairs(live) do
      if not quiet and voice.failed == 0 then quiet = index end
    end
    if what == 'ok' or not quiet then return false end
    table.remove(live, quiet)
  end
  local voice = { tenant = tenant, since = now, ok = 0, failed = 0 }
  live[#live + 1] = voice
  return voice
end

local function hear(breaker, what, tenant, count)
  local live = {}
  for _, voice in ipairs(breaker.voices) do
    if voice.since + breaker.settings.windowMs > now then live[#live + 1] = voice end
  end
  local voice = voiceOf(live, tenant, what)
  if voice then voice[what] = voice[what] + count end
  breaker.voices = live
end

-- Whether several tenants fail, enough of them and often enough.
local function agree(breaker)
  local settings = breaker.settings
  local most = math.ceil(settings.minFailures / 2)
  local tenants, against, all = 0, 0, 0
  for _, voice in ipairs(breaker.voices) do
    local isAgainst = voice.failed > 0 and voice.failed >= settings.failureRate * (voice.ok + voice.failed)
    local weight = math.min(isAgainst and voice.failed or voice.ok, most)
    all = all + weight
    if isAgainst then
      tenants = tenants + 1
      against = against + weight
    end
  end
  return tenants >= 2 and against >= settings.minFailures and against >= settings.failureRate * all
end

local function countOutcome(breaker, what, tenant, count)
  if not breaker.tenant then return hear(breaker, what, tenant, count) end
  local widthMs = math.max(math.floor(breaker.settings.windowMs / BREAKER_BUCKETS), 1)
  local at = math.floor(now / widthMs) * widthMs
  local kept = liveBuckets(breaker)
  local last = kept[#kept]
  if not last or last.at < at then
    last = { at = at, ok = 0, failed = 0 }
    kept[#kept + 1] = last
  end
  last[what] = last[what] + count
  breaker.buckets = kept
end

local function openBreaker(breaker, opens)
  local settings = breaker.settings
  local openMs = math.min(settings.openMs * 2 ^ math.min(opens - 1, BREAKER_DOUBLINGS_MAX), settings.maxOpenMs)
  breaker.state = { status = 'open', since = now, ['until'] = now + openMs, opens = opens }
  breaker.buckets, breaker.voices = {}, {}
end

local function isTooMuch(breaker)
  if not breaker.tenant then return agree(breaker) end
  local ok, failed = 0, 0
  for _, bucket in ipairs(breaker.buckets) do
    ok = ok + bucket.ok
    failed = failed + bucket.failed
  end
  local settings = breaker.settings
  return failed >= settings.minFailures and failed >= settings.failureRate * (ok + failed)
end

local function countFailure(breaker, tenant, opens)
  countOutcome(breaker, 'failed', tenant, 1)
  if isTooMuch(breaker) then openBreaker(breaker, opens) end
end

local function probeFailed(breaker, tenant)
  local state = breaker.state
  if not breaker.tenant and (state.doubtedBy or tenant) == tenant then
    state.doubtedBy = tenant
  else
    openBreaker(breaker, state.opens + 1)
  end
end

-- How a breaker changes, in one table: a library has room for few names.
local transitions = {}

function transitions.afterFailure(breaker, tenant, startedAt)
  local state = breaker.state
  if state.status == 'closed' then
    countFailure(breaker, tenant, 1)
  elseif state.status ~= 'open' and startedAt >= state.since then
    if state.status == 'half_open' then probeFailed(breaker, tenant) else countFailure(breaker, tenant, state.opens + 1) end
  end
end

-- So many successes of attempts that started then; more than one at a time only if it is closed.
function transitions.afterSuccess(breaker, tenant, startedAt, count)
  local state, settings = breaker.state, breaker.settings
  if state.status == 'closed' then return countOutcome(breaker, 'ok', tenant, count) end
  if state.status == 'open' or startedAt < state.since then return end
  local isRamping = state.status == 'ramping'
  if isRamping then countOutcome(breaker, 'ok', tenant, 1) end
  if state.doubtedBy == tenant then state.doubtedBy = nil end
  local wanted = isRamping and state.concurrency or settings.probes
  state.succeeded = state.succeeded + 1
  if state.succeeded < wanted then return end
  breaker.state = { status = 'ramping', since = state.since, opens = state.opens, succeeded = 0, concurrency = wanted * 2 }
  if wanted * 2 >= settings.maxRamp then breaker.state = { status = 'closed' } end
end

-- Whether a failure that counted for it is to be parked.
function transitions.isOutage(breaker, startedAt)
  local state = breaker.state
  if state.status == 'ramping' then return startedAt < state.since end
  return state.status ~= 'closed'
end
