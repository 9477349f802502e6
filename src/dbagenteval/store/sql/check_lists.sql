-- Spans and log records whose attribute lists don't fit together.
SELECT
    (SELECT count(*) FROM spans WHERE len(attr_keys) <> len(attr_types) OR len(attr_keys) <> len(attr_values))
    + (SELECT count(*) FROM logs WHERE len(attr_keys) <> len(attr_types) OR len(attr_keys) <> len(attr_values));
