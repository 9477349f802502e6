-- Spans and log records whose resource or scope is missing.
SELECT
    (SELECT count(*) FROM spans WHERE resource_id NOT IN (SELECT resource_id FROM resources))
    + (SELECT count(*) FROM spans WHERE scope_id NOT IN (SELECT scope_id FROM scopes))
    + (SELECT count(*) FROM logs WHERE resource_id NOT IN (SELECT resource_id FROM resources))
    + (SELECT count(*) FROM logs WHERE scope_id NOT IN (SELECT scope_id FROM scopes));
