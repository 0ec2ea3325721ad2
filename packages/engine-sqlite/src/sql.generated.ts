// The SQL of this package, compiled from its sql folder. Do not edit: change the .sql files and run
// `npm run generate`.

export const migrations = [
  { version: 1, name: 'initial', sql: `CREATE TABLE store (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  next_seq INTEGER NOT NULL,
  next_rank INTEGER NOT NULL,
  next_token INTEGER NOT NULL,
  backlog INTEGER NOT NULL CHECK (backlog >= 0)
) STRICT;
INSERT INTO store VALUES (1, 1, 1, 1, 0);

CREATE TABLE pools (
  name TEXT PRIMARY KEY,
  virtual_time INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE lanes (
  id INTEGER PRIMARY KEY,
  pool TEXT NOT NULL,
  action TEXT NOT NULL,
  tenant TEXT NOT NULL,
  accepted INTEGER NOT NULL DEFAULT 0,
  queued INTEGER NOT NULL DEFAULT 0 CHECK (queued >= 0),
  waiting INTEGER NOT NULL DEFAULT 0 CHECK (waiting >= 0),
  running INTEGER NOT NULL DEFAULT 0 CHECK (running >= 0),
  succeeded INTEGER NOT NULL DEFAULT 0 CHECK (succeeded >= 0),
  dead INTEGER NOT NULL DEFAULT 0 CHECK (dead >= 0),
  discarded INTEGER NOT NULL DEFAULT 0 CHECK (discarded >= 0),
  cancelled INTEGER NOT NULL DEFAULT 0 CHECK (cancelled >= 0),
  removed INTEGER NOT NULL DEFAULT 0,
  ready INTEGER NOT NULL DEFAULT 0 CHECK (ready >= 0 AND ready <= queued),
  turn INTEGER NOT NULL DEFAULT 0,
  picks INTEGER NOT NULL DEFAULT 0,
  held_since INTEGER,
  held_ms INTEGER NOT NULL DEFAULT 0,
  UNIQUE (pool, action, tenant),
  CHECK (accepted = queued + waiting + running + succeeded + dead + discarded + cancelled + removed)
) STRICT;
CREATE INDEX lanes_claimable ON lanes (pool, turn, id) WHERE ready > 0 AND held_since IS NULL;

CREATE TABLE profiles (
  id INTEGER PRIMARY KEY,
  settings TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE worker_names (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE tasks (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  lane INTEGER NOT NULL,
  profile INTEGER NOT NULL,
  status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 6 AND status <> 2 AND status <> 3),
  priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 9),
  generation INTEGER NOT NULL CHECK (generation >= 1),
  attempt INTEGER NOT NULL CHECK (attempt >= 0),
  attempt_base INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  losses INTEGER NOT NULL,
  accepted_at INTEGER NOT NULL,
  since INTEGER NOT NULL,
  rank INTEGER,
  due_at INTEGER,
  deadline_at INTEGER,
  wait_reason TEXT,
  retry_reason TEXT,
  dead_reason TEXT,
  fingerprint TEXT,
  retry_token TEXT,
  dedupe_key TEXT,
  labels TEXT,
  payload TEXT,
  CHECK ((status = 1) = (due_at IS NOT NULL)),
  CHECK ((status = 4) = (dead_reason IS NOT NULL))
) STRICT;
CREATE INDEX tasks_set_aside ON tasks (status, seq) WHERE status > 3;
CREATE INDEX tasks_fingerprint ON tasks (fingerprint, seq) WHERE status = 4;

CREATE TABLE payloads (
  seq INTEGER PRIMARY KEY,
  payload TEXT NOT NULL
) STRICT;

CREATE TABLE dedupe (
  tenant TEXT NOT NULL,
  key TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE successes (
  seq INTEGER PRIMARY KEY,
  attempt INTEGER NOT NULL,
  worker INTEGER NOT NULL,
  token INTEGER NOT NULL,
  dispatched_at INTEGER NOT NULL,
  resolved_at INTEGER NOT NULL,
  result TEXT
) STRICT;

CREATE TABLE ready (
  lane INTEGER NOT NULL,
  place INTEGER NOT NULL CHECK (place BETWEEN 0 AND 9 OR place = 100),
  rank INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  since INTEGER NOT NULL,
  expires INTEGER,
  deadline_at INTEGER,
  PRIMARY KEY (lane, place, rank)
) STRICT, WITHOUT ROWID;
CREATE INDEX ready_expires ON ready (lane, expires) WHERE expires IS NOT NULL;
CREATE INDEX ready_deadline ON ready (deadline_at) WHERE deadline_at IS NOT NULL;

CREATE TABLE waiting (
  pool TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (pool, due_at, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
  seq INTEGER PRIMARY KEY,
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  token INTEGER NOT NULL,
  worker INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  until INTEGER NOT NULL,
  timeout_at INTEGER NOT NULL,
  renewed_at INTEGER,
  progress TEXT
) STRICT;

CREATE TABLE executions (
  id INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  generation INTEGER NOT NULL,
  status INTEGER NOT NULL CHECK (status BETWEEN 2 AND 4),
  worker INTEGER,
  token INTEGER NOT NULL,
  dispatched_at INTEGER NOT NULL,
  resolved_at INTEGER NOT NULL,
  retry_reason TEXT,
  failure TEXT,
  decision TEXT,
  UNIQUE (seq, attempt),
  CHECK ((status = 4) = (failure IS NULL))
) STRICT;

CREATE TABLE failure_groups (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  action TEXT NOT NULL,
  count INTEGER NOT NULL CHECK (count >= 0),
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  last_task TEXT NOT NULL,
  sample TEXT NOT NULL
) STRICT;
CREATE INDEX failure_groups_recent ON failure_groups (last_at, id) WHERE count > 0;

CREATE TABLE holds (
  pool TEXT NOT NULL,
  action TEXT NOT NULL,
  tenant TEXT NOT NULL,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  since INTEGER NOT NULL,
  PRIMARY KEY (pool, action, tenant)
) STRICT, WITHOUT ROWID;

CREATE TABLE limits (
  pool TEXT NOT NULL,
  action TEXT NOT NULL,
  tenant TEXT NOT NULL,
  concurrency INTEGER NOT NULL CHECK (concurrency >= 0),
  PRIMARY KEY (pool, action, tenant)
) STRICT, WITHOUT ROWID;

CREATE TABLE workers (
  id TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  registration TEXT NOT NULL,
  registered_at INTEGER NOT NULL,
  last_beat_at INTEGER NOT NULL,
  in_flight INTEGER NOT NULL DEFAULT 0,
  queue_depth INTEGER NOT NULL DEFAULT 0,
  loop_lag_ms REAL NOT NULL DEFAULT 0,
  memory_bytes INTEGER NOT NULL DEFAULT 0,
  draining INTEGER NOT NULL DEFAULT 0,
  consecutive_failures INTEGER NOT NULL DEFAULT 0,
  recent_outcomes INTEGER NOT NULL DEFAULT 0,
  recent_failures INTEGER NOT NULL DEFAULT 0,
  last_failure_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  task TEXT,
  attempt INTEGER,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX journal_task ON journal (task, id) WHERE task IS NOT NULL;

CREATE TABLE minutes (
  minute INTEGER NOT NULL,
  lane INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  started INTEGER NOT NULL,
  succeeded INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  lost INTEGER NOT NULL,
  retried INTEGER NOT NULL,
  dead INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  PRIMARY KEY (minute, lane)
) STRICT, WITHOUT ROWID;

CREATE TABLE documents (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  collection TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL CHECK (version >= 1),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (collection, id)
) STRICT;
CREATE INDEX documents_by_creation ON documents (collection, number);

CREATE TABLE document_indexes (
  collection TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (collection, name, value, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX document_indexes_number ON document_indexes (number);
CREATE INDEX tasks_waiting ON tasks (seq) WHERE status = 1;

CREATE VIEW task_view AS
SELECT
  t.seq, t.id, t.lane, t.profile, t.status, t.priority, t.generation, t.attempt, t.attempt_base, t.failures, t.losses,
  t.accepted_at, t.since, t.rank, t.due_at, t.deadline_at, t.wait_reason, t.retry_reason, t.dead_reason, t.fingerprint,
  t.retry_token, t.dedupe_key, t.labels,
  coalesce(t.payload, (SELECT payload FROM payloads WHERE payloads.seq = t.seq)) AS payload,
  l.pool, l.action, l.tenant, l.held_since, l.held_ms,
  p.settings,
  r.place, r.since AS queued_since, r.expires,
  e.attempt AS lease_attempt, e.token AS lease_token, (SELECT name FROM worker_names w WHERE w.id = e.worker) AS lease_worker, e.started_at AS lease_started_at,
  e.until AS lease_until, e.timeout_at AS lease_timeout_at, e.renewed_at AS lease_renewed_at, e.progress AS lease_progress,
  s.attempt AS success_attempt, s.token AS success_token, s.dispatched_at AS success_dispatched_at,
  s.resolved_at AS success_resolved_at, s.result, (SELECT name FROM worker_names w WHERE w.id = s.worker) AS success_worker,
  f.failure
FROM tasks t
  CROSS JOIN lanes l ON l.id = t.lane
  CROSS JOIN profiles p ON p.id = t.profile
  LEFT JOIN ready r ON r.lane = t.lane AND r.place IN (9 - t.priority, 100) AND r.rank = t.rank AND t.status = 0
  LEFT JOIN leases e ON e.seq = t.seq
  LEFT JOIN successes s ON s.seq = t.seq
  LEFT JOIN executions f ON t.status = 4 AND f.seq = t.seq AND f.attempt = t.attempt;` },
  { version: 2, name: 'breakers_stages_evidence', sql: `ALTER TABLE store ADD COLUMN breakers_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE store ADD COLUMN has_inboxes INTEGER NOT NULL DEFAULT 0 CHECK (has_inboxes IN (0, 1));

ALTER TABLE tasks ADD COLUMN parks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN deferrals INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN wait_quota TEXT;

ALTER TABLE leases ADD COLUMN stage INTEGER NOT NULL DEFAULT 0 CHECK (stage BETWEEN 0 AND 3);
ALTER TABLE leases ADD COLUMN handle TEXT;

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
  LEFT JOIN executions f ON t.status = 4 AND f.seq = t.seq AND f.attempt = t.attempt;` },
  { version: 3, name: 'evidence_by_tenant', sql: `ALTER TABLE workers ADD COLUMN by_tenant TEXT;` },
  { version: 4, name: 'ranks', sql: `ALTER TABLE holds ADD COLUMN rank TEXT NOT NULL DEFAULT 'platform' CHECK (rank IN ('platform', 'tenant'));
ALTER TABLE limits ADD COLUMN rank TEXT NOT NULL DEFAULT 'platform' CHECK (rank IN ('platform', 'tenant'));` },
  { version: 5, name: 'bytes_of_lanes', sql: `ALTER TABLE lanes ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
CREATE INDEX lanes_tenant ON lanes (tenant);
UPDATE lanes SET bytes = stored.bytes
FROM (
  SELECT t.lane, sum(coalesce(octet_length(t.payload), octet_length(p.payload), 0)) AS bytes
  FROM tasks t LEFT JOIN payloads p ON p.seq = t.seq GROUP BY t.lane
) AS stored
WHERE stored.lane = lanes.id;` },
  { version: 6, name: 'policy_versions', sql: `ALTER TABLE workers ADD COLUMN policy_version INTEGER;` },
  { version: 7, name: 'logs', sql: `CREATE TABLE logs (
  seq INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  log TEXT NOT NULL,
  PRIMARY KEY (seq, attempt)
) STRICT, WITHOUT ROWID;` },
  { version: 8, name: 'dedupe_keys', sql: `ALTER TABLE tasks ADD COLUMN dedupe_until INTEGER;

CREATE TABLE dedupe_of_actions (
  tenant TEXT NOT NULL,
  action TEXT NOT NULL,
  key TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (tenant, action, key)
) STRICT, WITHOUT ROWID;
INSERT INTO dedupe_of_actions (tenant, action, key, seq)
SELECT d.tenant, l.action, d.key, d.seq
FROM dedupe d CROSS JOIN tasks t ON t.seq = d.seq CROSS JOIN lanes l ON l.id = t.lane;
DROP TABLE dedupe;
ALTER TABLE dedupe_of_actions RENAME TO dedupe;` },
  { version: 9, name: 'builds', sql: `DROP VIEW task_view;

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
  LEFT JOIN executions f ON t.status = 4 AND f.seq = t.seq AND f.attempt = t.attempt;` },
  { version: 10, name: 'named_policies', sql: `DROP VIEW task_view;

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
  LEFT JOIN executions f ON t.status = 4 AND f.seq = t.seq AND f.attempt = t.attempt;` },
  { version: 11, name: 'lost_tasks', sql: `ALTER TABLE store ADD COLUMN removing INTEGER NOT NULL DEFAULT 0;

CREATE TABLE lost_tasks (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  lane INTEGER NOT NULL
) STRICT;

CREATE TRIGGER tasks_lost AFTER DELETE ON tasks WHEN (SELECT removing FROM store) = 0
BEGIN
  INSERT OR REPLACE INTO lost_tasks (seq, id, lane) VALUES (old.seq, old.id, old.lane);
END;` },
  { version: 12, name: 'promotion_rests', sql: `ALTER TABLE pools ADD COLUMN promoted_at INTEGER;` },
  { version: 13, name: 'identity', sql: `ALTER TABLE store ADD COLUMN identity TEXT;
UPDATE store SET identity = lower(hex(randomblob(16)));` },
] as const

