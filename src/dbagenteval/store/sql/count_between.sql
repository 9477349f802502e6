-- About how many rows are read to find those of some traces.
SELECT coalesce(sum(span_count + log_count), 0)::BIGINT
FROM trace_index
WHERE last_batch >= $first_batch AND first_batch <= $last_batch
    AND greatest(last_start_ns, last_log_ns) >= $first
    AND least(first_start_ns, first_log_ns) <= $last;
