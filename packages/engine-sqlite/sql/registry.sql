-- The worker registry.

-- name: findWorker
SELECT * FROM workers WHERE id = ?;

-- With how much lies in the inbox of each.
-- name: listWorkers
SELECT
  w.*,
  (SELECT count(*) FROM inboxes i WHERE i.worker IN (SELECT n.id FROM worker_names n WHERE n.name = w.id)) AS inbox
FROM workers w WHERE w.id > ? ORDER BY w.id LIMIT ? + 0;

-- name: inboxDepth
SELECT count(*) AS depth FROM inboxes WHERE worker IN (SELECT id FROM worker_names WHERE name = ?);

-- name: saveWorker
INSERT INTO workers (id, epoch, registration, registered_at, last_beat_at, last_progress_at) VALUES (?1, ?2, ?3, ?4, ?4, ?4)
ON CONFLICT (id) DO UPDATE SET
  epoch = excluded.epoch, registration = excluded.registration, registered_at = excluded.registered_at,
  last_beat_at = excluded.last_beat_at, in_flight = 0, queue_depth = 0, loop_lag_ms = 0, memory_bytes = 0, draining = 0,
  consecutive_failures = 0, recent_outcomes = 0, recent_failures = 0, last_failure_at = NULL,
  last_progress_at = excluded.last_progress_at, quiet_ms_max = 0, outlook = NULL, probe_failures = 0, by_tenant = NULL,
  policy_version = NULL;

-- name: saveBeat
UPDATE workers SET
  last_beat_at = ?, in_flight = ?, queue_depth = ?, loop_lag_ms = ?, memory_bytes = ?, draining = ?, quiet_ms_max = ?, outlook = ?,
  last_progress_at = ?, policy_version = ?
WHERE id = ?;

-- ?3 is 1 for an answer, else 0.
-- name: saveProbe
UPDATE workers SET probe_failures = iif(?3 = 1, 0, probe_failures + 1) WHERE id = ?1 AND epoch = ?2;

-- name: saveEvidence
UPDATE workers SET
  consecutive_failures = ?, recent_outcomes = ?, recent_failures = ?, last_failure_at = ?,
  last_progress_at = ?, by_tenant = ?
WHERE id = ?;

-- name: saveSignOfLife
UPDATE workers SET last_beat_at = ? WHERE id = ?;

-- name: saveOutlook
UPDATE workers SET outlook = ? WHERE id = ? AND epoch = ?;

-- What worker ?4 runs (stage 0), renewed at ?1 for ?2 ms, never beyond its time-out and ?3 ms. See `extension` in leases.ts.
-- name: vouchForWorker
UPDATE leases SET
  until = max(until, min(?1 + ?2, timeout_at + max(?1 - coalesce(renewed_at, started_at) - ?2, 0) + ?3)),
  timeout_at = timeout_at + max(?1 - coalesce(renewed_at, started_at) - ?2, 0),
  renewed_at = ?1
WHERE worker IN (SELECT id FROM worker_names WHERE name = ?4) AND stage = $STAGE_RUN;

-- name: deleteWorker
DELETE FROM workers WHERE id = ?;

-- All but those of stage launch (3): what was launched goes on, whatever becomes of its launcher.
-- name: leasesOfWorker
SELECT seq FROM leases WHERE worker IN (SELECT id FROM worker_names WHERE name = ?) AND stage < $STAGE_LAUNCH;

-- name: takeLeaseAway
UPDATE leases SET token = ?, until = ? WHERE seq = ?;

-- name: silentWorkers
SELECT * FROM workers WHERE last_beat_at <= ? ORDER BY id LIMIT ?;

-- name: saveDeparted
INSERT OR REPLACE INTO departed_workers (id, epoch, registration, registered_at, left_at) VALUES (?, ?, ?, ?, ?);

-- name: deleteDeparted
DELETE FROM departed_workers WHERE id = ?;

-- Those that left at ?1 or before.
-- name: forgetDeparted
DELETE FROM departed_workers WHERE id IN (SELECT id FROM departed_workers WHERE left_at <= ?1 ORDER BY left_at LIMIT ?2);

-- All but the last ?1.
-- name: thinOutDeparted
DELETE FROM departed_workers WHERE id IN (SELECT id FROM departed_workers ORDER BY left_at DESC, id DESC LIMIT -1 OFFSET ?1);

-- Those that left after ?1, the latest first, behind the place (?2, ?3).
-- name: listDeparted
SELECT * FROM departed_workers WHERE left_at > ?1 AND (left_at, id) < (?2, ?3) ORDER BY left_at DESC, id DESC LIMIT ?4;
