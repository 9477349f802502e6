-- For stores that were made before the index had keys: the random half of a trace id as a number.
ALTER TABLE trace_index ADD COLUMN IF NOT EXISTS trace_key UBIGINT;
UPDATE trace_index SET trace_key = ('0x' || hex(trace_id[9:16]))::UBIGINT WHERE trace_key IS NULL;
