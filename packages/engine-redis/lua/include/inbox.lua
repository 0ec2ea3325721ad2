-- How a claim collects what lies in its worker's inbox: each lease gets the next token of the claim's draw and begins to run
-- now. The lane, its gates and its limits were asked when a dispatcher claimed it; for breakers it is a new start.

local INBOX_PAGE = 100

local function collectOne(starter, worker, id, lease)
  local attempt = int(lease.attempt)
  local values = call('HMGET', taskKey(id), 'task', 'state', attempt)
  starter.count = starter.count + 1
  lease.token = starter.draw .. NUMBERED[starter.count] .. string.match(lease.token, '%.%d+$')
  lease.kind = STAGE_LETTERS.run
  if exists('breakers') then retakeSlot(laneNumbered(tonumber(string.match(lease.token, '%d+$'))), lease.startedAt) end
  lease.startedAt = now
  lease.renewedAt = nil
  lease.timeoutAt = now + profileNumbered(parseHead(values[1]).profile).timeoutMs
  lease.untilAt = math.min(now + starter.request.leaseMs, lease.timeoutAt + TIMEOUT_GRACE_MS)
  call('HSET', taskKey(id), attempt, rewritten(values[3], lease.token, nil, now, ''))
  local added = starter.change.added
  added[#added + 1] = id
  added[#added + 1] = leaseText(lease)
  startsAt(starter.change, lease.untilAt)
  leaveInbox(worker.id, id)
  startedUnusually(starter.claimed, id, lease.token, values[1], values[2])
end

-- Whether a claim is after the tasks of this lease.
local function isAskedFor(request, lease)
  if not request.isAny or not request.actions then return true end
  local action = laneNumbered(tonumber(string.match(lease.token, '%d+$'))).action
  for _, asked in ipairs(request.actions) do
    if asked == action then return true end
  end
  return false
end

-- Collects up to `limit` leases. Answers what started them, nil if there was nothing to collect.
local function collectInbox(worker, request, limit, claimed)
  local starter
  local passed = 0
  while true do
    local ids = call('ZRANGE', inboxKey(worker.id), int(passed), int(passed + INBOX_PAGE - 1))
    if #ids == 0 then break end
    for index, text in ipairs(call('HMGET', leasesKey(worker.id), unpack(ids))) do
      if starter and starter.count >= limit then return starter end
      local lease = parseLease(text)
      if not lease or lease.kind ~= STAGE_LETTERS.inbox then
        leaveInbox(worker.id, ids[index])
      elseif lease.untilAt > now and isAskedFor(request, lease) then
        starter = starter or newStarter(request, claimed)
        collectOne(starter, worker, ids[index], lease)
      else
        passed = passed + 1
      end
    end
  end
  if passed == 0 then
    worker.inbox = 0
    worker.changed = true
  end
  return starter
end
