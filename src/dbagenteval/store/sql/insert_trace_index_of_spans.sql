INSERT INTO trace_index
SELECT trace_id, service, min(start_ns), max(start_ns), max(end_ns), count(*), NULL, NULL, 0,
    $batch, $batch, ('0x' || hex(trace_id[9:16]))::UBIGINT
FROM incoming_spans
GROUP BY trace_id, service;
