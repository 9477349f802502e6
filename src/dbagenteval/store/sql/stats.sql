SELECT
    (SELECT count(*) FROM spans) AS spans,
    (SELECT count(*) FROM logs) AS logs,
    (SELECT count(DISTINCT trace_id) FROM trace_index) AS otel_traces,
    (SELECT min(start_ns) FROM spans) AS first_start_ns,
    (SELECT max(end_ns) FROM spans) AS last_end_ns,
    (SELECT list(DISTINCT service ORDER BY service) FROM resources) AS services;
