-- Claims, leases and ended attempts.
-- LIMIT ? + 0: SQLite plans a statement anew whenever a bare LIMIT ? is bound, which takes longer than to run it.

-- A queue entry r and its task t, with what a worker needs; since is null for one that was never tried.
-- part: entryColumns
  r.seq, r.rank, r.expires, t.id, t.payload, t.profile, t.priority, t.generation, t.attempt, t.failures, t.losses,
  t.accepted_at, t.deadline_at, t.retry_reason, t.retry_token, t.dedupe_key, t.labels, t.parks, t.deferrals, t.policy,
  iif(t.attempt = 0, NULL, r.since) AS since

-- The next entries of a lane in claim order after the place (?3, ?4).
-- name: nextEntries (columns)
SELECT $entryColumns
FROM ready r CROSS JOIN tasks t ON t.seq = r.seq
WHERE r.lane = ?1 AND (r.place, r.rank) > (?3, ?4) AND r.place < $PLACES ORDER BY r.place, r.rank LIMIT ?2 + 0;

-- The entry of a lane that came first, of whatever priority: the first of each place after a rank, then the lowest of
-- them. ?2 is a JSON array of those ranks, by place.
-- name: oldestEntry
SELECT $entryColumns
FROM json_each(?2) p
CROSS JOIN ready r ON r.lane = ?1 AND r.place = p.key
  AND r.rank = (SELECT rank FROM ready WHERE lane = ?1 AND place = p.key AND rank > p.value ORDER BY rank LIMIT 1)
CROSS JOIN tasks t ON t.seq = r.seq
ORDER BY r.rank LIMIT 1;

-- The places of the first and the last claimable entry: equal when the lane has one priority only.
-- name: placesOfLane
SELECT
  (SELECT place FROM ready WHERE lane = ?1 AND place < $PLACES ORDER BY place, rank LIMIT 1) AS first,
  (SELECT place FROM ready WHERE lane = ?1 AND place < $PLACES ORDER BY place DESC, rank DESC LIMIT 1) AS last;

-- Puts an entry where no claim finds it.
-- name: retireEntry
UPDATE ready SET place = $RETIRED_PLACE WHERE lane = ? AND place = ? AND rank = ?;

-- name: deleteReadyUpTo
DELETE FROM ready WHERE lane = ? AND place = ? AND rank <= ?;

-- name: longPayload
SELECT payload AS text FROM payloads WHERE seq = ?;

-- ?1 is a JSON array of seqs; their tokens count up from ?3.
-- name: insertLeases
INSERT INTO leases (seq, attempt, token, worker, started_at, until, timeout_at, stage)
SELECT j.value, ?2, ?3 + j.key, ?4, ?5, ?6, ?7, ?8 FROM json_each(?1) j;

-- Leases of stage run (0) by task, with what settling them needs. ?1 is a JSON array of seqs.
-- name: leasesOf (columns)
SELECT e.seq, e.attempt, e.token, e.worker, t.id, t.lane, t.profile
FROM json_each(?1) j CROSS JOIN leases e ON e.seq = j.value AND e.stage = $STAGE_RUN CROSS JOIN tasks t ON t.seq = e.seq;

-- Where the task of a lease stands that has been tried before.
-- name: recoveryOf
SELECT retry_reason AS reason, generation, fingerprint AS diedOf FROM tasks WHERE seq = ?;

-- name: leaseStart
SELECT started_at FROM leases WHERE seq = ?;

-- name: leaseBySeq
SELECT
  e.seq, e.attempt, e.token, e.worker AS worker_number, (SELECT name FROM worker_names w WHERE w.id = e.worker) AS worker, e.started_at, e.until, e.timeout_at, e.renewed_at,
  e.stage, t.id, t.lane, t.profile, t.generation, t.failures, t.losses, t.parks, t.deferrals, t.retry_reason, t.priority, t.rank, t.deadline_at,
  t.attempt_base, t.fingerprint
FROM leases e CROSS JOIN tasks t ON t.seq = e.seq WHERE e.seq = ?;

-- name: renewLease
UPDATE leases SET until = max(until, ?), timeout_at = ?, renewed_at = ?, progress = coalesce(?, progress), handle = coalesce(?, handle)
WHERE seq = ?;

-- name: deleteLease
DELETE FROM leases WHERE seq = ?;

-- The happy end of many attempts at once: from lease to success. ?1 is a JSON array of seqs.
-- name: recordSuccesses
INSERT INTO successes (seq, attempt, worker, token, dispatched_at, resolved_at)
SELECT e.seq, e.attempt, e.worker, e.token, e.started_at, ?2 FROM json_each(?1) j CROSS JOIN leases e ON e.seq = j.value;

