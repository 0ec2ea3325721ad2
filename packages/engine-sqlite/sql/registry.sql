-- The worker registry.

-- name: findWorker
SELECT * FROM workers WHERE id = ?;

-- name: listWorkers
SELECT * FROM workers WHERE id > ? ORDER BY id LIMIT ?;

-- name: saveWorker
INSERT INTO workers (id, epoch, registration, registered_at, last_beat_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
  epoch = excluded.epoch, registration = excluded.registration, registered_at = excluded.registered_at,
  last_beat_at = excluded.last_beat_at, in_flight = 0, queue_depth = 0, loop_lag_ms = 0, memory_bytes = 0, draining = 0,
  consecutive_failures = 0, recent_outcomes = 0, recent_failures = 0, last_failure_at = NULL;

-- name: saveBeat
UPDATE workers SET last_beat_at = ?, in_flight = ?, queue_depth = ?, loop_lag_ms = ?, memory_bytes = ?, draining = ? WHERE id = ?;

-- name: saveEvidence
UPDATE workers SET
  last_beat_at = ?, consecutive_failures = ?, recent_outcomes = ?, recent_failures = ?, last_failure_at = ?
WHERE id = ?;

-- name: deleteWorker
DELETE FROM workers WHERE id = ?;

-- name: leasesOfWorker
SELECT seq FROM leases WHERE worker = (SELECT id FROM worker_names WHERE name = ?);

-- name: takeLeaseAway
UPDATE leases SET token = ?, until = ? WHERE seq = ?;

-- name: deleteSilentWorkers
DELETE FROM workers WHERE last_beat_at <= ?;
