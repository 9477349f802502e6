COPY resources TO '{directory}/resources.parquet' (FORMAT parquet, COMPRESSION zstd);
