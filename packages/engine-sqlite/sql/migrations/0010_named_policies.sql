-- The policy that an operator's retry named for the further attempts of a task; null for nearly all.

DROP VIEW task_view;

ALTER TABLE tasks ADD COLUMN policy TEXT;

CREATE VIEW task_view AS
SELECT
  t.seq, t.id, t.lane, t.profile, t.status, t.priority, t.generation, t.attempt, t.attempt_base, t.failures, t.losses,
  t.parks, t.deferrals, t.accepted_at, t.since, t.rank, t.due_at, t.deadline_at, t.wait_reason, t.wait_quota, t.retry_reason,
  t.dead_reason, t.fingerprint, t.retry_token, t.dedupe_key, t.labels, t.policy,
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
