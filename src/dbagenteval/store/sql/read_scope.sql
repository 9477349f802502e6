SELECT schema_url, name, version, attr_keys, attr_types, attr_values, attr_nested,
    dropped_attributes_count, strindex
FROM scopes
WHERE scope_id = $id;
