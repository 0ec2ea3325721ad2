#!lua flags=allow-oom
-- remove: deletes a document and its index entries.
-- ARGV: time, request id, collection, id, version it must have ('' for any).
-- Answers 1, or 0 if there was none.
-- Checks before the first write: that it has the version (else REPRISE taken).

-- @once
-- @include base answers documents

local collection, id, version = ARGV[3], ARGV[4], ARGV[5]
local known = call('HMGET', documentKey(collection, id), 'version', 'indexes')
if not known[1] then return 0, false end
if version ~= '' and known[1] ~= version then return refuse('taken') end
leaveIndexes(collection, id, known[2])
call('ZREM', collectionKey(collection), id)
call('UNLINK', documentKey(collection, id))
return 1
