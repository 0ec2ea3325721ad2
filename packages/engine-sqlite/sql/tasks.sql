-- Tasks: taking them in, finding them, moving them between their places.

-- Whether the lane l is in the scope ?1, ?2, ?3; '' is any.
-- part: laneInScope
(?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)

-- Whether the task t is queued.
-- part: isQueued
(t.status = $LIVE
  AND NOT EXISTS (SELECT 1 FROM successes s WHERE s.seq = t.seq)
  AND NOT EXISTS (SELECT 1 FROM leases e WHERE e.seq = t.seq))

-- Whether the task t holds its dedupe key at the time ?4.
-- part: holdsKey
CASE
  WHEN t.dedupe_until IS NOT NULL THEN t.dedupe_until > ?4
  ELSE t.status IN ($LIVE, $WAITING) AND NOT EXISTS (SELECT 1 FROM successes s WHERE s.seq = t.seq)
END

-- name: findProfile
SELECT id FROM profiles WHERE settings = ?;

-- name: insertProfile
INSERT INTO profiles (settings) VALUES (?);

-- name: loadProfile
SELECT settings AS text FROM profiles WHERE id = ?;

-- name: findWorkerName
SELECT id FROM worker_names WHERE name = ? AND build = ?;

-- name: insertWorkerName
INSERT INTO worker_names (name, build) VALUES (?, ?);

-- name: loadWorkerName
SELECT name AS text FROM worker_names WHERE id = ?;

-- name: workerBuild
SELECT name, build FROM worker_names WHERE id = ?;

-- name: taskIdTaken
SELECT id FROM tasks WHERE id = ?;

-- The task that holds the key ?3 of tenant ?1 and action ?2 at the time ?4.
-- name: dedupeHolder
SELECT t.id FROM dedupe d CROSS JOIN tasks t ON t.seq = d.seq
WHERE d.tenant = ?1 AND d.action = ?2 AND d.key = ?3 AND $holdsKey;

-- What was asked for, as far as a repetition of it must be the same.
-- name: askedOf
SELECT l.action, l.tenant, coalesce(t.payload, (SELECT p.payload FROM payloads p WHERE p.seq = t.seq)) AS payload
FROM tasks t CROSS JOIN lanes l ON l.id = t.lane WHERE t.id = ?;

-- Inserts nothing if the id is taken.
-- name: insertTask
INSERT INTO tasks (
  seq, id, lane, profile, status, priority, generation, attempt, attempt_base, failures, losses, accepted_at, since, rank, due_at,
  deadline_at, wait_reason, retry_token, dedupe_key, labels, payload
) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, 0, 0, 0, ?8, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
ON CONFLICT (id) DO NOTHING;

-- Many that differ in id, payload and retry token only: ?1 is a JSON array of those three each. ?2 and ?3 are the seq and the rank
-- of the first. Leaves out those whose id is taken.
-- name: insertPlainTasks
INSERT INTO tasks (
  seq, id, lane, profile, status, priority, generation, attempt, attempt_base, failures, losses, accepted_at, since, rank,
  retry_token, labels, payload
)
SELECT
  ?2 + j.key, j.value ->> 0, ?4, ?5, $LIVE, ?6, 1, 0, 0, 0, 0, ?7, ?7, ?3 + j.key, j.value ->> 2, ?8, j.value ->> 1
FROM json_each(?1) j WHERE true
ON CONFLICT (id) DO NOTHING;

-- name: seqsBetween
SELECT json_group_array(seq) AS seqs FROM tasks WHERE seq BETWEEN ? AND ?;

-- The entries of tasks that were just taken in, by their seqs ?5 to ?6.
-- name: insertPlainReady
INSERT INTO ready (lane, place, rank, seq, since, expires)
SELECT ?1, ?2, t.rank, t.seq, ?3, ?4 FROM tasks t WHERE t.seq BETWEEN ?5 AND ?6;

-- name: insertPayload
INSERT INTO payloads (seq, payload) VALUES (?, ?);

-- Inserts nothing if another task had the key before.
-- name: insertDedupe
INSERT INTO dedupe (tenant, action, key, seq) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: passKeyOn
UPDATE dedupe SET seq = ?4 WHERE tenant = ?1 AND action = ?2 AND key = ?3;

-- The task that had the key goes without it from now on, should it come back.
-- name: loseKey
UPDATE tasks SET dedupe_until = 0
WHERE dedupe_until IS NULL AND seq = (SELECT d.seq FROM dedupe d WHERE d.tenant = ?1 AND d.action = ?2 AND d.key = ?3);

-- name: setKeyUntil
UPDATE tasks SET dedupe_until = ? WHERE seq = ?;

