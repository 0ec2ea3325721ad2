-- Which store this is, so that what is noted beside a file is never held against another store under the same name.

ALTER TABLE store ADD COLUMN identity TEXT;
UPDATE store SET identity = lower(hex(randomblob(16)));
