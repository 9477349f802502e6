CREATE TABLE IF NOT EXISTS resources (
    resource_id UBIGINT NOT NULL,
    schema_url VARCHAR NOT NULL,
    service VARCHAR NOT NULL,
    attr_keys VARCHAR[] NOT NULL,
    attr_types UTINYINT[] NOT NULL,
    attr_values VARCHAR[] NOT NULL,
    attr_nested BLOB[] NOT NULL,
    dropped_attributes_count UINTEGER NOT NULL,
    entity_refs STRUCT(schema_url VARCHAR, type VARCHAR, id_keys VARCHAR[], description_keys VARCHAR[])[] NOT NULL,
    strindex BLOB
);