-- name: hasLostKey
SELECT dedupe_until = 0 AS lost FROM tasks WHERE seq = ?;

-- name: insertReady
INSERT INTO ready (lane, place, rank, seq, since, expires, deadline_at) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: deleteReady
DELETE FROM ready WHERE lane = ? AND place = ? AND rank = ?;

-- name: insertWaiting
INSERT INTO waiting (pool, due_at, seq) VALUES (?, ?, ?);

-- name: deleteWaiting
DELETE FROM waiting WHERE pool = ? AND due_at = ? AND seq = ?;

-- Those that are due first are promoted first, by seq where they are due together.
-- name: deleteWaitingUpTo
DELETE FROM waiting WHERE pool = ? AND (due_at, seq) <= (?, ?);

-- name: dueTasks
SELECT w.seq, w.due_at, t.lane, t.priority, t.profile, t.generation, t.deadline_at
FROM waiting w CROSS JOIN tasks t ON t.seq = w.seq
WHERE w.pool = ? AND w.due_at <= ? ORDER BY w.due_at, w.seq LIMIT ? + 0;

-- name: nextDue
SELECT due_at FROM waiting WHERE pool = ? ORDER BY due_at, seq LIMIT 1;

-- name: enterQueue
UPDATE tasks SET status = $LIVE, since = ?, rank = ?, due_at = NULL, wait_reason = NULL WHERE seq = ?;

-- An operator's way back to the queue, from dead or waiting. The fingerprint stays: it is what the task last died of.
-- name: requeueTask
UPDATE tasks SET
  status = $LIVE, since = ?, rank = ?, due_at = NULL, wait_reason = NULL, dead_reason = NULL,
  generation = ?, attempt_base = ?, failures = ?, losses = ?, parks = ?, deferrals = ?, retry_reason = ?, policy = ?
WHERE seq = ?;

-- Its attempt ended badly.
-- name: taskAfterBadEnd
UPDATE tasks SET
  status = ?, since = ?, rank = NULL, due_at = ?, wait_reason = ?, wait_quota = ?, retry_reason = ?, dead_reason = ?, fingerprint = COALESCE(?, fingerprint),
  attempt = ?, failures = ?, losses = ?, deferrals = ?
WHERE seq = ?;

-- Back to the queue, its failed attempt not charged. ?1 is its rank.
-- name: parkTask
UPDATE tasks SET rank = ?1, since = ?2, retry_reason = ?3, attempt = ?4, parks = parks + 1, deferrals = 0 WHERE seq = ?5;

-- To the delay queue, as if the attempt had never been.
-- name: deferTask
UPDATE tasks SET
  status = $WAITING, since = ?, rank = NULL, due_at = ?, wait_reason = ?, wait_quota = NULL, deferrals = deferrals + 1
WHERE seq = ?;

-- A final state without an attempt's end: cancelled, discarded.
-- name: endTask
UPDATE tasks SET
  status = ?, since = ?, rank = NULL, due_at = NULL, wait_reason = NULL, dead_reason = NULL, attempt = ?
WHERE seq = ?;

-- Dead again, as it was before an operator sent it back to work or gave it up.
-- name: reviveDead
UPDATE tasks SET
  status = $DEAD, since = ?, rank = NULL, due_at = NULL, wait_reason = NULL, wait_quota = NULL, retry_reason = NULL,
  dead_reason = ?, fingerprint = ?
WHERE seq = ?;

-- What a task has spent that was at work elsewhere before. Where it waits, the reason is that of its retry.
-- name: bringPast
UPDATE tasks SET
  generation = ?1, attempt = ?2, attempt_base = ?3, failures = ?4, losses = ?5, parks = ?6, retry_reason = ?7, fingerprint = ?8,
  wait_reason = iif(wait_reason IS NULL, NULL, coalesce(?7, wait_reason))
WHERE seq = ?9;

-- name: taskById
SELECT * FROM task_view WHERE id = ?;

-- name: taskBySeq
SELECT * FROM task_view WHERE seq = ?;

