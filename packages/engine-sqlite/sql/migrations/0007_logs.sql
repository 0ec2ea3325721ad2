-- What handlers wrote down, by attempt: JSON. Deleted with the task.

CREATE TABLE logs (
  seq INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  log TEXT NOT NULL,
  PRIMARY KEY (seq, attempt)
) STRICT, WITHOUT ROWID;
