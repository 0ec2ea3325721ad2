-- Which limits a claim in a store with several partitions should hear of: those whose slots may stand free elsewhere.

local BLOCKED_MAX = 20

local function contains(list, item)
  for _, one in ipairs(list) do
    if one == item then return true end
  end
  return false
end

-- Shared limits (see limits.lua) that keep lanes of the asked pools waiting, as a short look tells. For each, in lines that
-- follow one another: its scope (3), pool and action of such a lane, the version of the share. After the lanes were flushed.
local function blockedBy(request)
  if not anyLimits() then return '' end
  local lines = ''
  for _, name in ipairs(call('SRANDMEMBER', key('blocked'), BLOCKED_MAX)) do
    local isStanding, place = false, nil
    eachStanding(name, function(pool, action)
      isStanding = true
      if contains(request.pools, pool) and (not request.actions or contains(request.actions, action)) then
        place = pool .. '\n' .. action
      end
    end)
    local limit = limitsNamed({ name })[1]
    if not isStanding or not limit then
      call('SREM', key('blocked'), name)
    elseif place and limit.running >= limit.concurrency then
      lines = lines .. '\n' .. name .. '\n' .. place .. '\n' .. (call('HGET', key('quota:' .. name), 'version') or '0')
    end
  end
  return lines
end