export const statements = {
  allBreakers: `SELECT breaker FROM breakers ORDER BY name;`,
  saveBreaker: `INSERT INTO breakers (name, breaker) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET breaker = excluded.breaker;`,
  deleteBreaker: `DELETE FROM breakers WHERE name = ?;`,
  startedSince: `SELECT l.action, l.tenant, e.started_at
FROM leases e CROSS JOIN tasks t ON t.seq = e.seq CROSS JOIN lanes l ON l.id = t.lane WHERE e.started_at >= ?;`,
  quotaWindow: `SELECT count FROM quota_windows WHERE name = ? AND window = ?;`,
  takeQuotaPlaces: `INSERT INTO quota_windows (name, window, count, ends_at) VALUES (?, ?, ?, ?)
ON CONFLICT (name, window) DO UPDATE SET count = count + excluded.count, ends_at = max(ends_at, excluded.ends_at);`,
  deletePastQuotaWindows: `DELETE FROM quota_windows WHERE ends_at <= ?;`,
  assignLease: `UPDATE leases SET token = ?, worker = ?, stage = 2, until = ? WHERE seq = ?;`,
  insertInbox: `INSERT INTO inboxes (seq, worker, place) VALUES (?, ?, ?);`,
  deleteInbox: `DELETE FROM inboxes WHERE seq = ?;`,
  inboxOf: `SELECT i.seq FROM inboxes i CROSS JOIN leases e ON e.seq = i.seq WHERE i.worker IN (SELECT id FROM worker_names WHERE name = ?) AND e.until > ? ORDER BY i.place LIMIT ? + 0;`,
  anyInbox: `SELECT 1 AS found FROM inboxes LIMIT 1;`,
  collectLease: `UPDATE leases SET token = ?, stage = 0, started_at = ?, until = ?, timeout_at = ?, renewed_at = NULL WHERE seq = ?;`,
  undeliveredLeases: `SELECT e.seq, min(e.until, coalesce(w.last_beat_at + ?2, e.until)) AS since
FROM inboxes i CROSS JOIN leases e ON e.seq = i.seq CROSS JOIN worker_names n ON n.id = i.worker LEFT JOIN workers w ON w.id = n.name
WHERE w.id IS NULL OR w.last_beat_at + ?2 <= ?1 ORDER BY since, e.seq LIMIT ?3;`,
  launchesOfPool: `SELECT v.* FROM leases e CROSS JOIN task_view v ON v.seq = e.seq
WHERE e.stage = 3 AND v.pool = ?1 AND v.id > ?2 ORDER BY v.id LIMIT ?3;`,
  getDocument: `SELECT * FROM documents WHERE collection = ? AND id = ?;`,
  insertDocument: `INSERT INTO documents (collection, id, version, created_at, updated_at, body) VALUES (?, ?, 1, ?, ?, ?);`,
  updateDocument: `UPDATE documents SET version = version + 1, updated_at = ?, body = ? WHERE number = ?;`,
  deleteDocument: `DELETE FROM documents WHERE number = ?;`,
  listDocuments: `SELECT * FROM documents WHERE collection = ? AND number > ? ORDER BY number LIMIT ?;`,
  findDocuments: `SELECT d.* FROM document_indexes i CROSS JOIN documents d ON d.number = i.number
WHERE i.collection = ? AND i.name = ? AND i.value = ? AND i.number > ? ORDER BY i.number LIMIT ?;`,
  insertDocumentIndex: `INSERT INTO document_indexes (collection, name, value, number) VALUES (?, ?, ?, ?);`,
  deleteDocumentIndexes: `DELETE FROM document_indexes WHERE number = ?;`,
  nextEntries: `SELECT r.seq, r.rank, r.expires, t.id, t.payload, t.profile, t.priority, t.generation, t.attempt, t.failures, t.losses,
  t.accepted_at, t.deadline_at, t.retry_reason, t.retry_token, t.dedupe_key, t.labels, t.parks, t.deferrals, t.policy,
  iif(t.attempt = 0, NULL, r.since) AS since
FROM ready r CROSS JOIN tasks t ON t.seq = r.seq
WHERE r.lane = ?1 AND (r.place, r.rank) > (?3, ?4) AND r.place < 10 ORDER BY r.place, r.rank LIMIT ?2 + 0;`,
  oldestEntry: `SELECT r.seq, r.rank, r.expires, t.id, t.payload, t.profile, t.priority, t.generation, t.attempt, t.failures, t.losses,
  t.accepted_at, t.deadline_at, t.retry_reason, t.retry_token, t.dedupe_key, t.labels, t.parks, t.deferrals, t.policy,
  iif(t.attempt = 0, NULL, r.since) AS since
FROM json_each(?2) p
CROSS JOIN ready r ON r.lane = ?1 AND r.place = p.key
  AND r.rank = (SELECT rank FROM ready WHERE lane = ?1 AND place = p.key AND rank > p.value ORDER BY rank LIMIT 1)
CROSS JOIN tasks t ON t.seq = r.seq
ORDER BY r.rank LIMIT 1;`,
  placesOfLane: `SELECT
  (SELECT place FROM ready WHERE lane = ?1 AND place < 10 ORDER BY place, rank LIMIT 1) AS first,
  (SELECT place FROM ready WHERE lane = ?1 AND place < 10 ORDER BY place DESC, rank DESC LIMIT 1) AS last;`,
  retireEntry: `UPDATE ready SET place = 100 WHERE lane = ? AND place = ? AND rank = ?;`,
  deleteReadyUpTo: `DELETE FROM ready WHERE lane = ? AND place = ? AND rank <= ?;`,
  longPayload: `SELECT payload AS text FROM payloads WHERE seq = ?;`,
  insertLeases: `INSERT INTO leases (seq, attempt, token, worker, started_at, until, timeout_at, stage)
SELECT j.value, ?2, ?3 + j.key, ?4, ?5, ?6, ?7, ?8 FROM json_each(?1) j;`,
  leasesOf: `SELECT e.seq, e.attempt, e.token, e.worker, t.id, t.lane, t.profile
FROM json_each(?1) j CROSS JOIN leases e ON e.seq = j.value AND e.stage = 0 CROSS JOIN tasks t ON t.seq = e.seq;`,
  recoveryOf: `SELECT retry_reason AS reason, generation, fingerprint AS diedOf FROM tasks WHERE seq = ?;`,
  leaseStart: `SELECT started_at FROM leases WHERE seq = ?;`,
  leaseBySeq: `SELECT
  e.seq, e.attempt, e.token, e.worker AS worker_number, (SELECT name FROM worker_names w WHERE w.id = e.worker) AS worker, e.started_at, e.until, e.timeout_at, e.renewed_at,
  e.stage, t.id, t.lane, t.profile, t.generation, t.failures, t.losses, t.parks, t.deferrals, t.retry_reason, t.priority, t.rank, t.deadline_at,
  t.attempt_base, t.fingerprint
FROM leases e CROSS JOIN tasks t ON t.seq = e.seq WHERE e.seq = ?;`,
  renewLease: `UPDATE leases SET until = max(until, ?), timeout_at = ?, renewed_at = ?, progress = coalesce(?, progress), handle = coalesce(?, handle)
WHERE seq = ?;`,
  deleteLease: `DELETE FROM leases WHERE seq = ?;`,
  recordSuccesses: `INSERT INTO successes (seq, attempt, worker, token, dispatched_at, resolved_at)
SELECT e.seq, e.attempt, e.worker, e.token, e.started_at, ?2 FROM json_each(?1) j CROSS JOIN leases e ON e.seq = j.value;`,
  deleteLeases: `DELETE FROM leases WHERE seq IN (SELECT value FROM json_each(?1));`,
  recordResult: `INSERT INTO successes (seq, attempt, worker, token, dispatched_at, resolved_at, result)
SELECT e.seq, e.attempt, e.worker, e.token, e.started_at, ?2, ?3 FROM leases e WHERE e.seq = ?1;`,
  recordResults: `INSERT INTO successes (seq, attempt, worker, token, dispatched_at, resolved_at, result)
SELECT e.seq, e.attempt, e.worker, e.token, e.started_at, ?2, j.value ->> 1
FROM json_each(?1) j CROSS JOIN leases e ON e.seq = j.value ->> 0;`,
  insertExecution: `INSERT INTO executions (seq, attempt, generation, status, worker, token, dispatched_at, resolved_at, retry_reason, failure, decision)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);`,
  executionOf: `SELECT x.seq, x.attempt, x.generation, x.status, x.token, x.dispatched_at, x.resolved_at, x.retry_reason, x.failure, x.decision,
  (SELECT name FROM worker_names w WHERE w.id = x.worker) AS worker,
  (SELECT build FROM worker_names w WHERE w.id = x.worker) AS build FROM executions x WHERE seq = ? AND attempt = ?;`,
  executionsAfter: `SELECT x.seq, x.attempt, x.generation, x.status, x.token, x.dispatched_at, x.resolved_at, x.retry_reason, x.failure, x.decision,
  (SELECT name FROM worker_names w WHERE w.id = x.worker) AS worker,
  (SELECT build FROM worker_names w WHERE w.id = x.worker) AS build FROM executions x WHERE seq = ? AND attempt > ? ORDER BY attempt LIMIT ?;`,
  expiredLeases: `SELECT e.seq, e.until AS since FROM leases e WHERE e.until <= ? AND e.stage < 3 ORDER BY e.until, e.seq LIMIT ?;`,
  retiredEntries: `SELECT r.seq FROM lanes l CROSS JOIN ready r ON r.lane = l.id AND r.place = 100 WHERE l.queued > l.ready LIMIT ?;`,
  entriesPastDeadline: `SELECT seq FROM ready WHERE deadline_at <= ? AND place < 10 ORDER BY deadline_at LIMIT ?;`,
  entriesPastTtl: `SELECT r.seq FROM lanes l CROSS JOIN ready r INDEXED BY ready_expires ON r.lane = l.id AND r.expires <= coalesce(l.held_since, ?1) - l.held_ms AND r.place < 10
WHERE l.ready > 0 LIMIT ?2;`,
  upsertFailureGroup: `INSERT INTO failure_groups (fingerprint, action, count, first_at, last_at, last_task, sample) VALUES (?, ?, 1, ?, ?, ?, ?)
ON CONFLICT (fingerprint) DO UPDATE SET
  count = count + 1, last_at = excluded.last_at, last_task = excluded.last_task, sample = excluded.sample;`,
  joinFailureGroupOfThen: `INSERT INTO failure_groups (fingerprint, action, count, first_at, last_at, last_task, sample) VALUES (?1, ?2, 1, ?3, ?3, ?4, ?5)
ON CONFLICT (fingerprint) DO UPDATE SET
  count = count + 1,
  first_at = min(first_at, ?3),
  last_task = iif(?3 >= last_at, ?4, last_task),
  sample = iif(?3 >= last_at, ?5, sample),
  last_at = max(last_at, ?3);`,
  knowFailureGroup: `INSERT INTO failure_groups (fingerprint, action, count, first_at, last_at, last_task, sample) VALUES (?1, ?2, 0, ?3, ?3, ?4, ?5)
ON CONFLICT (fingerprint) DO NOTHING;`,
  rejoinFailureGroup: `UPDATE failure_groups SET count = count + 1 WHERE fingerprint = ?;`,
  leaveFailureGroup: `UPDATE failure_groups SET count = count - 1 WHERE fingerprint = ?;`,
  failureGroup: `SELECT * FROM failure_groups WHERE fingerprint = ?1 AND count > 0 AND (?2 = '' OR action = ?2);`,
  failureGroups: `SELECT * FROM failure_groups
WHERE count > 0 AND (?1 = '' OR action = ?1) AND (last_at, id) < (?2, ?3)
ORDER BY last_at DESC, id DESC LIMIT ?4;`,
  inspectLost: `SELECT d.seq, d.id, l.pool, l.action, l.tenant FROM lost_tasks d CROSS JOIN lanes l ON l.id = d.lane
WHERE d.seq > ?1 AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = d.id) ORDER BY d.seq LIMIT ?2;`,
  deleteLost: `DELETE FROM lost_tasks WHERE seq = ?;`,
  inspectTasks: `SELECT
  t.seq, t.id, t.lane, t.profile, t.status, t.priority, t.generation, t.attempt, t.rank, t.due_at, t.deadline_at, t.dedupe_key,
  t.fingerprint, l.pool, l.action, l.tenant,
  EXISTS (SELECT 1 FROM ready r WHERE r.lane = t.lane AND r.place IN (9 - t.priority, 100) AND r.rank = t.rank AND r.seq = t.seq) AS is_ready,
  EXISTS (SELECT 1 FROM waiting w WHERE w.pool = l.pool AND w.due_at = t.due_at AND w.seq = t.seq) AS is_delayed,
  EXISTS (SELECT 1 FROM leases e WHERE e.seq = t.seq) AS is_leased,
  EXISTS (SELECT 1 FROM successes s WHERE s.seq = t.seq) AS is_done,
  t.status <> 4 OR EXISTS (SELECT 1 FROM failure_groups g WHERE g.fingerprint = t.fingerprint) AS is_grouped,
  t.dedupe_until,
  (SELECT d.seq FROM dedupe d WHERE d.tenant = l.tenant AND d.action = l.action AND d.key = t.dedupe_key) AS key_seq
FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
WHERE t.seq > ?1 ORDER BY t.seq LIMIT ?2;`,
  inspectReady: `SELECT
  r.lane, r.place, r.rank, r.seq, t.id,
  t.lane IS r.lane AND t.rank IS r.rank AND r.place IN (9 - t.priority, 100) AS is_right,
  t.status IS 0 AND NOT EXISTS (SELECT 1 FROM leases e WHERE e.seq = r.seq) AND NOT EXISTS (SELECT 1 FROM successes s WHERE s.seq = r.seq) AS is_queued,
  r.place = 100 AND EXISTS (SELECT 1 FROM ready o WHERE o.lane = r.lane AND o.place = 9 - t.priority AND o.rank = r.rank AND o.seq = r.seq) AS is_second
FROM ready r LEFT JOIN tasks t ON t.seq = r.seq
WHERE (r.lane, r.place, r.rank) > (?1, ?2, ?3) ORDER BY r.lane, r.place, r.rank LIMIT ?4;`,
  inspectWaiting: `SELECT w.pool, w.due_at, w.seq, t.id, t.status IS 1 AND t.due_at IS w.due_at AND l.pool IS w.pool AS is_right
FROM waiting w LEFT JOIN tasks t ON t.seq = w.seq LEFT JOIN lanes l ON l.id = t.lane
WHERE (w.pool, w.due_at, w.seq) > (?1, ?2, ?3) ORDER BY w.pool, w.due_at, w.seq LIMIT ?4;`,
  inspectLeases: `SELECT
  e.seq, e.attempt, e.stage, e.worker, t.id,
  t.status IS 0 AND NOT EXISTS (SELECT 1 FROM successes s WHERE s.seq = e.seq) AS is_right,
  e.stage <> 2 OR EXISTS (SELECT 1 FROM inboxes i WHERE i.seq = e.seq AND i.worker = e.worker) AS is_in_inbox
FROM leases e LEFT JOIN tasks t ON t.seq = e.seq
WHERE e.seq > ?1 ORDER BY e.seq LIMIT ?2;`,
  inspectInboxes: `SELECT i.seq, i.worker, t.id, e.stage IS 2 AND e.worker IS i.worker AS is_right
FROM inboxes i LEFT JOIN leases e ON e.seq = i.seq LEFT JOIN tasks t ON t.seq = i.seq
WHERE i.seq > ?1 ORDER BY i.seq LIMIT ?2;`,
  inspectKeys: `SELECT d.tenant, d.action, d.key, d.seq, t.id, t.dedupe_key IS d.key AND l.tenant IS d.tenant AND l.action IS d.action AS is_right
FROM dedupe d LEFT JOIN tasks t ON t.seq = d.seq LEFT JOIN lanes l ON l.id = t.lane
WHERE (d.tenant, d.action, d.key) > (?1, ?2, ?3) ORDER BY d.tenant, d.action, d.key LIMIT ?4;`,
  inspectGroups: `SELECT g.id AS seq, g.fingerprint, g.count, (SELECT count(*) FROM tasks t WHERE t.fingerprint = g.fingerprint AND t.status = 4) AS recount
FROM failure_groups g WHERE g.id > ?1 ORDER BY g.id LIMIT ?2;`,
  entryAt: `SELECT seq FROM ready WHERE lane = ? AND place IN (?, 100) AND rank = ?;`,
  setRank: `UPDATE tasks SET rank = ? WHERE seq = ?;`,
  keyOfTask: `SELECT t.id FROM tasks t CROSS JOIN lanes l ON l.id = t.lane CROSS JOIN lanes o ON o.id = ?3
WHERE t.seq = ?1 AND t.dedupe_key = ?2 AND l.tenant = o.tenant AND l.action = o.action AND CASE
  WHEN t.dedupe_until IS NOT NULL THEN t.dedupe_until > ?4
  ELSE t.status IN (0, 1) AND NOT EXISTS (SELECT 1 FROM successes s WHERE s.seq = t.seq)
END;`,
  setGroupCount: `UPDATE failure_groups SET count = ? WHERE id = ?;`,
  groupToBe: `SELECT
  (SELECT count(*) FROM tasks t WHERE t.fingerprint = ?3 AND t.status = 4) AS count,
  (SELECT x.failure FROM executions x WHERE x.seq = ?1 AND x.attempt = ?2) AS failure;`,
  countTasksBetween: `SELECT
  t.lane,
  CASE
    WHEN t.status <> 0 THEN t.status
    WHEN EXISTS (SELECT 1 FROM successes s WHERE s.seq = t.seq) THEN 3
    WHEN EXISTS (SELECT 1 FROM leases e WHERE e.seq = t.seq) THEN 2
    WHEN EXISTS (SELECT 1 FROM ready r WHERE r.lane = t.lane AND r.place = 100 AND r.rank = t.rank AND r.seq = t.seq)
      AND NOT EXISTS (SELECT 1 FROM ready r WHERE r.lane = t.lane AND r.place = 9 - t.priority AND r.rank = t.rank AND r.seq = t.seq) THEN 7
    ELSE 0
  END AS stand,
  count(*) AS count,
  sum(coalesce(octet_length(t.payload), (SELECT octet_length(p.payload) FROM payloads p WHERE p.seq = t.seq), 0)) AS bytes
FROM tasks t WHERE t.seq > ?1 AND t.seq <= ?2 GROUP BY t.lane, stand;`,
  lanesAfter: `SELECT * FROM lanes WHERE id > ? ORDER BY id LIMIT ?;`,
  newestEntry: `SELECT coalesce(max(id), 0) AS id FROM journal;`,
  repairedSince: `SELECT 1 AS found FROM journal WHERE id > ? AND type = 'store.repaired' LIMIT 1;`,
  insertFailureGroup: `INSERT INTO failure_groups (fingerprint, action, count, first_at, last_at, last_task, sample) VALUES (?, ?, ?, ?, ?, ?, ?);`,
  appendJournal: `INSERT INTO journal (at, type, task, attempt, actor, reason, data) VALUES (?, ?, ?, ?, ?, ?, ?);`,
  readJournal: `SELECT * FROM journal WHERE id > ? ORDER BY id LIMIT ?;`,
  readJournalOfTask: `SELECT * FROM journal WHERE task = ? AND id > ? ORDER BY id LIMIT ?;`,
  readJournalBack: `SELECT * FROM journal WHERE id < ? ORDER BY id DESC LIMIT ?;`,
  readJournalOfTaskBack: `SELECT * FROM journal WHERE task = ? AND id < ? ORDER BY id DESC LIMIT ?;`,
  journalEnds: `SELECT coalesce((SELECT min(id) FROM journal), 0) AS first, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'journal'), 0) AS last;`,
  nextOfJournal: `SELECT id, at FROM journal WHERE id >= ? ORDER BY id LIMIT 1;`,
  retentionWindow: `SELECT t.seq, t.status, t.lane, coalesce(s.resolved_at, t.since) AS since, s.seq IS NOT NULL AS succeeded, t.dedupe_until
FROM tasks t LEFT JOIN successes s ON s.seq = t.seq
WHERE t.seq > ? ORDER BY t.seq LIMIT ?;`,
  setRemoving: `UPDATE store SET removing = ?;`,
  deleteTasks: `DELETE FROM tasks WHERE seq IN (SELECT value FROM json_each(?1));`,
  deletePayloads: `DELETE FROM payloads WHERE seq IN (SELECT value FROM json_each(?1));`,
  deleteSuccesses: `DELETE FROM successes WHERE seq IN (SELECT value FROM json_each(?1));`,
  deleteExecutions: `DELETE FROM executions WHERE seq IN (SELECT value FROM json_each(?1));`,
  payloadBytesOf: `SELECT t.lane, sum(coalesce(octet_length(t.payload), octet_length(p.payload), 0)) AS bytes
FROM json_each(?1) j CROSS JOIN tasks t ON t.seq = j.value LEFT JOIN payloads p ON p.seq = t.seq GROUP BY t.lane;`,
  dedupeKeysOf: `SELECT l.tenant, l.action, t.dedupe_key, t.seq FROM json_each(?1) j CROSS JOIN tasks t ON t.seq = j.value CROSS JOIN lanes l ON l.id = t.lane
WHERE t.dedupe_key IS NOT NULL;`,
  deleteDedupe: `DELETE FROM dedupe WHERE tenant = ? AND action = ? AND key = ? AND seq = ?;`,
  deleteJournalBefore: `DELETE FROM journal WHERE id IN (SELECT id FROM (SELECT id, at FROM journal ORDER BY id LIMIT ?2) WHERE at <= ?1);`,
  deleteMinutesBefore: `DELETE FROM minutes WHERE (minute, lane) IN (SELECT minute, lane FROM minutes WHERE minute < ?1 LIMIT ?2);`,
  loadStore: `SELECT next_seq, next_rank, next_token, backlog, breakers_version, has_inboxes FROM store;`,
  saveStore: `UPDATE store SET next_seq = ?, next_rank = ?, next_token = ?, backlog = ?, breakers_version = ?, has_inboxes = ?;`,
  position: `SELECT identity, next_seq + next_rank + next_token - 3
  + coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'journal'), 0) AS position FROM store;`,
  loadLane: `SELECT * FROM lanes WHERE id = ?;`,
  findLane: `SELECT * FROM lanes WHERE pool = ? AND action = ? AND tenant = ?;`,
  insertLane: `INSERT INTO lanes (pool, action, tenant, held_since) VALUES (?, ?, ?, ?);`,
  saveLane: `UPDATE lanes SET
  accepted = ?, queued = ?, waiting = ?, running = ?, succeeded = ?, dead = ?, discarded = ?, cancelled = ?, removed = ?,
  ready = ?, turn = ?, picks = ?, held_since = ?, held_ms = ?, bytes = ?
WHERE id = ?;`,
  claimableLanes: `SELECT id, turn FROM lanes
WHERE pool = ?1 AND ready > 0 AND held_since IS NULL AND turn = ?3 AND id > ?4
UNION ALL
SELECT id, turn FROM lanes
WHERE pool = ?1 AND ready > 0 AND held_since IS NULL AND turn > ?3
ORDER BY turn, id LIMIT ?2 + 0;`,
  claimableLanesOfSome: `SELECT id, turn FROM lanes
WHERE pool = ?1 AND ready > 0 AND held_since IS NULL AND turn = ?3 AND id > ?4
  AND (?5 IS NULL OR action IN (SELECT value FROM json_each(?5)))
  AND action NOT IN (SELECT value FROM json_each(?6)) AND tenant NOT IN (SELECT value FROM json_each(?7))
UNION ALL
SELECT id, turn FROM lanes
WHERE pool = ?1 AND ready > 0 AND held_since IS NULL AND turn > ?3
  AND (?5 IS NULL OR action IN (SELECT value FROM json_each(?5)))
  AND action NOT IN (SELECT value FROM json_each(?6)) AND tenant NOT IN (SELECT value FROM json_each(?7))
ORDER BY turn, id LIMIT ?2 + 0;`,
  lanesInScope: `SELECT * FROM lanes
WHERE (?1 = '' OR pool = ?1) AND (?2 = '' OR action = ?2) AND (?3 = '' OR tenant = ?3) AND id > ?4
ORDER BY id LIMIT ?5;`,
  countLanesInScope: `SELECT
  coalesce(sum(accepted), 0) AS accepted, coalesce(sum(queued), 0) AS queued, coalesce(sum(waiting), 0) AS waiting,
  coalesce(sum(running), 0) AS running, coalesce(sum(succeeded), 0) AS succeeded, coalesce(sum(dead), 0) AS dead,
  coalesce(sum(discarded), 0) AS discarded, coalesce(sum(cancelled), 0) AS cancelled, coalesce(sum(removed), 0) AS removed
FROM lanes
WHERE (?1 = '' OR pool = ?1) AND (?2 = '' OR action = ?2) AND (?3 = '' OR tenant = ?3);`,
  tenantFigures: `SELECT tenant, sum(queued + waiting + running) AS backlog, sum(running) AS running, sum(bytes) AS bytes FROM lanes
WHERE tenant > ? GROUP BY tenant ORDER BY tenant LIMIT ?;`,
  loadPool: `SELECT virtual_time FROM pools WHERE name = ?;`,
  savePool: `INSERT INTO pools (name, virtual_time) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET virtual_time = excluded.virtual_time;`,
  lastPromotion: `SELECT promoted_at FROM pools WHERE name = ?;`,
  notePromotion: `INSERT INTO pools (name, promoted_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET promoted_at = excluded.promoted_at;`,
  allHolds: `SELECT * FROM holds;`,
  holdOn: `SELECT rank FROM holds WHERE pool = ? AND action = ? AND tenant = ?;`,
  saveHold: `INSERT INTO holds (pool, action, tenant, actor, reason, since, rank) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (pool, action, tenant) DO UPDATE SET actor = excluded.actor, reason = excluded.reason, rank = excluded.rank;`,
  deleteHold: `DELETE FROM holds WHERE pool = ? AND action = ? AND tenant = ?;`,
  allLimits: `SELECT * FROM limits;`,
  anyLimit: `SELECT 1 AS found FROM limits LIMIT 1;`,
  limitOn: `SELECT rank FROM limits WHERE pool = ? AND action = ? AND tenant = ?;`,
  saveLimit: `INSERT INTO limits (pool, action, tenant, concurrency, rank) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (pool, action, tenant) DO UPDATE SET concurrency = excluded.concurrency, rank = excluded.rank;`,
  deleteLimit: `DELETE FROM limits WHERE pool = ? AND action = ? AND tenant = ?;`,
  addMinute: `INSERT INTO minutes (minute, lane, accepted, started, succeeded, failed, lost, retried, dead, cancelled)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (minute, lane) DO UPDATE SET
  accepted = accepted + excluded.accepted, started = started + excluded.started, succeeded = succeeded + excluded.succeeded,
  failed = failed + excluded.failed, lost = lost + excluded.lost, retried = retried + excluded.retried,
  dead = dead + excluded.dead, cancelled = cancelled + excluded.cancelled;`,
  startedIn: `SELECT started FROM minutes WHERE minute = ? AND lane = ?;`,
  seriesInScope: `SELECT
  minute, sum(m.accepted) AS accepted, sum(m.started) AS started, sum(m.succeeded) AS succeeded, sum(m.failed) AS failed,
  sum(m.lost) AS lost, sum(m.retried) AS retried, sum(m.dead) AS dead, sum(m.cancelled) AS cancelled
FROM minutes m CROSS JOIN lanes l ON l.id = m.lane
WHERE m.minute >= ?4 AND m.minute < ?5 AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
GROUP BY minute ORDER BY minute;`,
  saveLog: `INSERT INTO logs (seq, attempt, log) VALUES (?1, ?2, ?3) ON CONFLICT (seq, attempt) DO UPDATE SET log = excluded.log;`,
  logsOf: `SELECT l.attempt, l.log FROM tasks t CROSS JOIN logs l ON l.seq = t.seq WHERE t.id = ? ORDER BY l.attempt;`,
  deleteLog: `DELETE FROM logs WHERE seq = ? AND attempt = ?;`,
  deleteLogsUpTo: `DELETE FROM logs WHERE seq = ? AND attempt <= ?;`,
  deleteLogs: `DELETE FROM logs WHERE seq IN (SELECT value FROM json_each(?1));`,
  findWorker: `SELECT * FROM workers WHERE id = ?;`,
  listWorkers: `SELECT
  w.*,
  (SELECT count(*) FROM inboxes i WHERE i.worker IN (SELECT n.id FROM worker_names n WHERE n.name = w.id)) AS inbox
FROM workers w WHERE w.id > ? ORDER BY w.id LIMIT ? + 0;`,
  inboxDepth: `SELECT count(*) AS depth FROM inboxes WHERE worker IN (SELECT id FROM worker_names WHERE name = ?);`,
  saveWorker: `INSERT INTO workers (id, epoch, registration, registered_at, last_beat_at, last_progress_at) VALUES (?1, ?2, ?3, ?4, ?4, ?4)
ON CONFLICT (id) DO UPDATE SET
  epoch = excluded.epoch, registration = excluded.registration, registered_at = excluded.registered_at,
  last_beat_at = excluded.last_beat_at, in_flight = 0, queue_depth = 0, loop_lag_ms = 0, memory_bytes = 0, draining = 0,
  consecutive_failures = 0, recent_outcomes = 0, recent_failures = 0, last_failure_at = NULL,
  last_progress_at = excluded.last_progress_at, quiet_ms_max = 0, outlook = NULL, probe_failures = 0, by_tenant = NULL,
  policy_version = NULL;`,
  saveBeat: `UPDATE workers SET
  last_beat_at = ?, in_flight = ?, queue_depth = ?, loop_lag_ms = ?, memory_bytes = ?, draining = ?, quiet_ms_max = ?, outlook = ?,
  last_progress_at = ?, policy_version = ?
WHERE id = ?;`,
  saveProbe: `UPDATE workers SET probe_failures = iif(?3 = 1, 0, probe_failures + 1) WHERE id = ?1 AND epoch = ?2;`,
  saveEvidence: `UPDATE workers SET
  consecutive_failures = ?, recent_outcomes = ?, recent_failures = ?, last_failure_at = ?,
  last_progress_at = ?, by_tenant = ?
WHERE id = ?;`,
  saveSignOfLife: `UPDATE workers SET last_beat_at = ? WHERE id = ?;`,
  saveOutlook: `UPDATE workers SET outlook = ? WHERE id = ? AND epoch = ?;`,
  vouchForWorker: `UPDATE leases SET
  until = max(until, min(?1 + ?2, timeout_at + max(?1 - coalesce(renewed_at, started_at) - ?2, 0) + ?3)),
  timeout_at = timeout_at + max(?1 - coalesce(renewed_at, started_at) - ?2, 0),
  renewed_at = ?1
WHERE worker IN (SELECT id FROM worker_names WHERE name = ?4) AND stage = 0;`,
  deleteWorker: `DELETE FROM workers WHERE id = ?;`,
  leasesOfWorker: `SELECT seq FROM leases WHERE worker IN (SELECT id FROM worker_names WHERE name = ?) AND stage < 3;`,
  takeLeaseAway: `UPDATE leases SET token = ?, until = ? WHERE seq = ?;`,
  silentWorkers: `SELECT * FROM workers WHERE last_beat_at <= ? ORDER BY id LIMIT ?;`,
  saveDeparted: `INSERT OR REPLACE INTO departed_workers (id, epoch, registration, registered_at, left_at) VALUES (?, ?, ?, ?, ?);`,
  deleteDeparted: `DELETE FROM departed_workers WHERE id = ?;`,
  forgetDeparted: `DELETE FROM departed_workers WHERE id IN (SELECT id FROM departed_workers WHERE left_at <= ?1 ORDER BY left_at LIMIT ?2);`,
  thinOutDeparted: `DELETE FROM departed_workers WHERE id IN (SELECT id FROM departed_workers ORDER BY left_at DESC, id DESC LIMIT -1 OFFSET ?1);`,
  listDeparted: `SELECT * FROM departed_workers WHERE left_at > ?1 AND (left_at, id) < (?2, ?3) ORDER BY left_at DESC, id DESC LIMIT ?4;`,
  findProfile: `SELECT id FROM profiles WHERE settings = ?;`,
  insertProfile: `INSERT INTO profiles (settings) VALUES (?);`,
  loadProfile: `SELECT settings AS text FROM profiles WHERE id = ?;`,
  findWorkerName: `SELECT id FROM worker_names WHERE name = ? AND build = ?;`,
  insertWorkerName: `INSERT INTO worker_names (name, build) VALUES (?, ?);`,
  loadWorkerName: `SELECT name AS text FROM worker_names WHERE id = ?;`,
  workerBuild: `SELECT name, build FROM worker_names WHERE id = ?;`,
  taskIdTaken: `SELECT id FROM tasks WHERE id = ?;`,
  dedupeHolder: `SELECT t.id FROM dedupe d CROSS JOIN tasks t ON t.seq = d.seq
WHERE d.tenant = ?1 AND d.action = ?2 AND d.key = ?3 AND CASE
  WHEN t.dedupe_until IS NOT NULL THEN t.dedupe_until > ?4
  ELSE t.status IN (0, 1) AND NOT EXISTS (SELECT 1 FROM successes s WHERE s.seq = t.seq)
END;`,
  askedOf: `SELECT l.action, l.tenant, coalesce(t.payload, (SELECT p.payload FROM payloads p WHERE p.seq = t.seq)) AS payload
FROM tasks t CROSS JOIN lanes l ON l.id = t.lane WHERE t.id = ?;`,
  insertTask: `INSERT INTO tasks (
  seq, id, lane, profile, status, priority, generation, attempt, attempt_base, failures, losses, accepted_at, since, rank, due_at,
  deadline_at, wait_reason, retry_token, dedupe_key, labels, payload
) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, 0, 0, 0, ?8, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
ON CONFLICT (id) DO NOTHING;`,
  insertPlainTasks: `INSERT INTO tasks (
  seq, id, lane, profile, status, priority, generation, attempt, attempt_base, failures, losses, accepted_at, since, rank,
  retry_token, labels, payload
)
SELECT
  ?2 + j.key, j.value ->> 0, ?4, ?5, 0, ?6, 1, 0, 0, 0, 0, ?7, ?7, ?3 + j.key, j.value ->> 2, ?8, j.value ->> 1
FROM json_each(?1) j WHERE true
ON CONFLICT (id) DO NOTHING;`,
  seqsBetween: `SELECT json_group_array(seq) AS seqs FROM tasks WHERE seq BETWEEN ? AND ?;`,
  insertPlainReady: `INSERT INTO ready (lane, place, rank, seq, since, expires)
SELECT ?1, ?2, t.rank, t.seq, ?3, ?4 FROM tasks t WHERE t.seq BETWEEN ?5 AND ?6;`,
  insertPayload: `INSERT INTO payloads (seq, payload) VALUES (?, ?);`,
  insertDedupe: `INSERT INTO dedupe (tenant, action, key, seq) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING;`,
  passKeyOn: `UPDATE dedupe SET seq = ?4 WHERE tenant = ?1 AND action = ?2 AND key = ?3;`,
  loseKey: `UPDATE tasks SET dedupe_until = 0
WHERE dedupe_until IS NULL AND seq = (SELECT d.seq FROM dedupe d WHERE d.tenant = ?1 AND d.action = ?2 AND d.key = ?3);`,
  setKeyUntil: `UPDATE tasks SET dedupe_until = ? WHERE seq = ?;`,
  hasLostKey: `SELECT dedupe_until = 0 AS lost FROM tasks WHERE seq = ?;`,
  insertReady: `INSERT INTO ready (lane, place, rank, seq, since, expires, deadline_at) VALUES (?, ?, ?, ?, ?, ?, ?);`,
  deleteReady: `DELETE FROM ready WHERE lane = ? AND place = ? AND rank = ?;`,
  insertWaiting: `INSERT INTO waiting (pool, due_at, seq) VALUES (?, ?, ?);`,
  deleteWaiting: `DELETE FROM waiting WHERE pool = ? AND due_at = ? AND seq = ?;`,
  deleteWaitingUpTo: `DELETE FROM waiting WHERE pool = ? AND (due_at, seq) <= (?, ?);`,
  dueTasks: `SELECT w.seq, w.due_at, t.lane, t.priority, t.profile, t.generation, t.deadline_at
FROM waiting w CROSS JOIN tasks t ON t.seq = w.seq
WHERE w.pool = ? AND w.due_at <= ? ORDER BY w.due_at, w.seq LIMIT ? + 0;`,
  nextDue: `SELECT due_at FROM waiting WHERE pool = ? ORDER BY due_at, seq LIMIT 1;`,
  enterQueue: `UPDATE tasks SET status = 0, since = ?, rank = ?, due_at = NULL, wait_reason = NULL WHERE seq = ?;`,
  requeueTask: `UPDATE tasks SET
  status = 0, since = ?, rank = ?, due_at = NULL, wait_reason = NULL, dead_reason = NULL,
  generation = ?, attempt_base = ?, failures = ?, losses = ?, parks = ?, deferrals = ?, retry_reason = ?, policy = ?
WHERE seq = ?;`,
  taskAfterBadEnd: `UPDATE tasks SET
  status = ?, since = ?, rank = NULL, due_at = ?, wait_reason = ?, wait_quota = ?, retry_reason = ?, dead_reason = ?, fingerprint = COALESCE(?, fingerprint),
  attempt = ?, failures = ?, losses = ?, deferrals = ?
WHERE seq = ?;`,
  parkTask: `UPDATE tasks SET rank = ?1, since = ?2, retry_reason = ?3, attempt = ?4, parks = parks + 1, deferrals = 0 WHERE seq = ?5;`,
  deferTask: `UPDATE tasks SET
  status = 1, since = ?, rank = NULL, due_at = ?, wait_reason = ?, wait_quota = NULL, deferrals = deferrals + 1
WHERE seq = ?;`,
  endTask: `UPDATE tasks SET
  status = ?, since = ?, rank = NULL, due_at = NULL, wait_reason = NULL, dead_reason = NULL, attempt = ?
WHERE seq = ?;`,
  reviveDead: `UPDATE tasks SET
  status = 4, since = ?, rank = NULL, due_at = NULL, wait_reason = NULL, wait_quota = NULL, retry_reason = NULL,
  dead_reason = ?, fingerprint = ?
WHERE seq = ?;`,
  bringPast: `UPDATE tasks SET
  generation = ?1, attempt = ?2, attempt_base = ?3, failures = ?4, losses = ?5, parks = ?6, retry_reason = ?7, fingerprint = ?8,
  wait_reason = iif(wait_reason IS NULL, NULL, coalesce(?7, wait_reason))
WHERE seq = ?9;`,
  taskById: `SELECT * FROM task_view WHERE id = ?;`,
  taskBySeq: `SELECT * FROM task_view WHERE seq = ?;`,
  tasksBySeq: `SELECT
  t.seq, t.id, t.lane, t.profile,
  CASE WHEN s.seq IS NOT NULL THEN 3 WHEN e.seq IS NOT NULL THEN 2 ELSE t.status END AS status,
  t.priority, t.generation, coalesce(e.attempt, s.attempt, t.attempt) AS attempt, t.failures, t.losses, t.parks,
  CASE WHEN s.seq IS NULL THEN t.deferrals ELSE 0 END AS deferrals,
  t.accepted_at, t.deadline_at, t.retry_token, t.dedupe_key, t.labels, t.policy,
  t.payload, coalesce(s.resolved_at, r.since, t.since) AS at,
  CASE
    WHEN s.seq IS NOT NULL THEN octet_length(s.result)
    WHEN t.status = 1 THEN t.due_at
    WHEN t.status = 4 THEN t.dedupe_until = 0
    WHEN r.expires IS NOT NULL THEN
      r.expires + ?2 - (SELECT coalesce(l.held_since, ?2) - l.held_ms FROM lanes l WHERE l.id = t.lane)
  END AS until,
  CASE t.status WHEN 1 THEN t.wait_reason WHEN 4 THEN t.dead_reason END AS reason,
  CASE
    WHEN s.seq IS NOT NULL THEN CASE WHEN octet_length(s.result) <= 1024 THEN s.result END
    WHEN e.seq IS NOT NULL THEN json_object(
      'token', e.token, 'worker', (SELECT name FROM worker_names w WHERE w.id = e.worker), 'startedAt', e.started_at,
      'leaseUntil', e.until, 'timeoutAt', e.timeout_at, 'stage', e.stage, 'handle', e.handle, 'progress', e.progress)
    WHEN t.status = 1 THEN t.wait_quota
  END AS detail,
  CASE
    WHEN s.seq IS NOT NULL THEN s.worker
    WHEN e.seq IS NOT NULL THEN e.worker
    WHEN t.attempt > 0 THEN (SELECT x.worker FROM executions x WHERE x.seq = t.seq AND x.attempt = t.attempt)
  END AS worker
FROM json_each(?1) j
  CROSS JOIN tasks t ON t.seq = j.value
  LEFT JOIN successes s ON s.seq = CASE t.status WHEN 0 THEN t.seq END
  LEFT JOIN leases e ON e.seq = CASE WHEN t.status = 0 AND s.seq IS NULL THEN t.seq END
  LEFT JOIN ready r ON r.lane = CASE WHEN t.status = 0 AND s.seq IS NULL AND e.seq IS NULL THEN t.lane END
    AND r.place IN (9 - t.priority, 100) AND r.rank = t.rank;`,
  statusesOfIds: `SELECT json_group_array(
  CASE
    WHEN t.status <> 0 THEN t.status
    WHEN s.seq IS NOT NULL THEN 3
    WHEN EXISTS (SELECT 1 FROM leases e WHERE e.seq = t.seq) THEN 2
    ELSE t.status
  END) AS statuses
FROM json_each(?1) j
  LEFT JOIN tasks t ON t.id = j.value
  LEFT JOIN successes s ON s.seq = CASE t.status WHEN 0 THEN t.seq END;`,
  longResult: `SELECT result AS text FROM successes WHERE seq = ?;`,
  lastFailure: `SELECT failure AS text FROM executions WHERE seq = ? AND attempt = ?;`,
  seqOfId: `SELECT json_array(seq) AS seqs FROM tasks WHERE id = ?;`,
  seqsInWindow: `SELECT json_group_array(seq) AS seqs FROM (
  SELECT t.seq FROM tasks t
  WHERE ?1 = '' AND ?2 = '' AND ?3 = '' AND t.seq < ?4 AND t.seq >= ?5
    AND (?7 = 0 OR (t.status = 0
  AND NOT EXISTS (SELECT 1 FROM successes s WHERE s.seq = t.seq)
  AND NOT EXISTS (SELECT 1 FROM leases e WHERE e.seq = t.seq)))
  ORDER BY t.seq DESC LIMIT ?6);`,
  seqsInWindowOfLanes: `SELECT json_group_array(seq) AS seqs FROM (
  SELECT t.seq FROM tasks t
  WHERE t.seq < ?4 AND t.seq >= ?5
    AND t.lane IN (
      SELECT l.id FROM lanes l
      WHERE (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3))
    AND (?7 = 0 OR (t.status = 0
  AND NOT EXISTS (SELECT 1 FROM successes s WHERE s.seq = t.seq)
  AND NOT EXISTS (SELECT 1 FROM leases e WHERE e.seq = t.seq)))
  ORDER BY t.seq DESC LIMIT ?6);`,
  seqsInWindowByLane: `SELECT json_group_array(seq) AS seqs FROM (
  SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
  WHERE t.seq < ?4 AND t.seq >= ?5
    AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
    AND (?7 = 0 OR (t.status = 0
  AND NOT EXISTS (SELECT 1 FROM successes s WHERE s.seq = t.seq)
  AND NOT EXISTS (SELECT 1 FROM leases e WHERE e.seq = t.seq)))
  ORDER BY t.seq DESC LIMIT ?6);`,
  seqsSucceeded: `SELECT json_group_array(seq) AS seqs FROM (
  SELECT s.seq FROM successes s CROSS JOIN tasks t ON t.seq = s.seq CROSS JOIN lanes l ON l.id = t.lane
  WHERE s.seq < ?4 AND s.seq >= ?5
    AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
  ORDER BY s.seq DESC LIMIT ?6);`,
  seqsSetAside: `SELECT json_group_array(seq) AS seqs FROM (
  SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
  WHERE t.status = ?5 AND t.status > 3 AND t.seq < ?4 AND t.seq >= ?7
    AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
  ORDER BY t.seq DESC LIMIT ?6);`,
  seqsWaiting: `SELECT json_group_array(seq) AS seqs FROM (
  SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
  WHERE t.status = 1 AND t.seq < ?4 AND t.seq >= ?6
    AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
  ORDER BY t.seq DESC LIMIT ?5);`,
  seqsRunning: `SELECT json_group_array(seq) AS seqs FROM (
  SELECT e.seq FROM leases e CROSS JOIN tasks t ON t.seq = e.seq CROSS JOIN lanes l ON l.id = t.lane
  WHERE e.seq < ?4
    AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
  ORDER BY e.seq DESC LIMIT ?5);`,
  seqsOfGroup: `SELECT json_group_array(seq) AS seqs FROM (
  SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
  WHERE t.fingerprint = ?5 AND t.status = 4 AND t.seq < ?4 AND t.seq >= ?7
    AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
  ORDER BY t.seq DESC LIMIT ?6);`,
  setAsideFloor: `SELECT seq FROM tasks WHERE seq < ?1 AND status = ?3 AND status > 3 ORDER BY seq DESC LIMIT 1 OFFSET ?2 - 1;`,
  waitingFloor: `SELECT seq FROM tasks WHERE seq < ?1 AND status = 1 ORDER BY seq DESC LIMIT 1 OFFSET ?2 - 1;`,
  groupFloor: `SELECT seq FROM tasks WHERE seq < ?1 AND fingerprint = ?3 AND status = 4 ORDER BY seq DESC LIMIT 1 OFFSET ?2 - 1;`,
  laneName: `SELECT pool, action, tenant FROM lanes WHERE id = ?;`,
  laneCount: `SELECT coalesce(max(id), 0) AS count FROM lanes;`,
  newestSeq: `SELECT coalesce(max(seq), 0) AS seq FROM tasks;`,
  oldestSeq: `SELECT coalesce(min(seq), 0) AS seq FROM tasks;`,
  newestSuccess: `SELECT coalesce(max(seq), 0) AS seq FROM successes WHERE seq < ?;`,
  oldestSuccess: `SELECT coalesce(min(seq), 0) AS seq FROM successes;`,
  selectDead: `SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
WHERE t.status = 4 AND t.status > 3 AND t.seq > ?4
  AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
ORDER BY t.seq LIMIT ?5;`,
  selectDeadOfGroup: `SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
WHERE t.fingerprint = ?6 AND t.status = 4 AND t.seq > ?4
  AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
ORDER BY t.seq LIMIT ?5;`,
  selectWaiting: `SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
WHERE t.status = 1 AND t.seq > ?4
  AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
ORDER BY t.seq LIMIT ?5;`,
  selectUnended: `SELECT t.seq FROM tasks t CROSS JOIN lanes l ON l.id = t.lane
WHERE t.seq > ?4 AND t.seq <= ?6 AND t.status IN (0, 1) AND NOT EXISTS (SELECT 1 FROM successes s WHERE s.seq = t.seq)
  AND (?1 = '' OR l.pool = ?1) AND (?2 = '' OR l.action = ?2) AND (?3 = '' OR l.tenant = ?3)
ORDER BY t.seq LIMIT ?5;`,
  beginLook: `BEGIN;`,
  endLook: `COMMIT;`,
} as const

export const columns = {
  nextEntries: { seq: 0, rank: 1, expires: 2, id: 3, payload: 4, profile: 5, priority: 6, generation: 7, attempt: 8, failures: 9, losses: 10, accepted_at: 11, deadline_at: 12, retry_reason: 13, retry_token: 14, dedupe_key: 15, labels: 16, parks: 17, deferrals: 18, policy: 19, since: 20 },
  leasesOf: { seq: 0, attempt: 1, token: 2, worker: 3, id: 4, lane: 5, profile: 6 },
  tasksBySeq: { seq: 0, id: 1, lane: 2, profile: 3, status: 4, priority: 5, generation: 6, attempt: 7, failures: 8, losses: 9, parks: 10, deferrals: 11, accepted_at: 12, deadline_at: 13, retry_token: 14, dedupe_key: 15, labels: 16, policy: 17, payload: 18, at: 19, until: 20, reason: 21, detail: 22, worker: 23 },
} as const
