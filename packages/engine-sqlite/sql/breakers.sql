-- Circuit breakers and retry quotas.

-- name: allBreakers
SELECT breaker FROM breakers ORDER BY name;

-- name: saveBreaker
INSERT INTO breakers (name, breaker) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET breaker = excluded.breaker;

-- name: deleteBreaker
DELETE FROM breakers WHERE name = ?;

-- How many attempts of each action run that started at or after a moment of its own: ?1 is a JSON object of these, ?2 the
-- earliest of them.
-- name: startedSince
SELECT l.action, count(*) AS running
FROM leases e CROSS JOIN tasks t ON t.seq = e.seq CROSS JOIN lanes l ON l.id = t.lane CROSS JOIN json_each(?1) j ON j.key = l.action
WHERE e.started_at >= ?2 AND e.started_at >= j.value GROUP BY l.action;

-- name: quotaWindows
SELECT window, count FROM quota_windows WHERE name = ? AND window >= ? ORDER BY window LIMIT ? + 0;

-- name: takeQuotaPlace
INSERT INTO quota_windows (name, window, count, ends_at) VALUES (?, ?, 1, ?)
ON CONFLICT (name, window) DO UPDATE SET count = count + 1, ends_at = max(ends_at, excluded.ends_at);

-- name: deletePastQuotaWindows
DELETE FROM quota_windows WHERE ends_at <= ?;
