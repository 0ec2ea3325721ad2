-- Lanes, pools, the store's own numbers, and what holds or limits lanes.

-- name: loadStore
SELECT next_seq, next_rank, next_token, backlog, breakers_version, has_inboxes FROM store;

-- name: saveStore
UPDATE store SET next_seq = ?, next_rank = ?, next_token = ?, backlog = ?, breakers_version = ?, has_inboxes = ?;

-- How far the store has come. Each of these numbers only goes up.
-- name: position
SELECT identity, next_seq + next_rank + next_token - 3
  + coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'journal'), 0) AS position FROM store;

-- name: loadLane
SELECT * FROM lanes WHERE id = ?;

-- name: findLane
SELECT * FROM lanes WHERE pool = ? AND action = ? AND tenant = ?;

-- name: insertLane
INSERT INTO lanes (pool, action, tenant, held_since) VALUES (?, ?, ?, ?);

-- name: saveLane
UPDATE lanes SET
  accepted = ?, queued = ?, waiting = ?, running = ?, succeeded = ?, dead = ?, discarded = ?, cancelled = ?, removed = ?,
  ready = ?, turn = ?, picks = ?, held_since = ?, held_ms = ?, bytes = ?
WHERE id = ?;

-- Lanes that can give something, lowest turn first, after the place (?3, ?4) in that order. In two parts, since a comparison
-- of (turn, id) as a pair reads all lanes of that turn again. (+ 0: see executions.sql.)
-- name: claimableLanes
SELECT id, turn FROM lanes
WHERE pool = ?1 AND ready > 0 AND held_since IS NULL AND turn = ?3 AND id > ?4
UNION ALL
SELECT id, turn FROM lanes
WHERE pool = ?1 AND ready > 0 AND held_since IS NULL AND turn > ?3
ORDER BY turn, id LIMIT ?2 + 0;

-- The same for some of them only: ?5 is a JSON array of the actions that are wanted, or null for all; ?6 and ?7 are those of the
-- actions and tenants that are not.
-- name: claimableLanesOfSome
SELECT id, turn FROM lanes
WHERE pool = ?1 AND ready > 0 AND held_since IS NULL AND turn = ?3 AND id > ?4
  AND (?5 IS NULL OR action IN (SELECT value FROM json_each(?5)))
  AND action NOT IN (SELECT value FROM json_each(?6)) AND tenant NOT IN (SELECT value FROM json_each(?7))
UNION ALL
SELECT id, turn FROM lanes
WHERE pool = ?1 AND ready > 0 AND held_since IS NULL AND turn > ?3
  AND (?5 IS NULL OR action IN (SELECT value FROM json_each(?5)))
  AND action NOT IN (SELECT value FROM json_each(?6)) AND tenant NOT IN (SELECT value FROM json_each(?7))
ORDER BY turn, id LIMIT ?2 + 0;

-- The lanes of a scope ('' is any), by creation.
-- name: lanesInScope
SELECT * FROM lanes
WHERE (?1 = '' OR pool = ?1) AND (?2 = '' OR action = ?2) AND (?3 = '' OR tenant = ?3) AND id > ?4
ORDER BY id LIMIT ?5;

-- name: countLanesInScope
SELECT
  coalesce(sum(accepted), 0) AS accepted, coalesce(sum(queued), 0) AS queued, coalesce(sum(waiting), 0) AS waiting,
  coalesce(sum(running), 0) AS running, coalesce(sum(succeeded), 0) AS succeeded, coalesce(sum(dead), 0) AS dead,
  coalesce(sum(discarded), 0) AS discarded, coalesce(sum(cancelled), 0) AS cancelled, coalesce(sum(removed), 0) AS removed
FROM lanes
WHERE (?1 = '' OR pool = ?1) AND (?2 = '' OR action = ?2) AND (?3 = '' OR tenant = ?3);

-- name: tenantFigures
SELECT tenant, sum(queued + waiting + running) AS backlog, sum(running) AS running, sum(bytes) AS bytes FROM lanes
WHERE tenant > ? GROUP BY tenant ORDER BY tenant LIMIT ?;

-- name: loadPool
SELECT virtual_time FROM pools WHERE name = ?;

-- name: savePool
INSERT INTO pools (name, virtual_time) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET virtual_time = excluded.virtual_time;

-- name: lastPromotion
SELECT promoted_at FROM pools WHERE name = ?;

-- name: notePromotion
INSERT INTO pools (name, promoted_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET promoted_at = excluded.promoted_at;

-- name: allHolds
SELECT * FROM holds;

-- name: holdOn
SELECT rank FROM holds WHERE pool = ? AND action = ? AND tenant = ?;

-- name: saveHold
INSERT INTO holds (pool, action, tenant, actor, reason, since, rank) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (pool, action, tenant) DO UPDATE SET actor = excluded.actor, reason = excluded.reason, rank = excluded.rank;

-- name: deleteHold
DELETE FROM holds WHERE pool = ? AND action = ? AND tenant = ?;

-- name: allLimits
SELECT * FROM limits;

-- name: anyLimit
SELECT 1 AS found FROM limits LIMIT 1;

-- name: limitOn
SELECT rank FROM limits WHERE pool = ? AND action = ? AND tenant = ?;

-- name: saveLimit
INSERT INTO limits (pool, action, tenant, concurrency, rank) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (pool, action, tenant) DO UPDATE SET concurrency = excluded.concurrency, rank = excluded.rank;

-- name: deleteLimit
DELETE FROM limits WHERE pool = ? AND action = ? AND tenant = ?;

-- name: addMinute
INSERT INTO minutes (minute, lane, accepted, started, succeeded, failed, lost, retried, dead, cancelled)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (minute, lane) DO UPDATE SET
  accepted = accepted + excluded.accepted, started = started + excluded.started, succeeded = succeeded + excluded.succeeded,
  failed = failed + excluded.failed, lost = lost + excluded.lost, retried = retried + excluded.retried,
  dead = dead + excluded.dead, cancelled = cancelled + excluded.cancelled;

-- What a lane started in a minute.
-- name: startedIn
SELECT started FROM minutes WHERE minute = ? AND lane = ?;

-- name: seriesInScope
SELECT
  minute, sum(m.accepted) AS accepted, sum(m.started) AS started, sum(m.succeeded) AS succeeded, sum(m.failed) AS failed,
  sum(m.lost) AS lost, sum(m.retried) AS retried, sum(m.dead) AS dead, sum(m.cancelled) AS cancelled
FROM minutes m CROSS JOIN lanes l ON l.id = m.lane
WHERE m.minute >= ?4 AND m.minute < ?5 AND $laneInScope
GROUP BY minute ORDER BY minute;
