-- Rows of tasks that something other than retention deleted: another program, or a person with a shell. The trigger notes the
-- name of each, so that an inspection can tell which tasks are gone. Retention sets `removing` while it deletes.

ALTER TABLE store ADD COLUMN removing INTEGER NOT NULL DEFAULT 0;

CREATE TABLE lost_tasks (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  lane INTEGER NOT NULL
) STRICT;

CREATE TRIGGER tasks_lost AFTER DELETE ON tasks WHEN (SELECT removing FROM store) = 0
BEGIN
  INSERT OR REPLACE INTO lost_tasks (seq, id, lane) VALUES (old.seq, old.id, old.lane);
END;
