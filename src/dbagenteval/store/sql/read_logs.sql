SELECT
    trace_id, span_id, time_ns, observed_ns, event_name, severity_number, severity_text,
    body_type, body_value, body_nested, attr_keys, attr_types, attr_values, attr_nested,
    dropped_attributes_count, flags, resource_id, scope_id, strindex
FROM {source}logs
WHERE is_attached
    AND batch BETWEEN $first_batch AND $last_batch
    AND at_ns BETWEEN $first AND $last
    AND trace_id IN (SELECT unnest($trace_ids::BLOB[]))
ORDER BY at_ns, rowid;
