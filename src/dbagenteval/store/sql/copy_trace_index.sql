INSERT INTO fresh.trace_index
SELECT
    trace_id, service, min(first_start_ns), max(last_start_ns), max(last_end_ns), sum(span_count),
    min(first_log_ns), max(last_log_ns), sum(log_count), min(first_batch), max(last_batch),
    min(trace_key)
FROM store.trace_index
WHERE first_batch > $after
GROUP BY trace_id, service
ORDER BY min(first_start_ns);
