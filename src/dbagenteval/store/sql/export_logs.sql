COPY (
    SELECT * REPLACE (folder_of(service) AS service), day_of(at_ns) AS day
    FROM logs
) TO '{directory}/logs' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day, service), WRITE_PARTITION_COLUMNS true);
