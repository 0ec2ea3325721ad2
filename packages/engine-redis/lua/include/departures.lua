-- Workers that came and went: the entries about that, and those that left, for a day. A worker that left keeps what it
-- registered, in a hash of its own, and stands among the departures by when it left. No claim looks there.

local function departedKey(worker)
  return key('departed:' .. worker)
end

local function noteWorker(type, workerJson, epoch, version, host, reason)
  note(type, nil, nil, ACTORS.registry, reason, '{"worker":' .. workerJson .. ',"epoch":' .. epoch
    .. ',"version":' .. cjson.encode(version) .. ',"host":' .. cjson.encode(host) .. '}')
end

local function forgetDeparted(worker)
  if call('ZREM', key('departures'), worker) == 1 then call('UNLINK', departedKey(worker)) end
end

-- Takes a worker from those that are there to those that left. Beyond DEPARTED_MAX, the first that left is forgotten.
local function depart(worker)
  local itsKey = departedKey(worker)
  call('RENAME', key('worker:' .. worker), itsKey)
  call('HDEL', itsKey, 'numbers', 'claim', 'build')
  call('HSET', itsKey, 'leftAt', NOW)
  call('ZADD', key('departures'), NOW, worker)
  if call('ZCARD', key('departures')) > DEPARTED_MAX then
    forgetDeparted(call('ZRANGE', key('departures'), '0', '0')[1])
  end
end
