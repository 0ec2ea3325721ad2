-- Telling waiters. Whoever waits for work registers its channel with the pools (and actions) it can serve; a change
-- wakes as many of them as it brings work for, not all. A channel that nobody listens to any more is dropped, and the
-- next one is tried. Whoever waits for the end of a task has put its channel under the task's id.

local endedIds

atBegin(function()
  endedIds = {}
end)

local function ended(id)
  if exists('watched') then endedIds[#endedIds + 1] = id end
end

-- Wakes up to `count` of those who wait in this zset; answers how many are still to be woken.
local function wakeIdle(idleKey, count, what)
  while count > 0 do
    local popped = call('ZPOPMIN', idleKey)
    if #popped == 0 then return count end
    if call('SPUBLISH', key('wake:' .. popped[1]), 'work\n' .. what) > 0 then count = count - 1 end
  end
  return 0
end

-- Wakes whoever waits for what comes into this worker's inbox.
local function wakeInbox(worker)
  local listening = key('listening:' .. worker)
  for _, channel in ipairs(call('SMEMBERS', listening)) do call('SPUBLISH', key('wake:' .. channel), 'inbox\n' .. worker) end
  call('DEL', listening)
end

local function flushWake()
  for pool, actions in pairs(stirred) do
    call('HINCRBY', key('pool:' .. pool), 'version', '1')
    for action, count in pairs(actions) do
      local what = pool .. '\n' .. action
      local left = wakeIdle(key('idle:' .. what), count, what)
      wakeIdle(key('idle:' .. pool .. '\n'), left, what)
    end
  end
  if #endedIds > 0 then
    local messages = {}
    local found = {}
    for index, channels in ipairs(call('HMGET', key('watched'), unpack(endedIds))) do
      if channels then
        found[#found + 1] = endedIds[index]
        for channel in string.gmatch(channels, '%S+') do
          messages[channel] = (messages[channel] and messages[channel] .. '\n' or '') .. endedIds[index]
        end
      end
    end
    if #found > 0 then call('HDEL', key('watched'), unpack(found)) end
    for channel, ids in pairs(messages) do call('SPUBLISH', key('wake:' .. channel), 'ended\n' .. ids) end
  end
end
