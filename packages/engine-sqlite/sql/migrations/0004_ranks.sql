-- Whose a hold or a limit is: a tenant's caller can't lift or change what the platform set. What was set before is the
-- platform's.
ALTER TABLE holds ADD COLUMN rank TEXT NOT NULL DEFAULT 'platform' CHECK (rank IN ('platform', 'tenant'));
ALTER TABLE limits ADD COLUMN rank TEXT NOT NULL DEFAULT 'platform' CHECK (rank IN ('platform', 'tenant'));
