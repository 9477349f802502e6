-- What the living rows need: a deleted row keeps its place until its whole row group is deleted,
-- and is then used again or dropped, so the size of the file alone says too much.
-- `estimated_size` counts the rows that have a place.
SELECT (used_blocks * block_size * coalesce(
    ((SELECT count(*) FROM spans) + (SELECT count(*) FROM logs)) / nullif((
        SELECT sum(estimated_size)
        FROM duckdb_tables()
        WHERE database_name = 'store' AND table_name IN ('spans', 'logs')
    ), 0),
    1
))::UBIGINT
FROM pragma_database_size()
WHERE database_name = 'store';
