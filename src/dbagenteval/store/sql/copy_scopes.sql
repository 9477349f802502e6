INSERT INTO fresh.scopes SELECT * FROM store.scopes WHERE scope_id NOT IN (SELECT scope_id FROM fresh.scopes);
