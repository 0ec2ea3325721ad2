-- Taking leases away from a worker id, but for those of what it launched: each gets a token that nobody holds and ends now, so that only the sweep can settle
-- it. Of a worker that holds very many, some are taken at a time; how far it came is noted under the worker's id as:
-- '<tokens below this are taken> <cursor> <how many were taken> <the new epoch if the journal is to tell, else 0>'.

local TAKE_MAX = 1000

local function takeLease(worker, id, lease)
  local token = int(draw(1)) .. '-0' .. string.match(lease.token, '%.%d+$')
  local attempt = int(lease.attempt)
  local head, tail = string.match(call('HGET', taskKey(id), attempt), '^({"status":"running","attempt":%d+,"token":")[^"]*(.*)$')
  call('HSET', taskKey(id), attempt, head .. token .. tail)
  lease.token = token
  lease.untilAt = now
  call('HSET', leasesKey(worker), id, leaseText(lease))
end

-- Takes leases under tokens below `bound`, from the cursor on. Answers where to go on ('0' when these were the last) and
-- how many it took.
local function takeSome(worker, bound, cursor)
  local looked, taken = 0, 0
  repeat
    local reply = call('HSCAN', leasesKey(worker), cursor, 'COUNT', TAKE_MAX)
    local page = reply[2]
    for index = 1, #page, 2 do
      local lease = parseLease(page[index + 1])
      if lease.kind ~= STAGE_LETTERS.launch and tonumber(string.match(lease.token, '^%d+')) < bound then
        takeLease(worker, page[index], lease)
        taken = taken + 1
      end
    end
    looked = looked + #page / 2
    cursor = reply[1]
  until cursor == '0' or looked >= TAKE_MAX
  if taken > 0 then call('ZADD', key('leases'), 'LT', int(now), worker) end
  return cursor, taken
end

-- One step; answers 1 when it was the last, and how many were taken in all steps, which the entry in the journal says too.
local function takeOver(worker, workerJson, bound, cursor, takenBefore, epochTold)
  local goOnAt, taken = takeSome(worker, bound, cursor)
  taken = taken + takenBefore
  if goOnAt ~= '0' then
    call('HSET', key('takeovers'), worker, int(bound) .. ' ' .. goOnAt .. ' ' .. int(taken) .. ' ' .. int(epochTold))
    return 0, taken
  end
  call('HDEL', key('takeovers'), worker)
  if epochTold > 0 then
    note('worker.replaced', nil, nil, ACTORS.registry, JOURNAL_REASONS.replaced,
      '{"worker":' .. workerJson .. ',"epoch":' .. int(epochTold) .. ',"leases":' .. int(taken) .. '}')
  end
  return 1, taken
end
