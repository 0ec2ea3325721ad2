-- The journal and what retention deletes.

-- name: appendJournal
INSERT INTO journal (at, type, task, attempt, actor, reason, data) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: readJournal
SELECT * FROM journal WHERE id > ? ORDER BY id LIMIT ?;

-- name: readJournalOfTask
SELECT * FROM journal WHERE task = ? AND id > ? ORDER BY id LIMIT ?;

-- name: readJournalBack
SELECT * FROM journal WHERE id < ? ORDER BY id DESC LIMIT ?;

-- name: readJournalOfTaskBack
SELECT * FROM journal WHERE task = ? AND id < ? ORDER BY id DESC LIMIT ?;

-- name: journalEnds
SELECT coalesce((SELECT min(id) FROM journal), 0) AS first, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'journal'), 0) AS last;

-- name: nextOfJournal
SELECT id, at FROM journal WHERE id >= ? ORDER BY id LIMIT 1;

-- name: retentionWindow
SELECT t.seq, t.status, t.lane, coalesce(s.resolved_at, t.since) AS since, s.seq IS NOT NULL AS succeeded, t.dedupe_until
FROM tasks t LEFT JOIN successes s ON s.seq = t.seq
WHERE t.seq > ? ORDER BY t.seq LIMIT ?;

-- name: setRemoving
UPDATE store SET removing = ?;

-- name: deleteTasks
DELETE FROM tasks WHERE seq IN (SELECT value FROM json_each(?1));

-- name: deletePayloads
DELETE FROM payloads WHERE seq IN (SELECT value FROM json_each(?1));

-- name: deleteSuccesses
DELETE FROM successes WHERE seq IN (SELECT value FROM json_each(?1));

-- name: deleteExecutions
DELETE FROM executions WHERE seq IN (SELECT value FROM json_each(?1));

-- name: payloadBytesOf
SELECT t.lane, sum(coalesce(octet_length(t.payload), octet_length(p.payload), 0)) AS bytes
FROM json_each(?1) j CROSS JOIN tasks t ON t.seq = j.value LEFT JOIN payloads p ON p.seq = t.seq GROUP BY t.lane;

-- name: dedupeKeysOf
SELECT l.tenant, l.action, t.dedupe_key, t.seq FROM json_each(?1) j CROSS JOIN tasks t ON t.seq = j.value CROSS JOIN lanes l ON l.id = t.lane
WHERE t.dedupe_key IS NOT NULL;

-- name: deleteDedupe
DELETE FROM dedupe WHERE tenant = ? AND action = ? AND key = ? AND seq = ?;

-- name: deleteJournalBefore
DELETE FROM journal WHERE id IN (SELECT id FROM (SELECT id, at FROM journal ORDER BY id LIMIT ?2) WHERE at <= ?1);

-- name: deleteMinutesBefore
DELETE FROM minutes WHERE (minute, lane) IN (SELECT minute, lane FROM minutes WHERE minute < ?1 LIMIT ?2);
