INSERT INTO store.spans SELECT * FROM old.spans ORDER BY start_ns;
