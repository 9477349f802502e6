INSERT INTO store.span_events SELECT * FROM old.span_events ORDER BY span_start_ns;
