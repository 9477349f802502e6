COPY (
    SELECT part.*, folder_of(spans.service) AS service, day_of(span_start_ns) AS day
    FROM span_events AS part JOIN spans USING (trace_id, span_id)
) TO '{directory}/span_events' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day, service), WRITE_PARTITION_COLUMNS true);
