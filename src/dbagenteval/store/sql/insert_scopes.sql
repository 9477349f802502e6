INSERT INTO scopes
SELECT * FROM incoming_scopes
WHERE scope_id NOT IN (SELECT scope_id FROM scopes);
