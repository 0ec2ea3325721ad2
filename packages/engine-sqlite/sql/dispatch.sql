-- Leases on their way to a worker, and those of launched ones.

-- name: assignLease
UPDATE leases SET token = ?, worker = ?, stage = $STAGE_INBOX, until = ? WHERE seq = ?;

-- name: insertInbox
INSERT INTO inboxes (seq, worker, place) VALUES (?, ?, ?);

-- name: deleteInbox
DELETE FROM inboxes WHERE seq = ?;

-- What lies in a worker's inbox, in the order in which it was assigned.
-- name: inboxOf
SELECT i.seq FROM inboxes i CROSS JOIN leases e ON e.seq = i.seq WHERE i.worker IN (SELECT id FROM worker_names WHERE name = ?) AND e.until > ? ORDER BY i.place LIMIT ? + 0;

-- name: anyInbox
SELECT 1 AS found FROM inboxes LIMIT 1;

-- name: collectLease
UPDATE leases SET token = ?, stage = $STAGE_RUN, started_at = ?, until = ?, timeout_at = ?, renewed_at = NULL WHERE seq = ?;

-- Leases in the inboxes of workers that were not heard of for ?2 ms, and so became stale before the lease ends. ?1 is now.
-- name: undeliveredLeases
SELECT e.seq, min(e.until, coalesce(w.last_beat_at + ?2, e.until)) AS since
FROM inboxes i CROSS JOIN leases e ON e.seq = i.seq CROSS JOIN worker_names n ON n.id = i.worker LEFT JOIN workers w ON w.id = n.name
WHERE w.id IS NULL OR w.last_beat_at + ?2 <= ?1 ORDER BY since, e.seq LIMIT ?3;

-- By task id, after ?2.
-- name: launchesOfPool
SELECT v.* FROM leases e CROSS JOIN task_view v ON v.seq = e.seq
WHERE e.stage = $STAGE_LAUNCH AND v.pool = ?1 AND v.id > ?2 ORDER BY v.id LIMIT ?3;
