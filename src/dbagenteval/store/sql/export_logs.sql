COPY (
    SELECT *, strftime(make_timestamp_ns(least(at_ns, 9223372036854775807)::BIGINT), '%Y-%m-%d') AS day
    FROM logs
) TO '{directory}/logs' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day, service), WRITE_PARTITION_COLUMNS true);
