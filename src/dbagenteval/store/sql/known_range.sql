-- The start times and batches between which spans of incoming traces are stored; null if none are.
-- Two traces of one key only widen the range.
SELECT min(first_start_ns), max(last_start_ns), min(first_batch), max(last_batch)
FROM trace_index
WHERE span_count > 0 AND trace_key IN (
    SELECT md5_number_lower(trace_id) FROM (SELECT DISTINCT trace_id FROM incoming_spans)
);
