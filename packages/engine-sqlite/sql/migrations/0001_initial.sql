-- The first layout. What stands where:
--   tasks       one row per task: what was asked; and where it rests, if it left the usual way.
--   ready       the queue: one row per queued task, in claim order. place = 9 - priority; 100 = retired (past its time).
--   waiting     the delay queue.
--   leases      one row per running attempt. A task is running exactly while it has one.
--   successes   one row per task that succeeded: the record of the attempt that did, and the result.
--   executions  one row per ended attempt that did not succeed.
-- A task goes its usual way from ready over leases to successes, and its own row is never written again.
-- tasks.status: 0 on the usual way (queued, running or succeeded, by the row it has there), 1 waiting, 4 dead, 5 discarded,
-- 6 cancelled.

CREATE TABLE store (
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
  -- Queued and claimable: not retired.
  ready INTEGER NOT NULL DEFAULT 0 CHECK (ready >= 0 AND ready <= queued),
  turn INTEGER NOT NULL DEFAULT 0,
  picks INTEGER NOT NULL DEFAULT 0,
  held_since INTEGER,
  held_ms INTEGER NOT NULL DEFAULT 0,
  UNIQUE (pool, action, tenant),
  CHECK (accepted = queued + waiting + running + succeeded + dead + discarded + cancelled + removed)
) STRICT;
CREATE INDEX lanes_claimable ON lanes (pool, turn, id) WHERE ready > 0 AND held_since IS NULL;

-- Settings repeat from task to task: each distinct one is kept once and never changes.
CREATE TABLE profiles (
  id INTEGER PRIMARY KEY,
  settings TEXT NOT NULL UNIQUE
) STRICT;

-- Worker ids, kept once each: rows about attempts name them by number.
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
  -- The highest attempt that ended without success; a running one is in leases, one that succeeded in successes.
  attempt INTEGER NOT NULL CHECK (attempt >= 0),
  -- Attempts of earlier generations.
  attempt_base INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  losses INTEGER NOT NULL,
  accepted_at INTEGER NOT NULL,
  -- Since when it is in this status.
  since INTEGER NOT NULL,
  rank INTEGER,
  due_at INTEGER,
  deadline_at INTEGER,
  wait_reason TEXT,
  retry_reason TEXT,
  dead_reason TEXT,
  fingerprint TEXT,
  -- Null when it equals the id.
  retry_token TEXT,
  dedupe_key TEXT,
  labels TEXT,
  -- Null when it is long: then it is in payloads, so that updates of the row need not copy it.
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
  -- In lane time.
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
  -- Null before the first renewal.
  renewed_at INTEGER,
  progress TEXT
) STRICT;

-- status: 2 failed, 3 lost, 4 cancelled.
CREATE TABLE executions (
  id INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  generation INTEGER NOT NULL,
  status INTEGER NOT NULL CHECK (status BETWEEN 2 AND 4),
  -- Null when it ended in the queue.
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

-- '' stands for any: names are never empty.
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
  -- The registration as JSON: pools, actions, host, version, runtimes.
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

-- A task with everything that says where it stands.
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
  LEFT JOIN executions f ON t.status = 4 AND f.seq = t.seq AND f.attempt = t.attempt;
