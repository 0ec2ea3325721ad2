#!lua flags=no-writes
-- series: the events of a scope's lanes by the minute, over a bounded number of fields; its caller adds up several calls.
-- ARGV: time, first moment, moment after the last, scope (3), minute in the middle of which the call before stopped ('' for
--   none), its position there.
-- Answers { minute to go on with ('' when all were looked at), position in it, then per minute with events a MINUTE_ROW }. A minute in several answers is to be added up: no field is counted twice, as these hashes only grow.

-- @include base lanes scope

local FIELDS_MAX = 10000
local FIELDS_PER_SCAN = 1000
local MINUTES_MAX = 100
local KINDS = SERIES
local KIND_INDEX = {}
for index, kind in ipairs(KINDS) do KIND_INDEX[kind] = index end

local scope = parseScope(4)
local only = scope.isOne and onlyLane(scope)
local from = ARGV[7] ~= '' and ARGV[7] or ARGV[2]
local position = ARGV[8]

local answer = { '', '0' }
local looked = 0

local function add(minute, counts)
  local size = #answer
  answer[size + 1] = minute
  for index = 1, #KINDS do answer[size + 1 + index] = int(counts[index] or 0) end
end

local function addOnly(minute)
  local fields = {}
  for index, kind in ipairs(KINDS) do fields[index] = only .. ':' .. kind end
  looked = looked + #KINDS
  local counts = {}
  local isEmpty = true
  for index, count in ipairs(call('HMGET', key('series:' .. minute), unpack(fields))) do
    counts[index] = tonumber(count)
    if count then isEmpty = false end
  end
  if not isEmpty then add(minute, counts) end
  return true
end

-- Answers false if it stopped within the minute.
local function addMinute(minute)
  local counts = {}
  local isEmpty = true
  repeat
    local page = call('HSCAN', key('series:' .. minute), position, 'COUNT', FIELDS_PER_SCAN)
    position = page[1]
    for index = 1, #page[2], 2 do
      local number, kind = string.match(page[2][index], '^(%d+):(%a+)$')
      if covers(scope, number) then
        local at = KIND_INDEX[kind]
        counts[at] = (counts[at] or 0) + tonumber(page[2][index + 1])
        isEmpty = false
      end
    end
    looked = looked + #page[2] / 2
  until position == '0' or looked >= FIELDS_MAX
  if not isEmpty then add(minute, counts) end
  return position == '0'
end

if scope.isOne and not only then return answer end
local addFrom = only and addOnly or addMinute
while true do
  local minutes = call('ZRANGE', key('minutes'), from, '(' .. ARGV[3], 'BYSCORE', 'LIMIT', 0, MINUTES_MAX)
  for _, minute in ipairs(minutes) do
    if minute ~= ARGV[7] then position = '0' end
    if looked >= FIELDS_MAX or not addFrom(minute) then
      answer[1] = minute
      answer[2] = position
      return answer
    end
    from = '(' .. minute
  end
  if #minutes < MINUTES_MAX then return answer end
end
