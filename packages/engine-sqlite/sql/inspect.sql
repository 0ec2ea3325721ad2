-- What an inspection looks at: each statement reads one page of a table in the order of its key, with what its rows are held
-- against.

-- Tasks that something else deleted, unless they are there again: restored, or submitted anew.
-- name: inspectLost
SELECT d.seq, d.id, l.pool, l.action, l.tenant FROM lost_tasks d CROSS JOIN lanes l ON l.id = d.lane
WHERE d.seq > ?1 AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = d.id) ORDER BY d.seq LIMIT ?2;

-- name: deleteLost
DELETE FROM lost_tasks WHERE seq = ?;

-- Entries of the queue that stand where the task's own row says, entries of the delay queue, leases, and who has the key.
-- name: inspectTasks
SELECT
  t.seq, t.id, t.lane, t.profile, t.status, t.priority, t.generation, t.attempt, t.rank, t.due_at, t.deadline_at, t.dedupe_key,
  t.fingerprint, l.pool, l.action, l.tenant,
  EXISTS (SELECT 1 FROM ready r WHERE r.lane = t.lane AND r.place IN ($PRIORITY_MAX - t.priority, $RETIRED_PLACE) AND r.rank = t.rank AND r.seq = t.seq) AS is_ready,
  EXISTS (SELECT 1 FROM waiting w WHERE w.pool = l.pool AND w.due_at = t.due_at AND w.seq = t.seq) AS is_delayed,
  EXISTS (SELECT 1 FROM leases e WHERE e.seq = t.seq) AS is_leased,
  EXISTS (SELECT 1 FROM successes s WHERE s.seq = t.seq) AS is_done,
  t.status <> $DEAD OR EXISTS (SELECT 1 FROM failure_groups g WHERE g.fingerprint = t.fingerprint) AS is_grouped,
  t.dedupe_until,
  (SELECT d.seq FROM dedupe d WHERE d.tenant = l.tenant AND d.action = l.action AND d.key = t.dedupe_key) AS key_seq
FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
WHERE t.seq > ?1 ORDER BY t.seq LIMIT ?2;

-- name: inspectReady
SELECT
  r.lane, r.place, r.rank, r.seq, t.id,
  t.lane IS r.lane AND t.rank IS r.rank AND r.place IN ($PRIORITY_MAX - t.priority, $RETIRED_PLACE) AS is_right,
  t.status IS $LIVE AND NOT EXISTS (SELECT 1 FROM leases e WHERE e.seq = r.seq) AND NOT EXISTS (SELECT 1 FROM successes s WHERE s.seq = r.seq) AS is_queued,
  r.place = $RETIRED_PLACE AND EXISTS (SELECT 1 FROM ready o WHERE o.lane = r.lane AND o.place = $PRIORITY_MAX - t.priority AND o.rank = r.rank AND o.seq = r.seq) AS is_second
FROM ready r LEFT JOIN tasks t ON t.seq = r.seq
WHERE (r.lane, r.place, r.rank) > (?1, ?2, ?3) ORDER BY r.lane, r.place, r.rank LIMIT ?4;

-- name: inspectWaiting
SELECT w.pool, w.due_at, w.seq, t.id, t.status IS $WAITING AND t.due_at IS w.due_at AND l.pool IS w.pool AS is_right
FROM waiting w LEFT JOIN tasks t ON t.seq = w.seq LEFT JOIN lanes l ON l.id = t.lane
WHERE (w.pool, w.due_at, w.seq) > (?1, ?2, ?3) ORDER BY w.pool, w.due_at, w.seq LIMIT ?4;

-- name: inspectLeases
SELECT
  e.seq, e.attempt, e.stage, e.worker, t.id,
  t.status IS $LIVE AND NOT EXISTS (SELECT 1 FROM successes s WHERE s.seq = e.seq) AS is_right,
  e.stage <> $STAGE_INBOX OR EXISTS (SELECT 1 FROM inboxes i WHERE i.seq = e.seq AND i.worker = e.worker) AS is_in_inbox
FROM leases e LEFT JOIN tasks t ON t.seq = e.seq
WHERE e.seq > ?1 ORDER BY e.seq LIMIT ?2;

