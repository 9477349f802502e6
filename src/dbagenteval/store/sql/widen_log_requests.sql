-- For stores that were made before requests were numbered.
ALTER TABLE log_requests ADD COLUMN IF NOT EXISTS batch UBIGINT DEFAULT 0;
