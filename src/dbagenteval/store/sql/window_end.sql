-- Behind the last of the traces that have about so many rows, one at least.
SELECT coalesce(max(number), $first) + 1
FROM (
    SELECT number, sum(row_count) OVER (ORDER BY number) AS rows
    FROM selected_traces
    WHERE number >= $first
)
WHERE rows <= $rows;
