#!lua flags=allow-oom
-- shareSlots: in the home of a store with several partitions, books what the partitions returned of a shared limit and grants
-- what is free to those that want it, the least served first. What is granted to each, and what each returned, only
-- grows; what was granted and not returned is never more than the limit, except for what ran when it was set.
-- ARGV: time, scope (3), version, then per partition: what it received in all, what it returned in all, '1' if it wants slots.
--   Without partitions: the limit was lifted, and all partitions were told.
-- Answers { 'settled', then what each was granted in all }; { 'unsettled' } while more runs than the limit allows;
--   { 'lifted', version } or { 'newer', version } if the limit is not of this version any more; { 'lifted', '0' } if there is none.

-- @include base

local scopeName = ARGV[2] .. '\n' .. ARGV[3] .. '\n' .. ARGV[4]
local ledger = key('ledger:' .. scopeName)
local values = call('HMGET', ledger, 'version', 'free', 'settled')
if not values[1] then return { 'lifted', '0' } end
if values[2] == '' then
  if #ARGV == 5 and values[1] == ARGV[5] then
    call('DEL', ledger)
    call('SREM', key('unsettled'), scopeName)
  end
  return { 'lifted', values[1] }
end
if values[1] ~= ARGV[5] then return { 'newer', values[1] } end

local free, isSettled = tonumber(values[2]), values[3] == '1'
local count = (#ARGV - 5) / 3
local parts = {}
for place = 1, count do
  local at = 6 + (place - 1) * 3
  local booked = call('HMGET', ledger, 'granted:' .. place, 'returned:' .. place)
  local part = { place = place, granted = tonumber(booked[1]), returned = tonumber(booked[2]) or 0, wants = ARGV[at + 2] == '1' }
  if not part.granted then
    -- It is heard of for the first time: it began with what ran there.
    part.granted = tonumber(ARGV[at])
    free = free - part.granted
  end
  local returned = tonumber(ARGV[at + 1])
  if returned > part.returned then
    free = free + returned - part.returned
    part.returned = returned
  end
  parts[place] = part
end

-- The first time, all get their share.
local wanting = {}
for _, part in ipairs(parts) do
  if part.wants or not isSettled then wanting[#wanting + 1] = part end
end
if free > 0 and #wanting > 0 then
  table.sort(wanting, function(a, b) return a.granted < b.granted or (a.granted == b.granted and a.place < b.place) end)
  local whole = math.floor(free / #wanting)
  local over = free - whole * #wanting
  for index, part in ipairs(wanting) do part.granted = part.granted + whole + (index <= over and 1 or 0) end
  free = 0
end

local answer = { free >= 0 and 'settled' or 'unsettled' }
local changes = { 'free', int(free) }
for _, part in ipairs(parts) do
  changes[#changes + 1] = 'granted:' .. part.place
  changes[#changes + 1] = int(part.granted)
  changes[#changes + 1] = 'returned:' .. part.place
  changes[#changes + 1] = int(part.returned)
  if free >= 0 then answer[#answer + 1] = int(part.granted) end
end
if free >= 0 and not isSettled then
  changes[#changes + 1] = 'settled'
  changes[#changes + 1] = '1'
  call('SREM', key('unsettled'), scopeName)
end
call('HSET', ledger, unpack(changes))
return answer
