INSERT INTO fresh.meta SELECT * FROM store.meta;
