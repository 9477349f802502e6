SELECT
    trace_id, span_id, time_ns, observed_ns, event_name, severity_number, severity_text,
    body_type, body_value, body_nested, attr_keys, attr_types, attr_values, attr_nested,
    dropped_attributes_count, flags, resource_id, scope_id, strindex, rowid
FROM logs
WHERE NOT is_attached
    AND rowid > $after
    AND ($service IS NULL OR service = $service)
    AND ($since_ns IS NULL OR at_ns >= $since_ns)
    AND ($until_ns IS NULL OR at_ns < $until_ns)
ORDER BY rowid
LIMIT $limit;
