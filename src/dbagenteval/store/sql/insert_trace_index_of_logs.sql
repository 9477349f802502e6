INSERT INTO trace_index
SELECT
    trace_id, service, NULL, NULL, NULL, 0,
    min(if(time_ns = 0, observed_ns, time_ns)), max(if(time_ns = 0, observed_ns, time_ns)), count(*),
    $batch, $batch, md5_number_lower(trace_id)
FROM incoming_logs
WHERE octet_length(trace_id) = 16 AND trace_id <> '\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'::BLOB
GROUP BY trace_id, service;
