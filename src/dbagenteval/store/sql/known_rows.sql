-- The first and last row of the index that tells of incoming traces; null if there is none. Of the
-- index this reads the keys alone, since most batches hold only new traces.
SELECT min(rowid), max(rowid)
FROM trace_index
WHERE trace_key IN (
    SELECT md5_number_lower(trace_id) FROM (SELECT DISTINCT trace_id FROM incoming_spans)
);
