-- Times that cut what is to be copied into parts of about as many rows.
SELECT DISTINCT {time} AS bound
FROM (
    SELECT {time}, row_number() OVER (ORDER BY {time}) AS number
    FROM store.{table}
    WHERE batch > $after
)
WHERE number % $rows = 0
ORDER BY bound;
