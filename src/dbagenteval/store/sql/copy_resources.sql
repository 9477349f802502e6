INSERT INTO store.resources SELECT * FROM old.resources;
