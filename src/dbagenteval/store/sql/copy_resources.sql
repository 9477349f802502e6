INSERT INTO fresh.resources SELECT * FROM store.resources WHERE resource_id NOT IN (SELECT resource_id FROM fresh.resources);
