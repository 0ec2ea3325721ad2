-- Whose a hold or a limit is: 'tenant' stands in a hash beside it, by the name of its scope; what is not there is the
-- platform's. What the platform set, a tenant's caller can neither lift nor change.
-- In both, `what` is 'holds', 'limits', or 'totals' in the home of a store with several partitions.

local function isOutranked(what, scopeName, rank)
  return rank == 'tenant' and call('HEXISTS', key(what), scopeName) == 1
    and call('HEXISTS', key('ranks:' .. what), scopeName) == 0
end

-- With nil for what is lifted.
local function keepRank(what, scopeName, rank)
  if rank == 'tenant' then
    call('HSET', key('ranks:' .. what), scopeName, rank)
  else
    call('HDEL', key('ranks:' .. what), scopeName)
  end
end
