INSERT INTO store.meta SELECT * FROM old.meta;
