#!lua flags=no-writes
-- list, find: a part of a page of documents, by creation.
-- ARGV: time, collection, index ('' for all documents), order of the document that comes before the page, how many are wanted.
-- Answers { order to go on from ('' when all were looked at), then per document a DOCUMENT_ROW }.

-- @include base documents

local PAGE_MAX = 100
local BYTES_MAX = 8388608
local collection, index = ARGV[2], ARGV[3]
local from = ARGV[4]
local wanted = tonumber(ARGV[5])
local list = index == '' and collectionKey(collection) or indexKey(collection, index)

local answer = { '' }
local found, bytes = 0, 0
while true do
  local page = call('ZRANGE', list, '(' .. from, '+inf', 'BYSCORE', 'LIMIT', 0, PAGE_MAX)
  for _, id in ipairs(page) do
    local values = call('HMGET', documentKey(collection, id), unpack(DOCUMENT_ROW))
    from = values[DOCUMENT_ROW.order]
    found = found + 1
    bytes = bytes + #values[DOCUMENT_ROW.text]
    for field = 1, #DOCUMENT_ROW do answer[#answer + 1] = values[field] end
    if found >= wanted or bytes >= BYTES_MAX then
      answer[1] = from
      return answer
    end
  end
  if #page < PAGE_MAX then return answer end
end
