INSERT INTO store.log_requests SELECT * FROM old.log_requests;
