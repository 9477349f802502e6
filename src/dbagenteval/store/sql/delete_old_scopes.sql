DELETE FROM scopes
WHERE scope_id NOT IN (SELECT scope_id FROM spans UNION SELECT scope_id FROM logs);