-- Tasks as callers see them, in the order in which their seqs are listed in ?1, a JSON array; ?2 is the time. Names and
-- settings stay numbers, and what only some states have shares its columns: node:sqlite asks its price for each of them.
--   status: as in tasks; a live task by the row it has beside that.
--   at: since when it is there.
--   until: when a queued one expires, or a waiting one is due; how long the result is; 1 if another task took the key of a dead one.
--   reason: why it waits or is dead.
--   detail: the result, the quota, or the lease, as JSON.
--   worker: the one of the latest attempt.
-- What may be long is left out, to be read by itself: payloads with rows of their own, long results, failures.
-- A null among the keys of a join spares the search there.
-- name: tasksBySeq (columns)
SELECT
  t.seq, t.id, t.lane, t.profile,
  CASE WHEN s.seq IS NOT NULL THEN $SUCCEEDED WHEN e.seq IS NOT NULL THEN $RUNNING ELSE t.status END AS status,
  t.priority, t.generation, coalesce(e.attempt, s.attempt, t.attempt) AS attempt, t.failures, t.losses, t.parks,
  -- A success does not write the task's row, and puts an end to deferrals all the same.
  CASE WHEN s.seq IS NULL THEN t.deferrals ELSE 0 END AS deferrals,
  t.accepted_at, t.deadline_at, t.retry_token, t.dedupe_key, t.labels, t.policy,
  t.payload, coalesce(s.resolved_at, r.since, t.since) AS at,
  CASE
    WHEN s.seq IS NOT NULL THEN octet_length(s.result)
    WHEN t.status = $WAITING THEN t.due_at
    WHEN t.status = $DEAD THEN t.dedupe_until = 0
    WHEN r.expires IS NOT NULL THEN
      r.expires + ?2 - (SELECT coalesce(l.held_since, ?2) - l.held_ms FROM lanes l WHERE l.id = t.lane)
  END AS until,
  CASE t.status WHEN $WAITING THEN t.wait_reason WHEN $DEAD THEN t.dead_reason END AS reason,
  CASE
    WHEN s.seq IS NOT NULL THEN CASE WHEN octet_length(s.result) <= $LIGHT_BYTES_MAX THEN s.result END
    WHEN e.seq IS NOT NULL THEN json_object(
      'token', e.token, 'worker', (SELECT name FROM worker_names w WHERE w.id = e.worker), 'startedAt', e.started_at,
      'leaseUntil', e.until, 'timeoutAt', e.timeout_at, 'stage', e.stage, 'handle', e.handle, 'progress', e.progress)
    WHEN t.status = $WAITING THEN t.wait_quota
  END AS detail,
  CASE
    WHEN s.seq IS NOT NULL THEN s.worker
    WHEN e.seq IS NOT NULL THEN e.worker
    WHEN t.attempt > 0 THEN (SELECT x.worker FROM executions x WHERE x.seq = t.seq AND x.attempt = t.attempt)
  END AS worker
FROM json_each(?1) j
  CROSS JOIN tasks t ON t.seq = j.value
  LEFT JOIN successes s ON s.seq = CASE t.status WHEN $LIVE THEN t.seq END
  LEFT JOIN leases e ON e.seq = CASE WHEN t.status = $LIVE AND s.seq IS NULL THEN t.seq END
  LEFT JOIN ready r ON r.lane = CASE WHEN t.status = $LIVE AND s.seq IS NULL AND e.seq IS NULL THEN t.lane END
    AND r.place IN ($PRIORITY_MAX - t.priority, $RETIRED_PLACE) AND r.rank = t.rank;

-- How the tasks with these ids stand, ?1 as a JSON array: their status as above in a JSON array of the same order, null for an
-- unknown one.
-- name: statusesOfIds
SELECT json_group_array(
  CASE
    WHEN t.status <> $LIVE THEN t.status
    WHEN s.seq IS NOT NULL THEN $SUCCEEDED
    WHEN EXISTS (SELECT 1 FROM leases e WHERE e.seq = t.seq) THEN $RUNNING
    ELSE t.status
  END) AS statuses
FROM json_each(?1) j
  LEFT JOIN tasks t ON t.id = j.value
  LEFT JOIN successes s ON s.seq = CASE t.status WHEN $LIVE THEN t.seq END;

-- name: longResult
SELECT result AS text FROM successes WHERE seq = ?;

-- name: lastFailure
SELECT failure AS text FROM executions WHERE seq = ? AND attempt = ?;

-- Which tasks a page has, newest first: their seqs as a JSON array, for tasksBySeq. ?1 to ?3 are the scope, and the seqs
-- are below ?4.
-- name: seqOfId
SELECT json_array(seq) AS seqs FROM tasks WHERE id = ?;

-- One window of seq; ?7 is 1 if only queued ones are wanted. Of any scope.
-- name: seqsInWindow
SELECT json_group_array(seq) AS seqs FROM (
  SELECT t.seq FROM tasks t
  WHERE ?1 = '' AND ?2 = '' AND ?3 = '' AND t.seq < ?4 AND t.seq >= ?5
    AND (?7 = 0 OR $isQueued)
  ORDER BY t.seq DESC LIMIT ?6);

-- The same of a scope, where there are few lanes: they are looked through beforehand.
-- name: seqsInWindowOfLanes
SELECT json_group_array(seq) AS seqs FROM (
  SELECT t.seq FROM tasks t
  WHERE t.seq < ?4 AND t.seq >= ?5
    AND t.lane IN (
      SELECT l.id FROM lanes l
      WHERE $laneInScope)
    AND (?7 = 0 OR $isQueued)
  ORDER BY t.seq DESC LIMIT ?6);

