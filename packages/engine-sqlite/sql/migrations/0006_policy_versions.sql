-- The version of the policies that a worker judges failures by; null if it did not say.

ALTER TABLE workers ADD COLUMN policy_version INTEGER;
