INSERT INTO store.logs SELECT * FROM old.logs ORDER BY at_ns;
