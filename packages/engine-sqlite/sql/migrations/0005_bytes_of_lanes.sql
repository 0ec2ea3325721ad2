-- How many bytes of payload each lane has: for the limits of tenants.
ALTER TABLE lanes ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
CREATE INDEX lanes_tenant ON lanes (tenant);
UPDATE lanes SET bytes = stored.bytes
FROM (
  SELECT t.lane, sum(coalesce(octet_length(t.payload), octet_length(p.payload), 0)) AS bytes
  FROM tasks t LEFT JOIN payloads p ON p.seq = t.seq GROUP BY t.lane
) AS stored
WHERE stored.lane = lanes.id;
