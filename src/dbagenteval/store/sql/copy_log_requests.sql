INSERT INTO fresh.log_requests SELECT * FROM store.log_requests WHERE digest NOT IN (SELECT digest FROM fresh.log_requests);
