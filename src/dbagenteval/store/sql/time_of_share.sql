-- The time before which the oldest tenth of the traces ended.
SELECT approx_quantile(last_ns, 0.1)::UBIGINT
FROM (
    SELECT max(greatest(coalesce(last_end_ns, 0), coalesce(last_log_ns, 0))) AS last_ns
    FROM trace_index
    GROUP BY trace_id
);