-- name: inspectInboxes
SELECT i.seq, i.worker, t.id, e.stage IS $STAGE_INBOX AND e.worker IS i.worker AS is_right
FROM inboxes i LEFT JOIN leases e ON e.seq = i.seq LEFT JOIN tasks t ON t.seq = i.seq
WHERE i.seq > ?1 ORDER BY i.seq LIMIT ?2;

-- name: inspectKeys
SELECT d.tenant, d.action, d.key, d.seq, t.id, t.dedupe_key IS d.key AND l.tenant IS d.tenant AND l.action IS d.action AS is_right
FROM dedupe d LEFT JOIN tasks t ON t.seq = d.seq LEFT JOIN lanes l ON l.id = t.lane
WHERE (d.tenant, d.action, d.key) > (?1, ?2, ?3) ORDER BY d.tenant, d.action, d.key LIMIT ?4;

-- name: inspectGroups
SELECT g.id AS seq, g.fingerprint, g.count, (SELECT count(*) FROM tasks t WHERE t.fingerprint = g.fingerprint AND t.status = $DEAD) AS recount
FROM failure_groups g WHERE g.id > ?1 ORDER BY g.id LIMIT ?2;

-- name: entryAt
SELECT seq FROM ready WHERE lane = ? AND place IN (?, $RETIRED_PLACE) AND rank = ?;

-- name: setRank
UPDATE tasks SET rank = ? WHERE seq = ?;

-- The task ?1, if it holds the key ?2 of the lane ?3's tenant and action, by its own row, at the time ?4.
-- name: keyOfTask
SELECT t.id FROM tasks t CROSS JOIN lanes l ON l.id = t.lane CROSS JOIN lanes o ON o.id = ?3
WHERE t.seq = ?1 AND t.dedupe_key = ?2 AND l.tenant = o.tenant AND l.action = o.action AND $holdsKey;

-- name: setGroupCount
UPDATE failure_groups SET count = ? WHERE id = ?;

-- Of how many dead letters a group would be, and what went wrong with this one.
-- name: groupToBe
SELECT
  (SELECT count(*) FROM tasks t WHERE t.fingerprint = ?3 AND t.status = $DEAD) AS count,
  (SELECT x.failure FROM executions x WHERE x.seq = ?1 AND x.attempt = ?2) AS failure;

-- Tasks by lane and by where they stand: as tasks.status says; a live task by the row it has beside that.
-- name: countTasksBetween
SELECT
  t.lane,
  CASE
    WHEN t.status <> $LIVE THEN t.status
    WHEN EXISTS (SELECT 1 FROM successes s WHERE s.seq = t.seq) THEN $SUCCEEDED
    WHEN EXISTS (SELECT 1 FROM leases e WHERE e.seq = t.seq) THEN $RUNNING
    WHEN EXISTS (SELECT 1 FROM ready r WHERE r.lane = t.lane AND r.place = $RETIRED_PLACE AND r.rank = t.rank AND r.seq = t.seq)
      AND NOT EXISTS (SELECT 1 FROM ready r WHERE r.lane = t.lane AND r.place = $PRIORITY_MAX - t.priority AND r.rank = t.rank AND r.seq = t.seq) THEN $RETIRED
    ELSE $LIVE
  END AS stand,
  count(*) AS count,
  sum(coalesce(octet_length(t.payload), (SELECT octet_length(p.payload) FROM payloads p WHERE p.seq = t.seq), 0)) AS bytes
FROM tasks t WHERE t.seq > ?1 AND t.seq <= ?2 GROUP BY t.lane, stand;

-- name: lanesAfter
SELECT * FROM lanes WHERE id > ? ORDER BY id LIMIT ?;

-- name: newestEntry
SELECT coalesce(max(id), 0) AS id FROM journal;

-- name: repairedSince
SELECT 1 AS found FROM journal WHERE id > ? AND type = 'store.repaired' LIMIT 1;

-- name: insertFailureGroup
INSERT INTO failure_groups (fingerprint, action, count, first_at, last_at, last_task, sample) VALUES (?, ?, ?, ?, ?, ?, ?);
