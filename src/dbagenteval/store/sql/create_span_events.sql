CREATE TABLE IF NOT EXISTS span_events (
    trace_id BLOB NOT NULL,
    span_id BLOB NOT NULL,
    span_start_ns UBIGINT NOT NULL,
    event_index UINTEGER NOT NULL,
    name VARCHAR NOT NULL,
    time_ns UBIGINT NOT NULL,
    attr_keys VARCHAR[] NOT NULL,
    attr_types UTINYINT[] NOT NULL,
    attr_values VARCHAR[] NOT NULL,
    attr_nested BLOB[] NOT NULL,
    dropped_attributes_count UINTEGER NOT NULL,
    batch UBIGINT NOT NULL
);
