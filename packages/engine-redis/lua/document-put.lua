#!lua
-- insert, update: writes a document with its index entries.
-- ARGV: time, request id, collection, id, version it must have ('' if there must be none), text, then its indexes.
-- Answers { version, createdAt, updatedAt }.
-- Checks before the first write: that there is none (REPRISE taken), or that there is one (REPRISE missing) and that it has
-- the version (REPRISE taken).

-- @once
-- @include base answers documents

local collection, id, version, text = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local known = call('HMGET', documentKey(collection, id), 'version', 'createdAt', 'order', 'indexes')
if version == '' then
  if known[1] then return refuse('taken') end
elseif not known[1] then
  return refuse('missing')
elseif known[1] ~= version then
  return refuse('taken')
end

local newVersion = int((tonumber(known[1]) or 0) + 1)
local createdAt = known[2] or int(now)
local order = known[3]
if order then
  leaveIndexes(collection, id, known[4])
else
  order = int(call('HINCRBY', NUMBERS, 'documents:' .. collection, 1))
  call('ZADD', collectionKey(collection), order, id)
end
local indexes = {}
for at = 7, #ARGV do
  indexes[#indexes + 1] = ARGV[at]
  call('ZADD', indexKey(collection, ARGV[at]), order, id)
end
call('HSET', documentKey(collection, id), 'text', text, 'version', newVersion, 'createdAt', createdAt,
  'updatedAt', int(now), 'order', order, 'indexes', table.concat(indexes, '\n'))
return { newVersion, createdAt, int(now) }
