INSERT INTO store.span_links SELECT * FROM old.span_links ORDER BY span_start_ns;
