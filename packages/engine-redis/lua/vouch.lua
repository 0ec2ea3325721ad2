#!lua flags=allow-oom
-- vouch: renews what a worker runs whose event loop is blocked, one step, and notes its outlook.
-- ARGV: time, VOUCH: outlook is '' for none, else '=' and the words; cursor is '0' at first.
-- Answers { the cursor to go on at, '0' at the end; how many were renewed in this step }.
-- Checks before the first write: that the worker is known under this epoch.
-- Made again, it renews again.

-- @include base lanes tasks leases stages workers

local VOUCH_MAX = 500

local first = 2
local asked = { VOUCH.args(first) }
local worker = workerNamed(asked.worker)
if not worker or worker.epoch ~= asked.epoch then return { '0', 0 } end
worker.outlook = asked.outlook ~= '' and string.sub(asked.outlook, 2)
worker.changed = true
flushWorkers()

local leaseMs = tonumber(asked.leaseMs)
local reply = call('HSCAN', leasesKey(asked.worker), asked.cursor, 'COUNT', VOUCH_MAX)
local renewed = 0
for index = 1, #reply[2], 2 do
  local lease = parseLease(reply[2][index + 1])
  if lease.kind ~= STAGE_LETTERS.launch and not isUnderWay(lease) then
    extend(lease, leaseMs, math.max(now - (lease.renewedAt or lease.startedAt) - leaseMs, 0))
    call('HSET', leasesKey(asked.worker), reply[2][index], leaseText(lease))
    renewed = renewed + 1
  end
end
return { reply[1], renewed }
