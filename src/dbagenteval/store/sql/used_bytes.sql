-- What the living rows need: a deleted row keeps its place until its whole row group is deleted,
-- and is then used again or dropped, so the size of the file alone says too much.
SELECT (used_blocks * block_size * coalesce((SELECT sum(living) / sum(places) FROM (
    SELECT count(*) AS living, max(rowid) + 1 AS places FROM spans
    UNION ALL
    SELECT count(*), max(rowid) + 1 FROM logs
)), 1))::UBIGINT
FROM pragma_database_size()
WHERE database_name = 'store';
