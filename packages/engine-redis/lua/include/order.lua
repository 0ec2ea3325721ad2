-- The order of acceptance: a zset of chunk numbers, and a list of ids per chunk. A chunk has the tasks whose seq, divided
-- by its size, gives its number; a task that is removed leaves its list.

local CHUNK = 256

local function orderKey(chunk)
  return key('order:' .. int(chunk))
end

local function seqOf(text)
  return tonumber((string.match(text, HEAD_PATTERN)))
end

local function textOf(id)
  return call('HGET', taskKey(id), 'task')
end

-- The place in a chunk's ids, which stand in order of seq, of the first task with a seq above this one.
local function placeAfter(ids, seq)
  local low, high = 1, #ids + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if seqOf(textOf(ids[middle])) <= seq then low = middle + 1 else high = middle end
  end
  return low
end
