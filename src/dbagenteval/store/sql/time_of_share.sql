-- The time before which the oldest tenth of the traces and loose log records ended, at least the
-- oldest of them; nothing if there are none. Shares are approximate, and know no times after 2262.
SELECT greatest(min(last_ns), approx_quantile(least(last_ns, 9223372036854774784), 0.1)::UBIGINT)
FROM (
    SELECT max(greatest(coalesce(last_end_ns, 0), coalesce(last_start_ns, 0), coalesce(last_log_ns, 0))) AS last_ns
    FROM trace_index
    GROUP BY trace_id
    UNION ALL
    SELECT at_ns FROM logs WHERE NOT is_attached
);
