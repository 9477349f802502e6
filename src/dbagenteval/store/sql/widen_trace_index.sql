-- For stores that were made before the index had keys.
ALTER TABLE trace_index ADD COLUMN IF NOT EXISTS trace_key UBIGINT;
UPDATE trace_index SET trace_key = md5_number_lower(trace_id) WHERE trace_key IS NULL;
