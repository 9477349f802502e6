-- {table} and {time} are names.
INSERT INTO fresh.{table}
SELECT * FROM store.{table}
WHERE batch > $after AND {time} BETWEEN $first AND $last
ORDER BY {time};
