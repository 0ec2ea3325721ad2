#!lua flags=no-writes
-- journal.from: where to read on from, to see everything that was written at or after a moment.
-- ARGV: time, the moment, how far the clock may have been set back since an entry was written.
-- Answers the number of the last entry before it.

-- @include base

local moment = tonumber(ARGV[2])
local last = tonumber(call('HGET', NUMBERS, 'journal')) or 0
if moment > now then return int(last) end
local wanted = moment - tonumber(ARGV[3])

-- The first entry with this number or a higher one: retention takes away the lowest. Its number and time.
local function entryFrom(number)
  local entry = call('XRANGE', key('journal'), int(number) .. '-0', '+', 'COUNT', 1)[1]
  if entry then return tonumber(string.match(entry[1], '^%d+')), tonumber(entry[2][2]) end
end

-- Numbers and times go up together. The entry before `low` is older than what is wanted, so that no earlier one has the moment's
-- time, unless the clock went back by more.
local low, high = entryFrom(0) or last + 1, last + 1
while low < high do
  local middle = math.floor((low + high) / 2)
  local number, at = entryFrom(middle)
  if not number or at >= wanted then high = middle else low = number + 1 end
end
return int(low - 1)
