-- Answers of calls that would not say the same twice are kept for a while under the caller's request id: a call whose
-- answer was lost on the way is repeated under the same id and hears the first answer.

local ANSWER_KEPT_MS = 60000

-- The answer given before under this request id; nil if there was none.
local function recall(request)
  local kept = call('GET', key('answer:' .. request))
  return kept and cmsgpack.unpack(kept) or nil
end

local function remember(request, answer)
  call('SET', key('answer:' .. request), cmsgpack.pack(answer), 'PX', ANSWER_KEPT_MS)
  return answer
end
