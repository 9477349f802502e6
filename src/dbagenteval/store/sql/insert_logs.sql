INSERT INTO logs
SELECT
    * EXCLUDE (row),
    if(time_ns = 0, observed_ns, time_ns) AS at_ns,
    octet_length(trace_id) = 16 AND trace_id <> '\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'::BLOB AS is_attached,
    $batch AS batch
FROM incoming_logs;
