-- What handlers wrote down.

-- name: saveLog
INSERT INTO logs (seq, attempt, log) VALUES (?1, ?2, ?3) ON CONFLICT (seq, attempt) DO UPDATE SET log = excluded.log;

-- name: logsOf
SELECT l.attempt, l.log FROM tasks t CROSS JOIN logs l ON l.seq = t.seq WHERE t.id = ? ORDER BY l.attempt;

-- name: deleteLog
DELETE FROM logs WHERE seq = ? AND attempt = ?;

-- name: deleteLogsUpTo
DELETE FROM logs WHERE seq = ? AND attempt <= ?;

-- name: deleteLogs
DELETE FROM logs WHERE seq IN (SELECT value FROM json_each(?1));
