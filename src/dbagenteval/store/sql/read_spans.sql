SELECT
    trace_id, span_id, parent_span_id, trace_state, flags, name, kind, start_ns, end_ns,
    status_code, status_message, attr_keys, attr_types, attr_values, attr_nested,
    dropped_attributes_count, dropped_events_count, dropped_links_count,
    resource_id, scope_id, strindex
FROM {source}spans
WHERE batch BETWEEN $first_batch AND $last_batch
    AND start_ns BETWEEN $first AND $last
    AND trace_id IN (SELECT unnest($trace_ids::BLOB[]))
ORDER BY start_ns, span_id;
