-- Circuit breakers and retry quotas; the stages of a lease; more evidence of health; what tasks were spared and put off.

-- breakers_version counts up with every change of a breaker, so that each process knows whether what it remembers of them
-- is current. has_inboxes is 1 while a lease may lie in an inbox.
ALTER TABLE store ADD COLUMN breakers_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE store ADD COLUMN has_inboxes INTEGER NOT NULL DEFAULT 0 CHECK (has_inboxes IN (0, 1));

ALTER TABLE tasks ADD COLUMN parks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN deferrals INTEGER NOT NULL DEFAULT 0;
-- The retry quota that moved a waiting task to a later time.
ALTER TABLE tasks ADD COLUMN wait_quota TEXT;

-- stage: 0 run, 1 dispatch, 2 inbox, 3 launch.
ALTER TABLE leases ADD COLUMN stage INTEGER NOT NULL DEFAULT 0 CHECK (stage BETWEEN 0 AND 3);
ALTER TABLE leases ADD COLUMN handle TEXT;

-- One row per lease of stage inbox. Not an index on leases, which every lease would pay for. place is the order in which
-- they were assigned.
CREATE TABLE inboxes (
  seq INTEGER PRIMARY KEY,
  worker INTEGER NOT NULL,
  place INTEGER NOT NULL
) STRICT;
CREATE INDEX inboxes_of_worker ON inboxes (worker, place);

ALTER TABLE workers ADD COLUMN last_progress_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workers ADD COLUMN quiet_ms_max REAL NOT NULL DEFAULT 0;
ALTER TABLE workers ADD COLUMN outlook TEXT;
ALTER TABLE workers ADD COLUMN probe_failures INTEGER NOT NULL DEFAULT 0;
UPDATE workers SET last_progress_at = last_beat_at;

CREATE TABLE breakers (
  name TEXT PRIMARY KEY,
  -- As JSON.
  breaker TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE quota_windows (
  name TEXT NOT NULL,
  window INTEGER NOT NULL,
  count INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  PRIMARY KEY (name, window)
) STRICT, WITHOUT ROWID;
CREATE INDEX quota_windows_past ON quota_windows (ends_at);

DROP VIEW task_view;
CREATE VIEW task_view AS
SELECT
  t.seq, t.id, t.lane, t.profile, t.status, t.priority, t.generation, t.attempt, t.attempt_base, t.failures, t.losses,
  t.parks, t.deferrals, t.accepted_at, t.since, t.rank, t.due_at, t.deadline_at, t.wait_reason, t.wait_quota, t.retry_reason,
  t.dead_reason, t.fingerprint, t.retry_token, t.dedupe_key, t.labels,
  coalesce(t.payload, (SELECT payload FROM payloads WHERE payloads.seq = t.seq)) AS payload,
  l.pool, l.action, l.tenant, l.held_since, l.held_ms,
  p.settings,
  r.place, r.since AS queued_since, r.expires,
  e.attempt AS lease_attempt, e.token AS lease_token, (SELECT name FROM worker_names w WHERE w.id = e.worker) AS lease_worker, e.started_at AS lease_started_at,
  e.until AS lease_until, e.timeout_at AS lease_timeout_at, e.renewed_at AS lease_renewed_at, e.progress AS lease_progress,
  e.stage AS lease_stage, e.handle AS lease_handle,
  s.attempt AS success_attempt, s.token AS success_token, s.dispatched_at AS success_dispatched_at,
  s.resolved_at AS success_resolved_at, s.result, (SELECT name FROM worker_names w WHERE w.id = s.worker) AS success_worker,
  f.failure
FROM tasks t
  CROSS JOIN lanes l ON l.id = t.lane
  CROSS JOIN profiles p ON p.id = t.profile
  LEFT JOIN ready r ON r.lane = t.lane AND r.place IN (9 - t.priority, 100) AND r.rank = t.rank AND t.status = 0
  LEFT JOIN leases e ON e.seq = t.seq
  LEFT JOIN successes s ON s.seq = t.seq
  LEFT JOIN executions f ON t.status = 4 AND f.seq = t.seq AND f.attempt = t.attempt;
