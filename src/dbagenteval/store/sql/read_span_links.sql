SELECT
    trace_id, span_id, linked_trace_id, linked_span_id, trace_state, flags,
    attr_keys, attr_types, attr_values, attr_nested, dropped_attributes_count
FROM {source}span_links
WHERE batch BETWEEN $first_batch AND $last_batch
    AND span_start_ns BETWEEN $first AND $last
    AND trace_id IN (SELECT unnest($trace_ids::BLOB[]))
ORDER BY trace_id, span_id, link_index;
