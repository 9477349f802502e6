-- The start times and batches between which spans of incoming traces are stored; null if none are.
SELECT min(first_start_ns), max(last_start_ns), min(first_batch), max(last_batch)
FROM trace_index
WHERE span_count > 0
    AND rowid BETWEEN $first_row AND $last_row
    AND trace_id IN (SELECT trace_id FROM incoming_spans);
