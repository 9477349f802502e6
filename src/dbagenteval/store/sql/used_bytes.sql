SELECT used_blocks * block_size FROM pragma_database_size() WHERE database_name = 'store';
