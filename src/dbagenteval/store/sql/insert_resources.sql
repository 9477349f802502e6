INSERT INTO resources
SELECT * FROM incoming_resources
WHERE resource_id NOT IN (SELECT resource_id FROM resources);
