INSERT INTO store.scopes SELECT * FROM old.scopes;
