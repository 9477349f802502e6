-- {table} is a name.
CREATE OR REPLACE TEMP TABLE window_{table} AS
SELECT number, part.*
FROM store.{table} AS part
JOIN selected_traces USING (trace_id)
WHERE number >= $first AND number < $last
ORDER BY number, part.rowid;
