COPY (
    SELECT part.*, folder_of(spans.service) AS service, day_of(span_start_ns) AS day
    FROM span_links AS part JOIN spans USING (trace_id, span_id)
) TO '{directory}/span_links' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day, service), WRITE_PARTITION_COLUMNS true);
