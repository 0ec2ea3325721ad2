-- Tasks: taking them in, finding them, moving them between their places.

-- name: findProfile
SELECT id FROM profiles WHERE settings = ?;

-- name: insertProfile
INSERT INTO profiles (settings) VALUES (?);

-- name: loadProfile
SELECT settings AS text FROM profiles WHERE id = ?;

-- name: findWorkerName
SELECT id FROM worker_names WHERE name = ?;

-- name: insertWorkerName
INSERT INTO worker_names (name) VALUES (?);

-- name: loadWorkerName
SELECT name AS text FROM worker_names WHERE id = ?;

-- name: taskIdTaken
SELECT id FROM tasks WHERE id = ?;

-- name: dedupeOwner
SELECT t.id FROM dedupe d CROSS JOIN tasks t ON t.seq = d.seq WHERE d.tenant = ? AND d.key = ?;

-- Inserts nothing if the id is taken.
-- name: insertTask
INSERT INTO tasks (
  seq, id, lane, profile, status, priority, generation, attempt, attempt_base, failures, losses, accepted_at, since, rank, due_at,
  deadline_at, wait_reason, retry_token, dedupe_key, labels, payload
) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, 0, 0, 0, ?8, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
ON CONFLICT (id) DO NOTHING;

-- name: insertPayload
INSERT INTO payloads (seq, payload) VALUES (?, ?);

-- name: insertDedupe
INSERT INTO dedupe (tenant, key, seq) VALUES (?, ?, ?);

-- name: insertReady
INSERT INTO ready (lane, place, rank, seq, since, expires, deadline_at) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: deleteReady
DELETE FROM ready WHERE lane = ? AND place = ? AND rank = ?;

-- name: insertWaiting
INSERT INTO waiting (pool, due_at, seq) VALUES (?, ?, ?);

-- name: deleteWaiting
DELETE FROM waiting WHERE pool = ? AND due_at = ? AND seq = ?;

-- name: dueTasks
SELECT w.seq, w.due_at, t.lane, t.priority, t.profile, t.generation, t.deadline_at
FROM waiting w CROSS JOIN tasks t ON t.seq = w.seq
WHERE w.pool = ? AND w.due_at <= ? ORDER BY w.due_at, w.seq LIMIT ? + 0;

-- name: nextDue
SELECT due_at FROM waiting WHERE pool = ? ORDER BY due_at, seq LIMIT 1;

-- name: enterQueue
UPDATE tasks SET status = 0, since = ?, rank = ?, due_at = NULL, wait_reason = NULL WHERE seq = ?;

-- An operator's way back to the queue, from dead or waiting.
-- name: requeueTask
UPDATE tasks SET
  status = 0, since = ?, rank = ?, due_at = NULL, wait_reason = NULL, dead_reason = NULL, fingerprint = NULL,
  generation = ?, attempt_base = ?, failures = ?, losses = ?, parks = ?, deferrals = ?, retry_reason = ?
WHERE seq = ?;

-- name: restTask
UPDATE tasks SET
  status = ?, since = ?, rank = NULL, due_at = ?, wait_reason = ?, wait_quota = ?, retry_reason = ?, dead_reason = ?, fingerprint = ?,
  attempt = ?, failures = ?, losses = ?, deferrals = ?
WHERE seq = ?;

-- Back to the queue, its failed attempt not charged. ?1 is its rank.
-- name: parkTask
UPDATE tasks SET rank = ?1, since = ?2, retry_reason = ?3, attempt = ?4, parks = parks + 1, deferrals = 0 WHERE seq = ?5;

-- To the delay queue, as if the attempt had never been.
-- name: deferTask
UPDATE tasks SET
  status = 1, since = ?, rank = NULL, due_at = ?, wait_reason = ?, wait_quota = NULL, deferrals = deferrals + 1
WHERE seq = ?;

-- A final state without an attempt's end: cancelled, discarded.
-- name: endTask
UPDATE tasks SET
  status = ?, since = ?, rank = NULL, due_at = NULL, wait_reason = NULL, dead_reason = NULL, fingerprint = NULL, attempt = ?
WHERE seq = ?;

-- name: taskById
SELECT * FROM task_view WHERE id = ?;

-- name: taskBySeq
SELECT * FROM task_view WHERE seq = ?;

-- One window of seq, newest first. ?6 is 'queued', 'succeeded', or null for any status.
-- name: tasksInWindow
SELECT v.* FROM task_view v
WHERE v.seq < ?4 AND v.seq >= ?5
  AND (?6 IS NULL
    OR (?6 = 'succeeded' AND v.success_attempt IS NOT NULL)
    OR (?6 = 'queued' AND v.status = 0 AND v.success_attempt IS NULL AND v.lease_attempt IS NULL))
  AND (?1 = '' OR v.pool = ?1) AND (?2 = '' OR v.action = ?2) AND (?3 = '' OR v.tenant = ?3)
ORDER BY v.seq DESC LIMIT ?7;

-- name: tasksSetAside
SELECT v.* FROM tasks t CROSS JOIN task_view v ON v.seq = t.seq
WHERE t.status = ?5 AND t.status > 3 AND t.seq < ?4
  AND (?1 = '' OR v.pool = ?1) AND (?2 = '' OR v.action = ?2) AND (?3 = '' OR v.tenant = ?3)
ORDER BY t.seq DESC LIMIT ?6;

-- name: tasksWaiting
SELECT v.* FROM tasks t CROSS JOIN task_view v ON v.seq = t.seq
WHERE t.status = 1 AND t.seq < ?4
  AND (?1 = '' OR v.pool = ?1) AND (?2 = '' OR v.action = ?2) AND (?3 = '' OR v.tenant = ?3)
ORDER BY t.seq DESC LIMIT ?5;

-- name: tasksRunning
SELECT v.* FROM leases e CROSS JOIN task_view v ON v.seq = e.seq
WHERE e.seq < ?4
  AND (?1 = '' OR v.pool = ?1) AND (?2 = '' OR v.action = ?2) AND (?3 = '' OR v.tenant = ?3)
ORDER BY e.seq DESC LIMIT ?5;

-- name: tasksOfGroup
SELECT v.* FROM tasks t CROSS JOIN task_view v ON v.seq = t.seq
WHERE t.fingerprint = ?5 AND t.status = 4 AND t.seq < ?4
  AND (?1 = '' OR v.pool = ?1) AND (?2 = '' OR v.action = ?2) AND (?3 = '' OR v.tenant = ?3)
ORDER BY t.seq DESC LIMIT ?6;

-- name: newestSeq
SELECT coalesce(max(seq), 0) AS seq FROM tasks;

-- name: oldestSeq
SELECT coalesce(min(seq), 0) AS seq FROM tasks;

-- Bulk selection, oldest first: seqs only; what they are is read one by one.
-- name: selectDead
SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
WHERE t.status = 4 AND t.status > 3 AND t.seq > ?4
  AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
ORDER BY t.seq LIMIT ?5;

-- name: selectDeadOfGroup
SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
WHERE t.fingerprint = ?6 AND t.status = 4 AND t.seq > ?4
  AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
ORDER BY t.seq LIMIT ?5;

-- name: selectWaiting
SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
WHERE t.status = 1 AND t.seq > ?4
  AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
ORDER BY t.seq LIMIT ?5;

-- Live and waiting ones within a window of seq.
-- name: selectUnended
SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
WHERE t.seq > ?4 AND t.seq <= ?6 AND t.status IN (0, 1) AND NOT EXISTS (SELECT 1 FROM successes s WHERE s.seq = t.seq)
  AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
ORDER BY t.seq LIMIT ?5;
