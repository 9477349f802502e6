CREATE TABLE IF NOT EXISTS span_links (
    trace_id BLOB NOT NULL,
    span_id BLOB NOT NULL,
    span_start_ns UBIGINT NOT NULL,
    link_index UINTEGER NOT NULL,
    linked_trace_id BLOB NOT NULL,
    linked_span_id BLOB NOT NULL,
    trace_state VARCHAR NOT NULL,
    flags UINTEGER NOT NULL,
    attr_keys VARCHAR[] NOT NULL,
    attr_types UTINYINT[] NOT NULL,
    attr_values VARCHAR[] NOT NULL,
    attr_nested BLOB[] NOT NULL,
    dropped_attributes_count UINTEGER NOT NULL,
    batch UBIGINT NOT NULL
);
