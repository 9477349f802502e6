-- {table} is a name.
CREATE OR REPLACE TEMP TABLE chunk_{table} AS
SELECT * EXCLUDE (number)
FROM window_{table}
WHERE number >= $first AND number < $last
ORDER BY rowid;
