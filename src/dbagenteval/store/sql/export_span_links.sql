COPY (
    SELECT part.*, spans.service, strftime(make_timestamp_ns(least(span_start_ns, 9223372036854775807)::BIGINT), '%Y-%m-%d') AS day
    FROM span_links AS part JOIN spans USING (trace_id, span_id)
) TO '{directory}/span_links' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day, service), WRITE_PARTITION_COLUMNS true);
