#!lua flags=allow-oom
-- inspectGroups: whether each entry among the dead letters, and in each failure group, is a dead letter of that group.
-- ARGV: see include/inspecting.lua; to begin at: number of a list (0 is that of all dead letters, then the groups as they are
--   listed), place in it.

-- @once
-- @include base answers lanes tasks journal endings inspecting

local limit = tonumber(ARGV[6])

-- Answers how many were looked at, and how many are gone.
local function inspectList(list, fingerprint, from)
  local ids = call('ZRANGE', list, int(from), int(from + limit - looked - 1))
  local gone = 0
  for _, id in ipairs(ids) do
    looked = looked + 1
    local task = readTask(id)
    local isDead = task and task.state.status == 'dead'
    if not isDead or (fingerprint and task.state.fingerprint ~= fingerprint) then
      find('group_entry_extra', 'task', id, fingerprint and "an entry in group '" .. fingerprint .. "'" or 'an entry among the dead letters',
        FINDING_WORDS.noEntry, function() gone = gone + call('ZREM', list, id) end)
    end
  end
  return #ids, gone
end

-- Groups without dead letters are not listed.
local function inspectListing(member, fingerprint)
  if call('EXISTS', key('dead:' .. fingerprint)) == 1 then return false end
  find('group_count', 'group', fingerprint, 'listed', 'not listed: it has no dead letters', function() call('ZREM', key('groups'), member) end)
  return ARGV[3] == '1'
end

local function walk()
  local number, from = tonumber(ARGV[7]), tonumber(ARGV[8])
  while true do
    local list, fingerprint, member = key('dead'), nil, nil
    if number > 0 then
      member = call('ZRANGE', key('groups'), int(number - 1), int(number - 1))[1]
      if not member then return '' end
      fingerprint = string.sub(member, 17)
      list = key('dead:' .. fingerprint)
    end
    local wanted = limit - looked
    if wanted <= 0 then return int(number) .. ' ' .. int(from) end
    local count, gone = inspectList(list, fingerprint, from)
    if count == wanted then return int(number) .. ' ' .. int(from + count - gone) end
    -- A group that is not listed any more left its number to the next.
    if not (member and inspectListing(member, fingerprint)) then number = number + 1 end
    from = 0
  end
end

return inspected(walk())
