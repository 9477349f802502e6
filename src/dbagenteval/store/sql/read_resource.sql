SELECT schema_url, attr_keys, attr_types, attr_values, attr_nested, dropped_attributes_count,
    entity_refs, strindex
FROM resources
WHERE resource_id = $id;
