-- Documents of collections: a hash each, with the numbers of its creation and version and the names of the indexes it stands
-- in. A collection and each value of its indexes are zsets of documents, scored by the order of creation. Names and ids
-- come as JSON texts, so none of them contains a line break.

local function documentKey(collection, id)
  return key('document:' .. collection .. '\n' .. id)
end

local function collectionKey(collection)
  return key('collection:' .. collection)
end

-- An index is named by its own name and the value, in one text.
local function indexKey(collection, index)
  return key('index:' .. collection .. '\n' .. index)
end

local function leaveIndexes(collection, id, indexes)
  for index in string.gmatch(indexes, '[^\n]+') do call('ZREM', indexKey(collection, index), id) end
end
