COPY scopes TO '{directory}/scopes.parquet' (FORMAT parquet, COMPRESSION zstd);
