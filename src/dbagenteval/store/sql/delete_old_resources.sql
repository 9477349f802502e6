DELETE FROM resources
WHERE resource_id NOT IN (SELECT resource_id FROM spans UNION SELECT resource_id FROM logs);
