-- Collections: documents with declared indexes and versions.

-- name: getDocument
SELECT * FROM documents WHERE collection = ? AND id = ?;

-- name: insertDocument
INSERT INTO documents (collection, id, version, created_at, updated_at, body) VALUES (?, ?, 1, ?, ?, ?);

-- name: updateDocument
UPDATE documents SET version = version + 1, updated_at = ?, body = ? WHERE number = ?;

-- name: deleteDocument
DELETE FROM documents WHERE number = ?;

-- name: listDocuments
SELECT * FROM documents WHERE collection = ? AND number > ? ORDER BY number LIMIT ?;

-- name: findDocuments
SELECT d.* FROM document_indexes i CROSS JOIN documents d ON d.number = i.number
WHERE i.collection = ? AND i.name = ? AND i.value = ? AND i.number > ? ORDER BY i.number LIMIT ?;

-- name: insertDocumentIndex
INSERT INTO document_indexes (collection, name, value, number) VALUES (?, ?, ?, ?);

-- name: deleteDocumentIndexes
DELETE FROM document_indexes WHERE number = ?;
