#!lua flags=no-writes
-- departed: a page of the workers that left in the last day, the latest first.
-- ARGV: time, when the last worker of the page before left and its id ('' for the first page), how many are wanted.
-- Answers { time, '1' if more follow, else '', then a DEPARTED_ROW per worker }.

-- @include base

local departures = key('departures')
local wanted = tonumber(ARGV[4])

-- How many come before the page. If that last worker came back, it begins behind all that left at the same moment.
local function passedBefore()
  if ARGV[2] == '' then return 0 end
  local score = call('ZSCORE', departures, ARGV[3])
  if score and tonumber(score) == tonumber(ARGV[2]) then return call('ZREVRANK', departures, ARGV[3]) + 1 end
  return call('ZCOUNT', departures, ARGV[2], '+inf')
end

local ids = call('ZRANGE', departures, '+inf', '(' .. int(now - DEPARTED_MS), 'BYSCORE', 'REV', 'LIMIT', int(passedBefore()), int(wanted + 1))
local answer = { NOW, #ids > wanted and '1' or '' }
for index = 1, math.min(#ids, wanted) do
  local size = #answer
  answer[size + 1] = ids[index]
  for place, value in ipairs(call('HMGET', key('departed:' .. ids[index]), 'leftAt', unpack(REGISTERED))) do
    answer[size + 1 + place] = value or ''
  end
end
return answer