-- name: deleteLeases
DELETE FROM leases WHERE seq IN (SELECT value FROM json_each(?1));

-- The same for one that has a result.
-- name: recordResult
INSERT INTO successes (seq, attempt, worker, token, dispatched_at, resolved_at, result)
SELECT e.seq, e.attempt, e.worker, e.token, e.started_at, ?2, ?3 FROM leases e WHERE e.seq = ?1;

-- Many that have short results: ?1 is a JSON array of seq and result each.
-- name: recordResults
INSERT INTO successes (seq, attempt, worker, token, dispatched_at, resolved_at, result)
SELECT e.seq, e.attempt, e.worker, e.token, e.started_at, ?2, j.value ->> 1
FROM json_each(?1) j CROSS JOIN leases e ON e.seq = j.value ->> 0;

-- name: insertExecution
INSERT INTO executions (seq, attempt, generation, status, worker, token, dispatched_at, resolved_at, retry_reason, failure, decision)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- part: executionColumns
  x.seq, x.attempt, x.generation, x.status, x.token, x.dispatched_at, x.resolved_at, x.retry_reason, x.failure, x.decision,
  (SELECT name FROM worker_names w WHERE w.id = x.worker) AS worker,
  (SELECT build FROM worker_names w WHERE w.id = x.worker) AS build

-- name: executionOf
SELECT $executionColumns FROM executions x WHERE seq = ? AND attempt = ?;

-- name: executionsAfter
SELECT $executionColumns FROM executions x WHERE seq = ? AND attempt > ? ORDER BY attempt LIMIT ?;

-- Those of stage launch (3) are for whoever launches.
-- name: expiredLeases
SELECT e.seq, e.until AS since FROM leases e WHERE e.until <= ? AND e.stage < $STAGE_LAUNCH ORDER BY e.until, e.seq LIMIT ?;

-- name: retiredEntries
SELECT r.seq FROM lanes l CROSS JOIN ready r ON r.lane = l.id AND r.place = $RETIRED_PLACE WHERE l.queued > l.ready LIMIT ?;

-- name: entriesPastDeadline
SELECT seq FROM ready WHERE deadline_at <= ? AND place < $PLACES ORDER BY deadline_at LIMIT ?;

-- ?1 is now; lane time stands still while a lane is held.
-- name: entriesPastTtl
SELECT r.seq FROM lanes l CROSS JOIN ready r INDEXED BY ready_expires ON r.lane = l.id AND r.expires <= coalesce(l.held_since, ?1) - l.held_ms AND r.place < $PLACES
WHERE l.ready > 0 LIMIT ?2;

-- name: upsertFailureGroup
INSERT INTO failure_groups (fingerprint, action, count, first_at, last_at, last_task, sample) VALUES (?, ?, 1, ?, ?, ?, ?)
ON CONFLICT (fingerprint) DO UPDATE SET
  count = count + 1, last_at = excluded.last_at, last_task = excluded.last_task, sample = excluded.sample;

-- A dead letter that died elsewhere, at ?3: its group reaches back to its first, and shows the latest.
-- name: joinFailureGroupOfThen
INSERT INTO failure_groups (fingerprint, action, count, first_at, last_at, last_task, sample) VALUES (?1, ?2, 1, ?3, ?3, ?4, ?5)
ON CONFLICT (fingerprint) DO UPDATE SET
  count = count + 1,
  first_at = min(first_at, ?3),
  last_task = iif(?3 >= last_at, ?4, last_task),
  sample = iif(?3 >= last_at, ?5, sample),
  last_at = max(last_at, ?3);

-- The group of a task that came back from it elsewhere, and may return to it: nobody is in it because of that.
-- name: knowFailureGroup
INSERT INTO failure_groups (fingerprint, action, count, first_at, last_at, last_task, sample) VALUES (?1, ?2, 0, ?3, ?3, ?4, ?5)
ON CONFLICT (fingerprint) DO NOTHING;

-- name: rejoinFailureGroup
UPDATE failure_groups SET count = count + 1 WHERE fingerprint = ?;

-- name: leaveFailureGroup
UPDATE failure_groups SET count = count - 1 WHERE fingerprint = ?;

-- name: failureGroup
SELECT * FROM failure_groups WHERE fingerprint = ?1 AND count > 0 AND (?2 = '' OR action = ?2);

-- name: failureGroups
SELECT * FROM failure_groups
WHERE count > 0 AND (?1 = '' OR action = ?1) AND (last_at, id) < (?2, ?3)
ORDER BY last_at DESC, id DESC LIMIT ?4;
