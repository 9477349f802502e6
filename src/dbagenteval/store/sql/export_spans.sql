COPY (
    SELECT * REPLACE (folder_of(service) AS service), day_of(start_ns) AS day
    FROM spans
) TO '{directory}/spans' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day, service), WRITE_PARTITION_COLUMNS true);
