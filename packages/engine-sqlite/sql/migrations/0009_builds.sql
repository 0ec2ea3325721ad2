-- What each attempt's worker was: the rows that name workers by number tell their version, host and runtimes as well. And the
-- workers that left, for a day.

DROP VIEW task_view;

-- One row for each worker id and each build that it ever ran attempts with. build: version, host and runtimes as JSON, '' if
-- they are not known.
CREATE TABLE worker_builds (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  build TEXT NOT NULL,
  UNIQUE (name, build)
) STRICT;
INSERT INTO worker_builds (id, name, build) SELECT id, name, '' FROM worker_names;
DROP TABLE worker_names;
ALTER TABLE worker_builds RENAME TO worker_names;

CREATE TABLE departed_workers (
  id TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  -- As in workers.
  registration TEXT NOT NULL,
  registered_at INTEGER NOT NULL,
  left_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX departed_workers_left ON departed_workers (left_at, id);

CREATE VIEW task_view AS
SELECT
  t.seq, t.id, t.lane, t.profile, t.status, t.priority, t.generation, t.attempt, t.attempt_base, t.failures, t.losses,
  t.parks, t.deferrals, t.accepted_at, t.since, t.rank, t.due_at, t.deadline_at, t.wait_reason, t.wait_quota, t.retry_reason,
  t.dead_reason, t.fingerprint, t.retry_token, t.dedupe_key, t.labels,
  coalesce(t.payload, (SELECT payload FROM payloads WHERE payloads.seq = t.seq)) AS payload,
  l.pool, l.action, l.tenant, l.held_since, l.held_ms,
  p.settings,
  r.place, r.since AS queued_since, r.expires,
  e.attempt AS lease_attempt, e.token AS lease_token, e.worker AS lease_worker_number,
  (SELECT name FROM worker_names w WHERE w.id = e.worker) AS lease_worker,
  (SELECT build FROM worker_names w WHERE w.id = e.worker) AS lease_build,
  e.started_at AS lease_started_at,
  e.until AS lease_until, e.timeout_at AS lease_timeout_at, e.renewed_at AS lease_renewed_at, e.progress AS lease_progress,
  e.stage AS lease_stage, e.handle AS lease_handle,
  s.attempt AS success_attempt, s.token AS success_token, s.dispatched_at AS success_dispatched_at,
  s.resolved_at AS success_resolved_at, s.result,
  (SELECT name FROM worker_names w WHERE w.id = s.worker) AS success_worker,
  (SELECT build FROM worker_names w WHERE w.id = s.worker) AS success_build,
  f.failure
FROM tasks t
  CROSS JOIN lanes l ON l.id = t.lane
  CROSS JOIN profiles p ON p.id = t.profile
  LEFT JOIN ready r ON r.lane = t.lane AND r.place IN (9 - t.priority, 100) AND r.rank = t.rank AND t.status = 0
  LEFT JOIN leases e ON e.seq = t.seq
  LEFT JOIN successes s ON s.seq = t.seq
  LEFT JOIN executions f ON t.status = 4 AND f.seq = t.seq AND f.attempt = t.attempt;
