SELECT number, trace_id, first_start_ns, last_start_ns, first_log_ns, last_log_ns, row_count,
    first_batch, last_batch
FROM selected_traces
WHERE number >= $first AND number < $last
ORDER BY number;
