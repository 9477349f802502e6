INSERT INTO trace_index
SELECT trace_id, service, min(start_ns), max(start_ns), max(end_ns), count(*), NULL, NULL, 0,
    $batch, $batch, md5_number_lower(trace_id)
FROM incoming_spans
GROUP BY trace_id, service;
