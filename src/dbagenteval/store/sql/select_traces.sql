-- Which traces to read, numbered in order of their start, with the time ranges to look in.
CREATE OR REPLACE TEMP TABLE selected_traces AS
SELECT
    row_number() OVER (ORDER BY start_ns, trace_id) - 1 AS number,
    *
FROM (
    SELECT
        trace_id,
        coalesce(min(first_start_ns), min(first_log_ns)) AS start_ns,
        min(first_start_ns) AS first_start_ns,
        max(last_start_ns) AS last_start_ns,
        min(first_log_ns) AS first_log_ns,
        max(last_log_ns) AS last_log_ns,
        sum(span_count + log_count)::BIGINT AS row_count,
        min(first_batch) AS first_batch,
        max(last_batch) AS last_batch
    FROM trace_index
    WHERE $trace_ids IS NULL OR trace_id IN (SELECT unnest($trace_ids::BLOB[]))
    GROUP BY trace_id
    HAVING ($service IS NULL OR bool_or(service = $service))
)
WHERE ($since_ns IS NULL OR start_ns >= $since_ns)
    AND ($until_ns IS NULL OR start_ns < $until_ns);
