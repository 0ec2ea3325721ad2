#!lua flags=no-writes
-- failureGroups: a part of a page of groups that have dead letters, the most recent first.
-- ARGV: time, last death and number of the group that comes before the page ('' and '' for none), how many are wanted,
--   action ('' or '=' and its name), fingerprint ('' or '=' and the fingerprint of the only one that is wanted).
-- Answers { '' when all were looked at, else last death of the group to go on from, its number, then per group a
--   GROUP_ROW }.

-- @include base

local LOOK_MAX = 1000
local PAGE_MAX = 100
local BYTES_MAX = 8388608
local groups = key('groups')
local lastAt, lastNumber = ARGV[2], tonumber(ARGV[3])
local wanted = tonumber(ARGV[4])
local action = ARGV[5]
local only = ARGV[6]

local function numberOf(member)
  return tonumber(string.sub(member, 1, 16))
end

-- The place, counted from the most recent, of the first group after the given one, whether that is still there or not.
local function startPlace()
  if lastAt == '' then return 0 end
  local low = call('ZCOUNT', groups, '(' .. lastAt, '+inf')
  local high = low + call('ZCOUNT', groups, lastAt, lastAt)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local member = call('ZRANGE', groups, middle, middle, 'REV')[1]
    if numberOf(member) < lastNumber then high = middle else low = middle + 1 end
  end
  return low
end

local answer = { '', '' }
local found, looked, bytes = 0, 0, 0

local function add(member)
  local fingerprint = string.sub(member, 17)
  local values = call('HMGET', key('group:' .. fingerprint), unpack(GROUP_FIELDS))
  looked = looked + 1
  if action ~= '' and string.sub(action, 2) ~= values[GROUP_FIELDS.action] then return end
  found = found + 1
  bytes = bytes + #values[GROUP_FIELDS.sample]
  local size = #answer
  answer[size + GROUP_ROW.fingerprint] = fingerprint
  answer[size + GROUP_ROW.number] = int(numberOf(member))
  answer[size + GROUP_ROW.count] = int(call('ZCARD', key('dead:' .. fingerprint)))
  for index = 1, #GROUP_FIELDS do answer[size + GROUP_ROW.count + index] = values[index] end
end

if only ~= '' then
  local fingerprint = string.sub(only, 2)
  local number = call('HGET', key('group:' .. fingerprint), 'number')
  local isListed = number and lastAt == '' and call('EXISTS', key('dead:' .. fingerprint)) == 1
  if isListed then add(string.format('%016d', tonumber(number)) .. fingerprint) end
  return answer
end

local place = startPlace()
while true do
  local page = call('ZRANGE', groups, place, place + PAGE_MAX - 1, 'REV', 'WITHSCORES')
  for index = 1, #page, 2 do
    add(page[index])
    if found >= wanted or looked >= LOOK_MAX or bytes >= BYTES_MAX then
      answer[1] = page[index + 1]
      answer[2] = int(numberOf(page[index]))
      return answer
    end
  end
  if #page < PAGE_MAX * 2 then return answer end
  place = place + PAGE_MAX
end
