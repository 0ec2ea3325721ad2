#!lua flags=no-writes
-- journal.read: entries of one task.
-- ARGV: time, task id, number of the entry that comes before the page, how many are wanted; '1' for those up to that number
--   instead, newest first.
-- Answers the entries as XRANGE does.

-- @include base

local numbers = key('journal:' .. ARGV[2])
local after = tonumber(ARGV[3])
local wanted = tonumber(ARGV[4])

-- The list is in order: where the first number above the given one stands.
local low, high = 0, call('LLEN', numbers)
while low < high do
  local middle = math.floor((low + high) / 2)
  if tonumber(call('LINDEX', numbers, middle)) > after then high = middle else low = middle + 1 end
end

local answer = {}
local function add(number)
  local entry = call('XRANGE', key('journal'), number .. '-0', number .. '-0')[1]
  if entry then answer[#answer + 1] = entry end
end

if ARGV[5] ~= '1' then
  for _, number in ipairs(call('LRANGE', numbers, low, low + wanted - 1)) do add(number) end
elseif low > 0 then
  local found = call('LRANGE', numbers, math.max(0, low - wanted), low - 1)
  for index = #found, 1, -1 do add(found[index]) end
end
return answer
