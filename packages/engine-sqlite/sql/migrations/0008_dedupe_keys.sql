-- Dedupe keys belong to a tenant and an action, and have a life. The table names the task that took a key last. Whether that task
-- still holds it follows from the task: see holdsKey in tasks.sql.

-- Until when it holds its key; null: until it has ended or died; 0: another task has taken the key of this dead letter.
ALTER TABLE tasks ADD COLUMN dedupe_until INTEGER;

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
ALTER TABLE dedupe_of_actions RENAME TO dedupe;
