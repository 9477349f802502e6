CREATE TABLE IF NOT EXISTS log_requests (
    digest BLOB NOT NULL,
    batch UBIGINT NOT NULL
);
