CREATE TABLE IF NOT EXISTS scopes (
    scope_id UBIGINT NOT NULL,
    schema_url VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    version VARCHAR NOT NULL,
    attr_keys VARCHAR[] NOT NULL,
    attr_types UTINYINT[] NOT NULL,
    attr_values VARCHAR[] NOT NULL,
    attr_nested BLOB[] NOT NULL,
    dropped_attributes_count UINTEGER NOT NULL,
    strindex BLOB
);
