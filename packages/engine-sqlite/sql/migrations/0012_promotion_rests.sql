-- When a claim last promoted tasks of a pool and left others that were due as well: the pool then rests for a moment.

ALTER TABLE pools ADD COLUMN promoted_at INTEGER;