-- The same where there are many: each task's lane is looked at.
-- name: seqsInWindowByLane
SELECT json_group_array(seq) AS seqs FROM (
  SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
  WHERE t.seq < ?4 AND t.seq >= ?5
    AND $laneInScope
    AND (?7 = 0 OR $isQueued)
  ORDER BY t.seq DESC LIMIT ?6);

-- name: seqsSucceeded
SELECT json_group_array(seq) AS seqs FROM (
  SELECT s.seq FROM successes s CROSS JOIN tasks t ON t.seq = s.seq CROSS JOIN lanes l ON l.id = t.lane
  WHERE s.seq < ?4 AND s.seq >= ?5
    AND $laneInScope
  ORDER BY s.seq DESC LIMIT ?6);

-- name: seqsSetAside
SELECT json_group_array(seq) AS seqs FROM (
  SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
  WHERE t.status = ?5 AND t.status > $SUCCEEDED AND t.seq < ?4 AND t.seq >= ?7
    AND $laneInScope
  ORDER BY t.seq DESC LIMIT ?6);

-- name: seqsWaiting
SELECT json_group_array(seq) AS seqs FROM (
  SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
  WHERE t.status = $WAITING AND t.seq < ?4 AND t.seq >= ?6
    AND $laneInScope
  ORDER BY t.seq DESC LIMIT ?5);

-- name: seqsRunning
SELECT json_group_array(seq) AS seqs FROM (
  SELECT e.seq FROM leases e CROSS JOIN tasks t ON t.seq = e.seq CROSS JOIN lanes l ON l.id = t.lane
  WHERE e.seq < ?4
    AND $laneInScope
  ORDER BY e.seq DESC LIMIT ?5);

-- name: seqsOfGroup
SELECT json_group_array(seq) AS seqs FROM (
  SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
  WHERE t.fingerprint = ?5 AND t.status = $DEAD AND t.seq < ?4 AND t.seq >= ?7
    AND $laneInScope
  ORDER BY t.seq DESC LIMIT ?6);

-- Where a look for a scope ends, so many rows below ?1; nothing if there are not so many.
-- name: setAsideFloor
SELECT seq FROM tasks WHERE seq < ?1 AND status = ?3 AND status > $SUCCEEDED ORDER BY seq DESC LIMIT 1 OFFSET ?2 - 1;

-- name: waitingFloor
SELECT seq FROM tasks WHERE seq < ?1 AND status = $WAITING ORDER BY seq DESC LIMIT 1 OFFSET ?2 - 1;

-- name: groupFloor
SELECT seq FROM tasks WHERE seq < ?1 AND fingerprint = ?3 AND status = $DEAD ORDER BY seq DESC LIMIT 1 OFFSET ?2 - 1;

-- name: laneName
SELECT pool, action, tenant FROM lanes WHERE id = ?;

-- Lanes are numbered in turn, and stay.
-- name: laneCount
SELECT coalesce(max(id), 0) AS count FROM lanes;

-- name: newestSeq
SELECT coalesce(max(seq), 0) AS seq FROM tasks;

-- name: oldestSeq
SELECT coalesce(min(seq), 0) AS seq FROM tasks;

-- name: newestSuccess
SELECT coalesce(max(seq), 0) AS seq FROM successes WHERE seq < ?;

-- name: oldestSuccess
SELECT coalesce(min(seq), 0) AS seq FROM successes;

-- Bulk selection, oldest first: seqs only; what they are is read one by one.
-- name: selectDead
SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
WHERE t.status = $DEAD AND t.status > $SUCCEEDED AND t.seq > ?4
  AND $laneInScope
ORDER BY t.seq LIMIT ?5;

-- name: selectDeadOfGroup
SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
WHERE t.fingerprint = ?6 AND t.status = $DEAD AND t.seq > ?4
  AND $laneInScope
ORDER BY t.seq LIMIT ?5;

-- name: selectWaiting
SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
WHERE t.status = $WAITING AND t.seq > ?4
  AND $laneInScope
ORDER BY t.seq LIMIT ?5;

-- Live and waiting ones within a window of seq.
-- name: selectUnended
SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
WHERE t.seq > ?4 AND t.seq <= ?6 AND t.status IN ($LIVE, $WAITING) AND NOT EXISTS (SELECT 1 FROM successes s WHERE s.seq = t.seq)
  AND $laneInScope
ORDER BY t.seq LIMIT ?5;

-- Around reads that belong to one moment.
-- name: beginLook
BEGIN;

-- name: endLook
COMMIT;
