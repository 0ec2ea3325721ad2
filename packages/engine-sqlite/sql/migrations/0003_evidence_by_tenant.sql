-- What the attempts of each tenant say about a worker, as JSON: failures by tenant, and whom it served well. NULL while there is
-- nothing to tell.
ALTER TABLE workers ADD COLUMN by_tenant TEXT;
