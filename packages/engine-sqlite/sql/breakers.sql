-- Circuit breakers and retry quotas.

-- name: allBreakers
SELECT breaker FROM breakers ORDER BY name;

-- name: saveBreaker
INSERT INTO breakers (name, breaker) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET breaker = excluded.breaker;

-- name: deleteBreaker
DELETE FROM breakers WHERE name = ?;

-- The attempts that run and started at or after a moment.
-- name: startedSince
SELECT l.action, l.tenant, e.started_at
FROM leases e CROSS JOIN tasks t ON t.seq = e.seq CROSS JOIN lanes l ON l.id = t.lane WHERE e.started_at >= ?;

-- name: quotaWindow
SELECT count FROM quota_windows WHERE name = ? AND window = ?;

-- name: takeQuotaPlaces
INSERT INTO quota_windows (name, window, count, ends_at) VALUES (?, ?, ?, ?)
ON CONFLICT (name, window) DO UPDATE SET count = count + excluded.count, ends_at = max(ends_at, excluded.ends_at);

-- name: deletePastQuotaWindows
DELETE FROM quota_windows WHERE ends_at <= ?;
